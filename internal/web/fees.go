package web

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/csvfile"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/team"
)

const (
	feesPath = "/coach/fees"
	// feesPerPage is the length of one page of the list of fees, and repeatsShown that of the
	// list of repeats below it.
	feesPerPage  = 50
	repeatsShown = 50
)

// feeRoutes lists the coach's pages about fees.
func (p *Pages) feeRoutes() []Route {
	const one = feesPath + "/{fee_id}"
	return []Route{
		{Method: "GET", Pattern: feesPath, Handle: p.signedIn(actor.Coach, p.fees)},
		{Method: "GET", Pattern: feesPath + "/export", Handle: p.signedIn(actor.Coach, p.exportFees)},
		{Method: "GET", Pattern: feesPath + "/add", Handle: p.signedIn(actor.Coach, p.addFeePage)},
		{Method: "POST", Pattern: feesPath + "/add", Handle: p.signedIn(actor.Coach, p.addFee)},
		{Method: "POST", Pattern: feesPath + "/end-repeat", Handle: p.signedIn(actor.Coach, p.endRepeat)},
		{Method: "GET", Pattern: feesPath + "/upi", Handle: p.signedIn(actor.Coach, p.upiPage)},
		{Method: "POST", Pattern: feesPath + "/upi", Handle: p.signedIn(actor.Coach, p.saveUPI)},
		{Method: "GET", Pattern: one, Handle: p.signedIn(actor.Coach, p.fee)},
		{Method: "POST", Pattern: one + "/pay", Handle: p.signedIn(actor.Coach, p.notePayment)},
		{Method: "POST", Pattern: one + "/reverse", Handle: p.signedIn(actor.Coach, p.reversePayment)},
		{Method: "POST", Pattern: one + "/waive", Handle: p.signedIn(actor.Coach, p.waiveFee)},
		{Method: "POST", Pattern: one + "/void", Handle: p.signedIn(actor.Coach, p.voidFee)},
		{Method: "POST", Pattern: one + "/remind", Handle: p.signedIn(actor.Coach, p.remindFee)},
		{Method: "GET", Pattern: one + "/receipts/{payment_id}", Handle: p.signedIn(actor.Coach, p.receipt)},
	}
}

// feeRow is a fee in a list, with its state today.
type feeRow struct {
	*team.Fee
	State team.FeeState
}

// feeStates are the filters of the list of fees. All is every fee.
var feeStates = []string{"unpaid", "overdue", "paid", "waived", "void", "all"}

// feeQuery returns the fields of the request that filter the list of fees: without any, what
// is unpaid.
func feeQuery(r *Request) (url.Values, team.FeeFilter) {
	query, filter := url.Values{}, team.FeeFilter{}
	state := r.Value("state")
	if state == "" {
		state = string(team.Unpaid)
	}
	query.Set("state", state)
	if state != "all" {
		filter.State = team.FeeState(state)
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
	filter.OldestFirst = filter.State == team.Unpaid || filter.State == team.Overdue
	return query, filter
}

// fees serves GET /coach/fees: the unpaid sums, the fees that match the filter, and the fees
// that repeat.
func (p *Pages) fees(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	query, filter := feeQuery(r)
	after := team.FeePosition{DueOn: team.Date(r.Value("after_day")), ID: r.Value("after")}
	list, err := p.Fees.List(ctx, by, filter, team.FeePage{Limit: feesPerPage + 1, After: after})
	if err != nil {
		return Response{}, err
	}
	today, err := p.Fees.Today(ctx, by)
	if err != nil {
		return Response{}, err
	}
	sums, err := p.Fees.Unpaid(ctx, by)
	if err != nil {
		return Response{}, err
	}
	repeats, err := p.Fees.Repeats(ctx, by, "", repeatsShown)
	if err != nil {
		return Response{}, err
	}
	profile, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return Response{}, err
	}
	v, err := p.coachView(ctx, r, "fees", "fees.title", by)
	if err != nil {
		return Response{}, err
	}
	next := ""
	if len(list) > feesPerPage {
		list = list[:feesPerPage]
		last := list[feesPerPage-1]
		more := url.Values{"after": {last.ID}, "after_day": {string(last.DueOn)}}
		for name := range query {
			more.Set(name, query.Get(name))
		}
		next = feesPath + "?" + more.Encode()
	}
	rows := make([]feeRow, len(list))
	for i, f := range list {
		rows[i] = feeRow{f, f.State(today)}
	}
	v.Form = &Form{Values: query}
	v.Data = map[string]any{
		"Fees": rows, "Next": next, "Sums": sums, "Repeats": repeats, "States": feeStates, "Export": feesPath + "/export?" + query.Encode(),
		"UPIID": profile.UPIID, "PlayerID": filter.PlayerID, "Done": v.textOr("fees.done."+r.Value("done"), ""),
		"Plain": query.Get("state") == "unpaid" && !query.Has("month") && !query.Has("player"),
	}
	return page("fees", v), nil
}

// exportFees serves GET /coach/fees/export: the fees of the list as CSV.
func (p *Pages) exportFees(_ context.Context, r *Request, by actor.Actor) (Response, error) {
	_, filter := feeQuery(r)
	return Response{Write: func(w http.ResponseWriter, req *http.Request) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context()), httpx.FileTimeout)
		defer cancel()
		return httpx.Download(w, req, "fees.csv", csvfile.MediaType, func(out io.Writer) error {
			return csvfile.WriteTable(out, team.FeeTitles, func(row func(...string) error) error {
				return p.Fees.Each(ctx, by, filter, func(f *team.Fee, today team.Date) error { return row(f.Cells(today)...) })
			})
		})
	}}, nil
}

// endRepeat serves POST /coach/fees/end-repeat. A repeat that has ended is no error: the form
// may be sent twice.
func (p *Pages) endRepeat(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	if id := r.Value("repeat"); endpoint.IsID(id) {
		if err := p.Fees.EndRepeat(ctx, by, id); err != nil && !isMissing(err) {
			return Response{}, err
		}
	}
	return redirect(feesPath + "?done=ended"), nil
}

// Money returns an amount for people: "₹1,500.00".
func (v *View) Money(amount int64, currency string) string {
	return inCurrency(team.FormatAmount(amount, currency), currency)
}

// Price writes what messages cost, as in ₹0.12, with up to four decimals.
func (v *View) Price(cost team.Cost, currency string) string {
	text := cost.String()
	_, fraction, _ := strings.Cut(text, ".")
	switch missing := team.Decimals(currency) - len(fraction); {
	case missing <= 0:
	case fraction == "":
		text += "." + strings.Repeat("0", missing)
	default:
		text += strings.Repeat("0", missing)
	}
	return inCurrency(text, currency)
}

// inCurrency writes a decimal number with the sign or code of its currency.
func inCurrency(number, currency string) string {
	whole, fraction, found := strings.Cut(number, ".")
	if found {
		fraction = "." + fraction
	}
	if currency == "INR" {
		return "₹" + groupDigits(whole, 2) + fraction
	}
	return currency + "\u00a0" + groupDigits(whole, 3) + fraction
}

// groupDigits puts commas before the last three digits, and before each group of n digits to
// the left of them: 12,34,567 for n = 2.
func groupDigits(digits string, n int) string {
	if len(digits) <= 3 {
		return digits
	}
	head, tail := digits[:len(digits)-3], digits[len(digits)-3:]
	for len(head) > n {
		head, tail = head[:len(head)-n], head[len(head)-n:]+","+tail
	}
	return head + "," + tail
}

// FeeDay returns a date for people: "5 May 2026".
func (v *View) FeeDay(d team.Date) string {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return string(d)
	}
	return v.dayMonthYear(t)
}

// FeeState returns the state of a fee for people, with what is left of a fee that is paid in part.
func (v *View) FeeState(f *team.Fee, state team.FeeState) Status {
	return v.feeState(f, state, ".part")
}

// FeeStateInTable is FeeState beside a column that has what is left.
func (v *View) FeeStateInTable(f *team.Fee, state team.FeeState) Status {
	return v.feeState(f, state, ".short")
}

func (v *View) feeState(f *team.Fee, state team.FeeState, part string) Status {
	key := "fees.state." + string(state)
	if f.Paid > 0 && state != team.Paid {
		key += part
	}
	text := v.mustT(key, "Balance", v.Money(f.Balance(), f.Currency))
	switch state {
	case team.Paid:
		return Status{"yes", "✓", text}
	case team.Overdue:
		return Status{"no", "!", text}
	case team.Due:
		return Status{"wait", "○", text}
	}
	return Status{"", "–", text}
}
