package fee

import (
	"context"
	"errors"
	"net/url"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

// fee serves GET /coach/fees/{fee_id}: the fee, its payments, and what the coach can do.
func (p pages) fee(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.feePage(ctx, r, by, r.Restored(&web.Form{Values: url.Values{}}))
}

// feeInPath returns the fee that the path names.
func (p pages) feeInPath(ctx context.Context, r *web.Request, by actor.Actor) (*Fee, error) {
	return p.Fee(ctx, by, r.PathValue("fee_id"))
}

func (p pages) feePage(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	fee, err := p.feeInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "fees", "fee.title", by)
	v.TitleName = fee.StudentName
	if fee.Status == StatusOpen && !f.Values.Has("amount") {
		f.Values.Set("amount", team.FormatAmount(fee.Balance(), fee.Currency))
	}
	if !f.Values.Has("paid_on") {
		f.Values.Set("paid_on", string(fee.today(p.Now())))
	}
	v.Form, v.Path = f, feesPath+"/"+fee.ID
	var told *web.TellingView
	if done := r.URL.Query().Get("done"); done == "reminded" || done == "repeated" {
		text := v.MustT("fee.write", "Student", fee.StudentName, "Fee", fee.Title, "Day", v.CalendarDay(fee.DueOn), "Balance", v.Money(fee.Balance(), fee.Currency))
		if told, err = p.site.Telling(ctx, by, fee.ID, string(event.FeeReminded), text); err != nil {
			return web.Response{}, err
		}
	}
	// Each form of the page has an id, so that sending one does not end the others.
	v.Data = map[string]any{
		"Fee": fee, "Told": told, "Status": statusOf(v, fee, p.Now(), ".part"), "Methods": Methods, "RequestID": p.NewID,
		"Open": fee.Status == StatusOpen, "Done": v.TextOr("fee.done."+r.URL.Query().Get("done"), ""),
	}
	return web.FormPage("fee", v), nil
}

// changeFee runs a change of the fee in the path once for a form, and shows the fee with the
// result.
func (p pages) changeFee(ctx context.Context, r *web.Request, by actor.Actor, done string, faults wire.Faults, change func(ctx context.Context, feeID string) error) (web.Response, error) {
	id := r.PathValue("fee_id")
	key, form := r.Value(web.RequestField), r.Form
	if own := r.Value("remind"); own != "" { // the button also sends the form of a payment
		key, form = own, url.Values{"remind": {own}}
	}
	err := faults.Err()
	if err == nil {
		err = p.site.OnceFor(ctx, r, by, key, form, func(ctx context.Context) error { return change(ctx, id) })
	}
	if err == nil {
		return web.Redirect(feesPath + "/" + id + "?done=" + done), nil
	}
	f := &web.Form{Values: r.Form}
	if !p.addFeeFault(r, f, err) && !p.site.AddFaults(r, f, err, nil) {
		return web.Response{}, err
	}
	return p.feePage(ctx, r, by, f)
}

// addFeeFault puts an error that the coach can read about into a form about fees. It returns
// false for other errors.
func (p pages) addFeeFault(r *web.Request, f *web.Form, err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return false
	}
	v := p.site.NewView(r, "failure.title")
	switch e.Code {
	case "payment_exceeds_balance":
		balance, _ := e.Extra["balance"].(int64)
		currency, _ := e.Extra["currency"].(string)
		f.Add("amount", v.MustT("fee.exceeds", "Balance", v.Money(balance, currency)))
	case "invalid_transition":
		f.Add("", v.MustT("fee.changed"))
	case "reminder_limit":
		f.Add("", v.MustT("fee.reminders_used"))
		p.site.LimitedBy(r, f, err)
	case "batch_archived":
		f.Add("for", v.MustT("fee_add.archived"))
	case "idempotency_key_reused":
		f.Add("", v.MustT("fee.saved_before"))
	case "tier_limit", "request_in_progress":
		p.site.AddError(r, f, "", err)
	default:
		return false
	}
	return true
}

// notePayment serves POST /coach/fees/{fee_id}/pay.
func (p pages) notePayment(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	fee, err := p.feeInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	var faults wire.Faults
	payment := Payment{
		Amount: readAmount(r, fee.Currency, &faults), PaidOn: readDay(r, "paid_on", &faults),
		Method: Method(wire.ParseRules("oneof=cash|upi|bank|other").Text(r.Value("method"), "/method", &faults)),
		Note:   wire.ParseRules("name,max=500").Text(r.Value("note"), "/note", &faults),
	}
	return p.changeFee(ctx, r, by, "paid", faults, func(ctx context.Context, id string) error {
		_, _, err := p.Pay(ctx, by, id, payment)
		return err
	})
}

// reversePayment serves POST /coach/fees/{fee_id}/reverse.
func (p pages) reversePayment(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	payment := r.Value("payment")
	if !endpoint.IsID(payment) {
		return web.Response{}, fault.Missing()
	}
	return p.changeFor(ctx, r, by, "reverse_reason", "reversed", func(ctx context.Context, by actor.Actor, id, reason string) (*Fee, error) {
		fee, _, err := p.Reverse(ctx, by, id, payment, reason)
		return fee, err
	})
}

// waiveFee serves POST /coach/fees/{fee_id}/waive.
func (p pages) waiveFee(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.changeFor(ctx, r, by, "waive_reason", "waived", p.Waive)
}

// voidFee serves POST /coach/fees/{fee_id}/void.
func (p pages) voidFee(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.changeFor(ctx, r, by, "void_reason", "void", p.Void)
}

// changeFor runs a change for the reason in a field.
func (p pages) changeFor(ctx context.Context, r *web.Request, by actor.Actor, field, done string, change func(ctx context.Context, by actor.Actor, id, reason string) (*Fee, error)) (web.Response, error) {
	var faults wire.Faults
	reason := wire.ParseRules("name,min=1,max=500").Text(r.Value(field), "/"+field, &faults)
	return p.changeFee(ctx, r, by, done, faults, func(ctx context.Context, id string) error {
		_, err := change(ctx, by, id, reason)
		return err
	})
}

// remindFee serves POST /coach/fees/{fee_id}/remind. A payment that the coach was writing stays.
func (p pages) remindFee(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	done := "repeated"
	resp, err := p.changeFee(ctx, r, by, "", nil, func(ctx context.Context, id string) error {
		_, err := p.Remind(ctx, by, id)
		done = "reminded"
		return err
	})
	if err != nil || resp.Redirect == "" {
		return resp, err
	}
	resp.Redirect += done
	fee, err := p.feeInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	stored := url.Values{"amount": {team.FormatAmount(fee.Balance(), fee.Currency)}, "method": {string(Methods[0])}, "paid_on": {string(fee.today(p.Now()))}, "note": {""}}
	return p.site.KeepTyped(r, resp, feesPath+"/"+fee.ID, stored), nil
}

// receipt serves GET /coach/fees/{fee_id}/receipts/{payment_id}: a receipt to print.
func (p pages) receipt(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	fee, err := p.feeInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	payment, err := fee.Payment(r.PathValue("payment_id"))
	if err != nil {
		return web.Response{}, err
	}
	profile, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "fees", "receipt.title", by)
	v.TitleName = fee.StudentName
	v.Data = receiptView{Back: feesPath + "/" + fee.ID, Coach: profile.Name, Fee: fee, Payment: *payment, Today: team.Date(v.Today())}
	return web.Page("receipt", v), nil
}

// receiptView is a receipt on paper or on a screen. The family gets it, so it has neither the note
// of the payment nor the reason of a reversal: they are for the coach alone.
type receiptView struct {
	Back    string
	Coach   string
	Fee     *Fee
	Payment Payment
	// Today is the date of the page.
	Today team.Date
}
