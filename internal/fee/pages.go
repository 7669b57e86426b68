package fee

import (
	"context"
	"embed"
	"io"
	"maps"
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/csvfile"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

const (
	feesPath = "/coach/fees"
	// feesPerPage is the length of one page of the list of fees, and repeatsShown the length of the
	// list of repeats below it.
	feesPerPage  = 50
	repeatsShown = 50
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// pages serves the pages about fees.
type pages struct {
	*Service
	site *web.Pages
}

// Pages returns the pages about fees for coaches and families.
func (s *Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	const one = feesPath + "/{fee_id}"
	coach := func(h func(context.Context, *web.Request, actor.Actor) (web.Response, error)) web.Handler {
		return p.site.SignedIn(actor.Coach, h)
	}
	routes := []web.Route{
		{Method: "GET", Pattern: feesPath, Handle: coach(p.fees)},
		{Method: "GET", Pattern: feesPath + "/export", Handle: coach(p.exportFees)},
		{Method: "GET", Pattern: feesPath + "/add", Handle: coach(p.addFeePage)},
		{Method: "POST", Pattern: feesPath + "/add", Handle: coach(p.addFee)},
		{Method: "POST", Pattern: feesPath + "/end-repeat", Handle: coach(p.endRepeat)},
		{Method: "GET", Pattern: feesPath + "/upi", Handle: coach(p.upiPage)},
		{Method: "POST", Pattern: feesPath + "/upi", Handle: coach(p.saveUPI)},
		{Method: "GET", Pattern: one, Handle: coach(p.fee)},
		{Method: "POST", Pattern: one + "/pay", Handle: coach(p.notePayment)},
		{Method: "POST", Pattern: one + "/reverse", Handle: coach(p.reversePayment)},
		{Method: "POST", Pattern: one + "/waive", Handle: coach(p.waiveFee)},
		{Method: "POST", Pattern: one + "/void", Handle: coach(p.voidFee)},
		{Method: "POST", Pattern: one + "/not-received", Handle: coach(p.notReceived)},
		{Method: "POST", Pattern: one + "/remind", Handle: coach(p.remindFee)},
		{Method: "GET", Pattern: one + "/receipts/{payment_id}", Handle: coach(p.receipt)},
	}
	for _, role := range approval.Parties {
		list := "/me/" + string(role) + "/players/{player_id}/fees"
		routes = append(routes,
			web.Route{Method: "GET", Pattern: list, Handle: p.site.SignedIn(role, p.familyFees)},
			web.Route{Method: "GET", Pattern: list + "/{fee_id}", Handle: p.site.SignedIn(role, p.familyFee)},
			web.Route{Method: "POST", Pattern: list + "/{fee_id}/told", Handle: p.site.SignedIn(role, p.tellPaid)},
			web.Route{Method: "GET", Pattern: list + "/{fee_id}/receipts/{payment_id}", Handle: p.site.SignedIn(role, p.familyReceipt)})
	}
	return routes
}

// row is a fee in a list, with its state today in words.
type row struct {
	*Fee
	Status web.Status
}

// feeStates are the filters of the list of fees. All is every fee.
var feeStates = []string{"unpaid", "overdue", "paid", "waived", "void", "all"}

// feeQuery returns the fields of the request that filter the list of fees: without any, what
// is unpaid.
func feeQuery(r *web.Request) (url.Values, Filter) {
	query, filter := url.Values{}, Filter{}
	state := r.Value("state")
	if state == "" {
		state = string(Unpaid)
	}
	query.Set("state", state)
	if state != "all" {
		filter.State = State(state)
	}
	if id := r.Value("player"); endpoint.IsID(id) {
		filter.PlayerID = id
		query.Set("player", id)
	}
	if first, err := team.ParseDate(r.Value("month") + "-01"); err == nil {
		filter = filter.Month(first)
		query.Set("month", r.Value("month"))
	}
	// The fees that have been due for longest come first.
	filter.OldestFirst = filter.State == Unpaid || filter.State == Overdue
	return query, filter
}

// totalOf returns what is left to pay of the fees of a list in one currency, nil for a list that is not whole.
func totalOf(list []*Fee, whole bool) *Fee {
	if !whole || len(list) < 2 {
		return nil
	}
	total := Fee{Currency: list[0].Currency}
	for _, f := range list {
		if f.Currency != total.Currency {
			return nil
		}
		total.Amount += f.Balance()
	}
	return &total
}

// fees serves GET /coach/fees: the unpaid sums, the fees that match the filter, and the fees
// that repeat.
func (p pages) fees(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	query, filter := feeQuery(r)
	list, err := p.List(ctx, by, filter, readPage(r))
	if err != nil {
		return web.Response{}, err
	}
	sums, err := p.Unpaid(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	var months []MonthSum
	plain := query.Get("state") == "unpaid" && !query.Has("month") && !query.Has("player")
	if plain {
		if months, err = p.ByMonth(ctx, by); err != nil {
			return web.Response{}, err
		}
	}
	repeats, err := p.Repeats(ctx, by, "", repeatsShown)
	if err != nil {
		return web.Response{}, err
	}
	profile, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "fees", "fees.title", by)
	list, more := moreFees(list, func(f *Fee) *Fee { return f })
	next := ""
	if more != nil {
		maps.Copy(more, query)
		next = feesPath + "?" + more.Encode()
	}
	rows := make([]row, len(list))
	for i, f := range list {
		rows[i] = row{f, statusOf(v, f, p.Now(), ".short")}
	}
	v.Form = &web.Form{Values: query}
	v.Data = map[string]any{
		"Total": totalOf(list, next == "" && r.Value("after") == ""), "Fees": rows, "Next": next, "Sums": sums, "Repeats": repeats, "States": feeStates, "Export": feesPath + "/export?" + query.Encode(),
		"UPIID": profile.UPIID, "PlayerID": filter.PlayerID, "Done": v.TextOr("fees.done."+r.Value("done"), ""),
		"Plain": plain, "Months": months,
	}
	return web.Page("fees", v), nil
}

// exportFees serves GET /coach/fees/export: the fees of the list as CSV.
func (p pages) exportFees(_ context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	_, filter := feeQuery(r)
	return web.Download("fees.csv", csvfile.MediaType, func(ctx context.Context, out io.Writer) error {
		return csvfile.WriteTable(out, Titles, func(row func(...string) error) error { return p.Each(ctx, by, filter, row) })
	}), nil
}

// endRepeat serves POST /coach/fees/end-repeat. A repeat that has ended is no error: the form
// may be sent twice.
func (p pages) endRepeat(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if id := r.Value("repeat"); endpoint.IsID(id) {
		if err := p.EndRepeat(ctx, by, id); err != nil && !fault.IsMissing(err) {
			return web.Response{}, err
		}
	}
	return web.Redirect(feesPath + "?done=ended"), nil
}

// statusOf returns the state of a fee for people. part is the key of the text about a fee that is paid
// in part: ".part" names the balance, ".short" does not.
func statusOf(v *web.View, f *Fee, now time.Time, part string) web.Status {
	state := f.State(now)
	key := "fees.state." + string(state)
	if f.Paid > 0 && state != Paid {
		key += part
	}
	text := v.MustT(key, "Balance", v.Money(f.Balance(), f.Currency))
	switch state {
	case Paid:
		return web.Status{Class: "yes", Symbol: "✓", Text: text}
	case Overdue:
		return web.Status{Class: "wait", Symbol: "!", Text: text}
	case Due:
		return web.Status{Class: "wait", Symbol: "○", Text: text}
	}
	return web.Status{Symbol: "–", Text: text}
}

// moreFees cuts a list to one page. It returns the query that selects the next page, or nil.
func moreFees[F any](list []F, feeOf func(F) *Fee) ([]F, url.Values) {
	if len(list) <= feesPerPage {
		return list, nil
	}
	list = list[:feesPerPage]
	last := feeOf(list[feesPerPage-1])
	return list, url.Values{"after": {last.ID}, "after_day": {string(last.DueOn)}}
}

// readPage returns the page of a list that the query asks for, and one fee more.
func readPage(r *web.Request) Page {
	return Page{Limit: feesPerPage + 1, After: Position{DueOn: team.Date(r.Value("after_day")), ID: r.Value("after")}}
}
