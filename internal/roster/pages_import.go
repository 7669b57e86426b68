package roster

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

// importRowsPerPage is the number of rows that a page shows.
const importRowsPerPage = 50

// importRowView is a row of an import on its page.
type importRowView struct {
	ImportRow
	// Faults are texts in the language of the page.
	Faults []string
	// Cells are the fields that correct the row.
	Cells []cellView
}

// StudentNumber returns the student's number as people write it.
func (v importRowView) StudentNumber() string { return readable(v.Entry.StudentNumber) }

// GuardianNumber returns the guardian's number as people write it.
func (v importRowView) GuardianNumber() string { return readable(v.Entry.GuardianNumber) }

// Guardian2Number returns the number of the second guardian as people write it.
func (v importRowView) Guardian2Number() string { return readable(v.Entry.Guardian2Number) }

func readable(number string) string {
	if number == "" {
		return ""
	}
	return phone.Number(number).Format()
}

// importTab is a link to the rows in one state.
type importTab struct {
	State   RowState
	Count   int
	Current bool
}

// status serves GET /coach/imports/{import_id}: how far the import is, and
// its rows with their faults.
func (p pages) status(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.statusPage(ctx, r, by, new(web.Form))
}

// statusPage returns the page with the faults of f.
func (p pages) statusPage(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	id := r.PathValue("import_id")
	i, err := p.Await(ctx, by, id, time.Second) // the page of an import that is read loads itself again
	if err != nil {
		return web.Response{}, err
	}
	query := r.URL.Query()
	state := importRowState(i, query.Get("state"))
	after, _ := strconv.Atoi(query.Get("after"))
	rows, err := p.Rows(ctx, by, id, RowFilter{State: state, After: max(0, after), Limit: importRowsPerPage + 1})
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "players", "import.title", by)
	path := "/coach/imports/" + id
	next := ""
	if len(rows) > importRowsPerPage {
		rows = rows[:importRowsPerPage]
		next = path + "?" + url.Values{
			"state": {cmp.Or(string(state), "all")}, "after": {strconv.Itoa(rows[len(rows)-1].Number)},
		}.Encode()
	}
	correctable, corrects := i.ReadingUntil.IsZero(), false
	var batches []string
	if slices.ContainsFunc(rows, func(row ImportRow) bool { return row.hasFault(Batches) }) {
		names, err := store.BatchNames(ctx, p.DB, by.AccountID, team.MaxBatches)
		if err != nil {
			return web.Response{}, err
		}
		for _, b := range names {
			batches = append(batches, b.Name)
		}
	}
	views := make([]importRowView, len(rows))
	for n, row := range rows {
		views[n] = importRowView{ImportRow: row, Faults: rowFaults(v, i, row)}
		if row.State == Faulty && correctable {
			views[n].Cells = cells(v, row, batches)
			corrects = corrects || len(views[n].Cells) > 0
		}
	}
	stop, stopLink := "", ""
	if i.Stop != nil {
		stopLink = stopLinks[i.Stop.Code]
		stop = v.TextOr("import.stop."+i.Stop.Code, i.Stop.Detail)
	}
	waiting := i.Counts[Waiting]
	v.Form = f
	v.Path = path
	v.Data = map[string]any{
		"Import": i, "State": i.State(), "Waiting": waiting, "Faulty": i.Counts[Faulty], "Added": i.Counts[Added],
		"Exists": i.Counts[Exists], "Refused": i.Counts[Refused],
		"Ready": i.Rows() - i.Counts[Faulty], "Finished": i.Rows() - i.Counts[Faulty] - waiting,
		"Corrects": corrects, "Warnings": warnings(v, i), "Stop": stop, "StopLink": stopLink, "Rows": views, "Tabs": importTabs(i, state), "Next": next,
		// None is true if every row needs a correction.
		"None":    i.State() == Done && i.Counts[Faulty] == i.Rows(),
		"Running": query.Get("running") == "yes" && len(f.Faults) == 0,
	}
	return web.Page("import_status", v), nil
}

// importRowState returns the state of the rows to show, "" for all: the state that the query
// asks for, or without one the faulty rows if there are any.
func importRowState(i *Import, asked string) RowState {
	state := RowState(asked)
	switch {
	case slices.Contains(rowStates, state):
		return state
	case asked == "" && i.Counts[Faulty] > 0:
		return Faulty
	default:
		return ""
	}
}

// importTabs returns a tab for all rows and one for each state that has rows.
func importTabs(i *Import, current RowState) []importTab {
	tabs := []importTab{{Count: i.Rows(), Current: current == ""}}
	for _, s := range rowStates {
		if n := i.Counts[s]; n > 0 {
			tabs = append(tabs, importTab{s, n, s == current})
		}
	}
	return tabs
}

// stopLinks are the pages on which a coach ends what stopped an import.
var stopLinks = map[string]string{
	"tier_limit": "/coach/settings/plan", "kyc_required": "/coach/verification", "profile_incomplete": "/coach/profile",
}

// rowFaults returns the faults of a row. A row that waits behind a limit shows the limit.
func rowFaults(v *web.View, i *Import, row ImportRow) []string {
	var texts []string
	for _, f := range row.Faults {
		text := faultText(v, row, f)
		if f.Column != "" {
			text = v.TextOr("import.column."+string(f.Column), string(f.Column)) + ": " + text
		}
		texts = append(texts, text)
	}
	if row.State == Waiting && i.Stop != nil {
		texts = append(texts, v.TextOr("import.row_stop."+i.Stop.Code, i.Stop.Detail))
	}
	return texts
}

// faultText returns a fault in the language of the page.
func faultText(v *web.View, row ImportRow, f Fault) string {
	for _, key := range []string{"import.fault." + string(f.Column) + "." + f.Code, "import.fault." + f.Code, "invalid." + f.Code, "fault." + f.Code} {
		if found, err := v.T(key, "Date", row.Entry.BirthDate, "Row", f.Row, "Wait", ""); err == nil {
			return found
		}
	}
	return f.Detail
}

// warnings returns the warnings about the whole file.
func warnings(v *web.View, i *Import) []string {
	var texts []string
	for _, w := range i.Warnings {
		text, err := v.T("import.warning."+w.Code, "Row", w.Row, "Count", w.Row, "Text", w.Text)
		if err != nil {
			text = w.Detail
		}
		texts = append(texts, text)
	}
	return texts
}

// run serves POST /coach/imports/{import_id}/run: it adds the next rows and
// goes back to the page of the import, which runs the next step.
func (p pages) run(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.PathValue("import_id")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	err := p.Coaches.Complete(ctx, by)
	if err == nil {
		_, err = p.Step(ctx, by, id)
	}
	switch {
	case err == nil:
		return web.Redirect("/coach/imports/" + id + "?running=yes"), nil
	case fault.CodeOf(err) == "tier_limit":
		return p.site.FeatureNeeded(r, by, coach.Import, err)
	case fault.KindOf(err) == fault.Forbidden, fault.KindOf(err) == fault.TooMany:
		f := new(web.Form)
		p.site.AddError(r, f, "", err)
		return p.statusPage(ctx, r, by, f)
	}
	return web.Response{}, err
}
