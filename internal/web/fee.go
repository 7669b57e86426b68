package web

import (
	"context"
	"errors"
	"net/url"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/wire"
)

func isMissing(err error) bool { return fault.KindOf(err) == fault.NotFound }

// fee serves GET /coach/fees/{fee_id}: the fee, its payments, and what the coach can do.
func (p *Pages) fee(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.feePage(ctx, r, by, r.restored(&Form{Values: url.Values{}}))
}

func (p *Pages) feePage(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	id, err := r.PathID("fee_id")
	if err != nil {
		return Response{}, err
	}
	fee, err := p.Fees.Fee(ctx, by, id)
	if err != nil {
		return Response{}, err
	}
	today, err := p.Fees.Today(ctx, by)
	if err != nil {
		return Response{}, err
	}
	v, err := p.coachView(ctx, r, "fees", "fee.title", by)
	if err != nil {
		return Response{}, err
	}
	if !f.Values.Has("paid_on") {
		f.Values.Set("paid_on", string(today))
	}
	v.Form, v.Path = f, feesPath+"/"+id
	// Each form of the page has an id, so that sending one does not end the others.
	v.Data = map[string]any{
		"Fee": fee, "State": fee.State(today), "Today": today, "Methods": team.Methods, "RequestID": p.Fees.NewID,
		"Open": fee.Status == team.FeeOpen, "Done": v.textOr("fee.done."+r.URL.Query().Get("done"), ""),
	}
	return formPageResponse("fee", v), nil
}

// changeFee runs a change of the fee in the path once for a form, and shows the fee with the
// result.
func (p *Pages) changeFee(ctx context.Context, r *Request, by actor.Actor, done string, faults wire.Faults, fields map[string]string, change func(ctx context.Context, feeID string) error) (Response, error) {
	id, err := r.PathID("fee_id")
	if err != nil {
		return Response{}, err
	}
	key, form := r.Value(requestField), r.Form
	if own := r.Value("remind"); own != "" { // the button also sends the form of a payment
		key, form = own, url.Values{"remind": {own}}
	}
	if err = faults.Err(); err == nil {
		err = p.onceFor(ctx, r, by, key, form, func(ctx context.Context) error { return change(ctx, id) })
	}
	if err == nil {
		return redirect(feesPath + "/" + id + "?done=" + done), nil
	}
	f := &Form{Values: r.Form}
	if !p.addFeeFault(r, f, err) && !p.addFaults(r, f, err, fields) {
		return Response{}, err
	}
	return p.feePage(ctx, r, by, f)
}

// addFeeFault puts an error that the coach can read about into a form about fees. It returns
// false for other errors.
func (p *Pages) addFeeFault(r *Request, f *Form, err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return false
	}
	v := p.view(r, "failure.title")
	switch e.Code {
	case "payment_exceeds_balance":
		balance, _ := e.Extra["balance"].(int64)
		currency, _ := e.Extra["currency"].(string)
		f.Add("amount", v.mustT("fee.exceeds", "Balance", v.Money(balance, currency)))
	case "invalid_transition":
		f.Add("", v.mustT("fee.changed"))
	case "reminder_limit":
		f.Add("", v.mustT("fee.reminders_used"))
		p.limitedBy(r, f, err)
	case "batch_archived":
		f.Add("for", v.mustT("fee_add.archived"))
	case "idempotency_key_reused":
		f.Add("", v.mustT("fee.saved_before"))
	case "tier_limit", "request_in_progress":
		p.addError(r, f, "", err)
	default:
		return false
	}
	return true
}

// notePayment serves POST /coach/fees/{fee_id}/pay.
func (p *Pages) notePayment(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	id, err := r.PathID("fee_id")
	if err != nil {
		return Response{}, err
	}
	fee, err := p.Fees.Fee(ctx, by, id)
	if err != nil {
		return Response{}, err
	}
	var faults wire.Faults
	payment := team.Payment{
		Amount: readAmount(r, fee.Currency, &faults), PaidOn: readDay(r, "paid_on", &faults),
		Method: team.Method(wire.ParseRules("oneof=cash|upi|bank|other").Text(r.Value("method"), "/method", &faults)),
		Note:   wire.ParseRules("name,max=500").Text(r.Value("note"), "/note", &faults),
	}
	return p.changeFee(ctx, r, by, "paid", faults, nil, func(ctx context.Context, id string) error {
		_, _, err := p.Fees.Pay(ctx, by, id, payment)
		return err
	})
}

// reversePayment serves POST /coach/fees/{fee_id}/reverse.
func (p *Pages) reversePayment(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	payment := r.Value("payment")
	if !endpoint.IsID(payment) {
		return Response{}, fault.Missing()
	}
	faults, reason := readReason(r, "reverse_reason")
	return p.changeFee(ctx, r, by, "reversed", faults, nil, func(ctx context.Context, id string) error {
		_, _, err := p.Fees.Reverse(ctx, by, id, payment, reason)
		return err
	})
}

// waiveFee serves POST /coach/fees/{fee_id}/waive.
func (p *Pages) waiveFee(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	faults, reason := readReason(r, "waive_reason")
	return p.changeFee(ctx, r, by, "waived", faults, nil, func(ctx context.Context, id string) error {
		_, err := p.Fees.Waive(ctx, by, id, reason)
		return err
	})
}

// voidFee serves POST /coach/fees/{fee_id}/void.
func (p *Pages) voidFee(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	faults, reason := readReason(r, "void_reason")
	return p.changeFee(ctx, r, by, "void", faults, nil, func(ctx context.Context, id string) error {
		_, err := p.Fees.Void(ctx, by, id, reason)
		return err
	})
}

// readReason reads the reason of a change.
func readReason(r *Request, field string) (faults wire.Faults, reason string) {
	reason = wire.ParseRules("name,min=1,max=500").Text(r.Value(field), "/"+field, &faults)
	return faults, reason
}

// remindFee serves POST /coach/fees/{fee_id}/remind. A payment that the coach was writing stays.
func (p *Pages) remindFee(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	done := "repeated" // the result of the first of two equal forms is not known here
	resp, err := p.changeFee(ctx, r, by, "", nil, nil, func(ctx context.Context, id string) error {
		sent, err := p.FeeServices.Remind(ctx, by, id)
		done = "reminded_none"
		for _, party := range sent.Parties {
			if party.Access == team.Granted {
				done = "reminded"
			}
		}
		return err
	})
	if err != nil || resp.Redirect == "" {
		return resp, err
	}
	today, err := p.Fees.Today(ctx, by)
	resp.Redirect += done
	stored := url.Values{"amount": {""}, "method": {string(team.Methods[0])}, "paid_on": {string(today)}, "note": {""}}
	return p.keepTyped(r, resp, feesPath+"/"+r.PathValue("fee_id"), stored), err
}

// receipt serves GET /coach/fees/{fee_id}/receipts/{payment_id}: a receipt to print.
func (p *Pages) receipt(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	id, err := r.PathID("fee_id")
	if err != nil {
		return Response{}, err
	}
	paymentID, err := r.PathID("payment_id")
	if err != nil {
		return Response{}, err
	}
	fee, err := p.Fees.Fee(ctx, by, id)
	if err != nil {
		return Response{}, err
	}
	payment, err := fee.Payment(paymentID)
	if err != nil {
		return Response{}, err
	}
	profile, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return Response{}, err
	}
	v, err := p.coachView(ctx, r, "fees", "receipt.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Data = receiptView{Back: feesPath + "/" + id, Coach: profile.Name, Fee: fee, Payment: *payment}
	return page("receipt", v), nil
}

// receiptView is a receipt on paper or on a screen. The family gets it, so it has neither the note
// of the payment nor the reason of a reversal: they are for the coach alone.
type receiptView struct {
	Back    string
	Coach   string
	Fee     *team.Fee
	Payment team.Payment
}
