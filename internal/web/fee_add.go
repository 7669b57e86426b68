package web

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/wire"
)

// addFeePage serves GET /coach/fees/add, for a player or batch that the query may name.
func (p *Pages) addFeePage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	values := url.Values{}
	setRecipient(values, r)
	return p.addFeeForm(ctx, r, by, r.restored(&Form{Values: values}))
}

func (p *Pages) addFeeForm(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	v, err := p.coachView(ctx, r, "fees", "fee_add.title", by)
	if err != nil {
		return Response{}, err
	}
	choice, err := p.recipientChoice(ctx, by, f)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, feesPath+"/add"
	v.Data = map[string]any{
		"Choice": choice, "Currency": p.Fees.DefaultCurrency, "RequestID": p.Fees.NewID(),
	}
	return formPageResponse("fee_add", v), nil
}

// addFee serves POST /coach/fees/add.
func (p *Pages) addFee(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	var faults wire.Faults
	order := readFeeOrder(r, p.Fees.DefaultCurrency, &faults)
	err := addOrderFaults(&faults, func() error {
		if order.PlayerID+order.BatchID == "" {
			return nil
		}
		return p.Fees.Check(ctx, by, order)
	})
	if err == nil {
		err = faults.Err()
	}
	if err == nil {
		err = p.onceFor(ctx, r, by, r.Value(requestField), r.Form, func(ctx context.Context) error {
			_, err := p.Fees.Add(ctx, by, order)
			return err
		})
	}
	if err == nil {
		return redirect(feesPath + "?done=added"), nil
	}
	f := &Form{Values: r.Form}
	fields := map[string]string{"/player_id": "for", "/batch_id": "for", "/repeat/until": "until"}
	if !p.addFeeFault(r, f, err) && !p.addFaults(r, f, err, fields) {
		return Response{}, err
	}
	return p.addFeeForm(ctx, r, by, f)
}

// addOrderFaults adds the faults that check returns. It returns any other error.
func addOrderFaults(f *wire.Faults, check func() error) error {
	err := check()
	known, ok := errors.AsType[*fault.Error](err)
	if !ok || known.Kind != fault.Invalid {
		return err
	}
	for _, field := range known.Fields {
		f.Add(field.Pointer, field.Code, field.Detail)
	}
	return nil
}

// readFeeOrder reads the form of a fee.
func readFeeOrder(r *Request, currency string, f *wire.Faults) team.FeeOrder {
	o := team.FeeOrder{
		Title: wire.ParseRules("name,min=1,max=100").Text(r.Value("title"), "/title", f), Amount: readAmount(r, currency, f), Currency: currency,
		DueOn: readDay(r, "due_on", f),
	}
	kind, id, _ := strings.Cut(r.Value("for"), ":")
	switch {
	case !endpoint.IsID(id):
		f.Add("/player_id", "required", "Choose a player or a batch.")
	case kind == "batch":
		o.BatchID = id
	default:
		o.PlayerID = id
	}
	if o.Repeat = r.Value("repeat") == "month"; o.Repeat && r.Value("until") != "" {
		if o.Until = readDay(r, "until", f); o.Until == "" {
			f.Add("/repeat/until", "invalid_date", "This is not a day.")
		}
	}
	return o
}

// readAmount reads the field "amount" in the currency.
func readAmount(r *Request, currency string, f *wire.Faults) int64 {
	amount, code := team.ParseAmount(r.Value("amount"), currency)
	switch {
	case r.Value("amount") == "":
		f.Add("/amount", "required", "Write the amount.")
	case code != "":
		f.Add("/amount", code, "Write an amount, such as 1500 or 1500.50.")
	case amount < 1:
		f.Add("/amount", "not_positive", "The amount must be more than 0.")
	case amount > team.MaxAmount:
		f.Add("/amount", "too_large", "This amount is too large.")
	}
	return amount
}

// readDay reads a day of the form.
func readDay(r *Request, name string, f *wire.Faults) team.Date {
	if r.Value(name) == "" {
		f.Add("/"+name, "required", "Choose a day.")
		return ""
	}
	return input.Date("/"+name, r.Value(name), f)
}
