package fee

import (
	"context"
	"net/url"
	"strings"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

// addFeePage serves GET /coach/fees/add, for a player or batch that the query may name.
func (p pages) addFeePage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	values := url.Values{}
	web.SetRecipient(values, r)
	return p.addFeeForm(ctx, r, by, r.Restored(&web.Form{Values: values}))
}

func (p pages) addFeeForm(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	v := p.site.CoachView(r, "fees", "fee_add.title", by)
	choice, err := p.site.RecipientChoice(ctx, by, f)
	if err != nil {
		return web.Response{}, err
	}
	v.Form, v.Path = f, feesPath+"/add"
	v.Data = map[string]any{
		"Choice": choice, "Currency": p.DefaultCurrency, "RequestID": p.NewID(),
	}
	return web.FormPage("fee_add", v), nil
}

// addFee serves POST /coach/fees/add.
func (p pages) addFee(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	var faults wire.Faults
	order := readOrder(r, p.DefaultCurrency, &faults)
	var err error
	if order.PlayerID+order.BatchID != "" || len(order.PlayerIDs) > 0 {
		err = faults.Merge(p.Check(ctx, by, order))
	}
	if err == nil {
		err = faults.Err()
	}
	if err == nil {
		err = p.site.OnceFor(ctx, r, by, r.Value(web.RequestField), r.Form, func(ctx context.Context) error {
			_, err := p.Add(ctx, by, order)
			return err
		})
	}
	if err == nil {
		return web.Redirect(feesPath + "?done=added"), nil
	}
	f := &web.Form{Values: r.Form}
	fields := map[string]string{"/player_id": "for", "/batch_id": "for", "/repeat/until": "until"}
	if !p.addFeeFault(r, f, err) && !p.site.AddFaults(r, f, err, fields) {
		return web.Response{}, err
	}
	return p.addFeeForm(ctx, r, by, f)
}

// readOrder reads the form of a fee.
func readOrder(r *web.Request, currency string, f *wire.Faults) Order {
	o := Order{
		Title: wire.ParseRules("name,min=1,max=100").Text(r.Value("title"), "/title", f), Amount: readAmount(r, currency, f), Currency: currency,
		DueOn: readDay(r, "due_on", f),
	}
	kind, id, _ := strings.Cut(r.Value("for"), ":")
	several := web.Recipients(r.Value("for"))
	switch {
	case len(several) > 1:
		o.PlayerIDs = several
		return o
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
func readAmount(r *web.Request, currency string, f *wire.Faults) int64 {
	amount, code := team.ParseAmount(r.Value("amount"), currency)
	switch {
	case r.Value("amount") == "":
		f.Add("/amount", "required", "Write the amount.")
	case code != "":
		f.Add("/amount", code, "Write an amount, such as 1500 or 1500.50.")
	case amount < 1:
		f.Add("/amount", "not_positive", "The amount must be more than 0.")
	case amount > MaxAmount:
		f.Add("/amount", "too_large", "This amount is too large.")
	}
	return amount
}

// readDay reads a day of the form.
func readDay(r *web.Request, name string, f *wire.Faults) team.Date {
	if r.Value(name) == "" {
		f.Add("/"+name, "required", "Choose a day.")
		return ""
	}
	return input.Date("/"+name, r.Value(name), f)
}

// upiPage serves GET /coach/fees/upi: where families pay.
func (p pages) upiPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	profile, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	return p.upiForm(ctx, r, by, profile, r.Restored(&web.Form{Values: url.Values{"upi_id": {profile.UPIID}}}))
}

func (p pages) upiForm(ctx context.Context, r *web.Request, by actor.Actor, profile coach.Profile, f *web.Form) (web.Response, error) {
	v := p.site.CoachView(r, "fees", "upi.title", by)
	v.Form, v.Path = f, feesPath+"/upi"
	v.Data = map[string]any{"Profile": profile, "Fresh": p.site.HasRecentOTP(r, actor.Coach)}
	return web.FormPage("fee_upi", v), nil
}

// saveUPI serves POST /coach/fees/upi. A change needs an OTP of the last 15 minutes: without
// one the coach signs in again, and finds the form as it was.
func (p pages) saveUPI(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	profile, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	var faults wire.Faults
	id := wire.ParseRules("max=321").Text(r.Value("upi_id"), "/upi_id", &faults)
	patch := coach.Patch{UPIID: &id, RecentOTP: p.site.HasRecentOTP(r, actor.Coach)}
	input.CheckProfile(patch, &faults)
	if err := faults.Err(); err != nil {
		f := &web.Form{Values: r.Form}
		p.site.AddFaults(r, f, err, nil)
		return p.upiForm(ctx, r, by, profile, f)
	}
	if !patch.RecentOTP && id != profile.UPIID {
		return web.Response{}, web.SignInError{Role: actor.Coach, Next: feesPath + "/upi", Cookies: p.site.KeepDraft(r)}
	}
	if _, err := p.Coaches.Edit(ctx, by, patch); err != nil {
		return web.Response{}, err
	}
	return web.Redirect(feesPath + "?done=upi"), nil
}
