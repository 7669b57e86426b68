package roster

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// cellView is a cell of a row that needs a correction, as a field of the form.
type cellView struct {
	Field, Label, Type, Value, Fault string
	// Options are the values to choose from, if the field is a list.
	Options []string
}

// wholeRow are the cells to write again if a fault concerns the whole row.
var wholeRow = []Column{StudentName, BirthDate, GuardianName, GuardianNumber}

// cells returns the fields that correct a row: one for each fault, and those of a guardian who is missing. batches are
// the names of the coach's batches.
func cells(v *web.View, row ImportRow, batches []string) []cellView {
	var columns []Column
	texts := map[Column]string{}
	for _, f := range row.Faults {
		texts[f.Column] = faultText(v, row, f)
		switch {
		case f.Code == "duplicate_row":
			return nil
		case f.Column == "":
			texts[StudentName] = texts[""]
			columns = append(columns, wholeRow...)
		case f.Code == "guardian_required":
			columns = append(columns, GuardianName, GuardianNumber)
		default:
			columns = append(columns, f.Column)
		}
	}
	var views []cellView
	for _, c := range columns {
		view := cellView{
			Field: cellField(row.Number, c), Label: v.TextOr("import.column."+string(c), string(c)), Type: "text", Value: *row.Entry.Cell(c), Fault: texts[c],
		}
		switch c {
		case BirthDate:
			view.Type = "date"
			if !isDate(view.Value) {
				view.Value = ""
			}
		case StudentNumber, GuardianNumber, Guardian2Number:
			view.Type = "tel"
		case Batches:
			view.Options = batches
		}
		views = append(views, view)
	}
	return views
}

func isDate(text string) bool {
	_, err := approval.ParseDate(text)
	return err == nil
}

func cellField(row int, c Column) string { return fmt.Sprintf("row_%d_%s", row, c) }

// cellNames match the names of the fields.
var cellNames = regexp.MustCompile(`^row_(\d{1,6})_([a-z0-9_]+)$`)

// correct serves POST /coach/imports/{import_id}/correct: the cells that the form shows.
func (p pages) correct(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.PathValue("import_id")
	guardian := p.site.NewView(r, "import.title").MustT("add.relationship.default")
	var corrections []Correction
	for _, name := range slices.Sorted(maps.Keys(r.Form)) {
		m := cellNames.FindStringSubmatch(name)
		if m == nil || !slices.Contains(Columns, Column(m[2])) || Column(m[2]) == BirthDate && r.Value(name) == "" {
			continue
		}
		number, _ := strconv.Atoi(m[1])
		n := slices.IndexFunc(corrections, func(c Correction) bool { return c.Number == number })
		if n < 0 {
			if len(corrections) == importRowsPerPage {
				break
			}
			n = len(corrections)
			corrections = append(corrections, Correction{Number: number, Cells: map[Column]string{}, Relationship: guardian})
		}
		corrections[n].Cells[Column(m[2])] = r.Value(name)
	}
	err := p.Correct(ctx, by, id, corrections)
	if fault.CodeOf(err) == "tier_limit" {
		return p.site.FeatureNeeded(r, by, coach.Import, err)
	}
	if err != nil {
		return web.Response{}, err
	}
	return web.Redirect("/coach/imports/" + id), nil
}
