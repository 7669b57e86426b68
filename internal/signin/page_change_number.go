package signin

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/web"
)

const (
	numberPath = web.SettingsPath + "/number"
	codesPath  = numberPath + "/codes"
	numberDone = web.SettingsPath + "?done=number"
	// newNumberCookie holds the new number between the page that asks for it and the page
	// that asks for the codes. It is encrypted.
	newNumberCookie = "touchline-new-number"
)

// newNumber is the number to which an account is about to change.
type newNumber struct {
	Account string
	Number  phone.Number
	Ends    time.Time
}

// changeNumberPage serves GET /coach/settings/number: it asks for the new number.
func (p pages) changeNumberPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.numberChangeForm(ctx, r, by, r.Restored(new(web.Form)))
}

func (p pages) numberChangeForm(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	v := p.site.CoachView(r, "settings", "change_number.title", by)
	v.Form, v.Path = f, numberPath
	return web.FormPage("change_number", v), nil
}

// beginNumberChange serves POST /coach/settings/number: it sends a code to both numbers.
func (p pages) beginNumberChange(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	v, f := p.site.NewView(r, "change_number.title"), &web.Form{Values: r.Form}
	to, err := p.site.Phones.Parse(r.Value("number"))
	switch {
	case err != nil:
		f.Add("number", v.MustT("sign_in.number.fault"))
	case to == by.Number:
		f.Add("number", v.MustT("invalid.same_number"))
	default:
		for _, request := range p.changeOTPs(r, by, to) {
			err := p.requestCode(ctx, request)
			if err == nil || fault.CodeOf(err) == "otp_resend_too_soon" {
				continue // a code that was sent a moment ago can be entered
			}
			if !isLimit(err) {
				return web.Response{}, err
			}
			p.site.AddError(r, f, "number", err)
			break
		}
	}
	if len(f.Faults) > 0 {
		return p.numberChangeForm(ctx, r, by, f)
	}
	cookie, err := p.site.SealedCookie(newNumberCookie, newNumber{by.AccountID, to, p.site.Now().Add(pendingLifetime)}, pendingLifetime)
	return web.Redirect(codesPath, cookie), err
}

// changeOTPs returns the requests for the codes of a change: one to the new number, then
// one to the number of the caller. A device is known for one number only.
func (p pages) changeOTPs(r *web.Request, by actor.Actor, to phone.Number) []auth.OTPRequest {
	current := p.otpRequest(r, SignIn{Role: by.Role, Number: by.Number})
	return []auth.OTPRequest{{Number: to, Role: by.Role, Network: r.Address}, current}
}

// readNewNumber returns the number to which the caller is about to change; ok is false if
// there is none.
func (p pages) readNewNumber(r *web.Request, by actor.Actor) (to phone.Number, ok bool) {
	var n newNumber
	if !p.site.Unseal(r, newNumberCookie, &n) || n.Account != by.AccountID || !p.site.Now().Before(n.Ends) {
		return "", false
	}
	return n.Number, true
}

// numberCodesPage serves GET /coach/settings/number/codes: it asks for both codes.
func (p pages) numberCodesPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	to, ok := p.readNewNumber(r, by)
	switch {
	case !ok:
		return web.Redirect(numberPath), nil
	case to == by.Number:
		return web.Redirect(numberDone), nil
	}
	return p.numberCodesForm(ctx, r, by, to, new(web.Form))
}

func (p pages) numberCodesForm(ctx context.Context, r *web.Request, by actor.Actor, to phone.Number, f *web.Form) (web.Response, error) {
	v := p.site.CoachView(r, "settings", "change_number.title", by)
	v.Form, v.Path = f, codesPath
	v.Data = map[string]any{"To": to, "Sent": r.URL.Query().Get("sent") == "again"}
	return web.FormPage("change_number_codes", v), nil
}

// sendNumberCodes serves POST /coach/settings/number/again: it sends both codes again.
func (p pages) sendNumberCodes(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	to, ok := p.readNewNumber(r, by)
	if !ok {
		return web.Redirect(numberPath), nil
	}
	f := new(web.Form)
	for i, request := range p.changeOTPs(r, by, to) {
		err := p.requestCode(ctx, request)
		if err != nil && !isLimit(err) {
			return web.Response{}, err
		}
		if err != nil {
			p.site.AddError(r, f, []string{"new_code", "code"}[i], err)
		}
	}
	if len(f.Faults) > 0 {
		return p.numberCodesForm(ctx, r, by, to, f)
	}
	return web.Redirect(codesPath + "?sent=again"), nil
}

// changeNumber serves POST /coach/settings/number/codes: it changes the number. The same
// form sent twice changes it once.
func (p pages) changeNumber(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	to, ok := p.readNewNumber(r, by)
	if !ok {
		return web.Redirect(numberPath), nil
	}
	if to == by.Number {
		return web.Redirect(numberDone), nil
	}
	f := &web.Form{Values: url.Values{}}
	codes := map[string]string{}
	for _, field := range []string{"code", "new_code"} {
		codes[field] = input.Code(r.Value(field))
		if len(codes[field]) != p.Auth.Settings.OTPLength {
			f.Add(field, p.site.NewView(r, "code.title").MustT("code.code.fault", "Count", p.Auth.Settings.OTPLength))
		} else {
			f.Values.Set(field, codes[field])
		}
	}
	if len(f.Faults) > 0 {
		return p.numberCodesForm(ctx, r, by, to, f)
	}
	proof := p.proof(r, SignIn{Role: by.Role})
	_, _, err := p.Auth.ChangeNumber(ctx, by, proof.DeviceToken, codes["code"], to, codes["new_code"])
	if err == nil {
		p.Streams.Hub.Wake(by.AccountID)
		return web.Redirect(numberDone), nil // the cookie stays: the form may be sent again
	}
	return p.numberChangeFault(ctx, r, by, to, f, err)
}

// numberChangeFault shows why a number was not changed: next to the code that is wrong, or
// next to the new number.
func (p pages) numberChangeFault(ctx context.Context, r *web.Request, by actor.Actor, to phone.Number, f *web.Form, err error) (web.Response, error) {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return web.Response{}, err
	}
	switch e.Extra["number"] {
	case "current":
		f.Values.Del("code")
		p.site.AddError(r, f, "code", err)
		return p.numberCodesForm(ctx, r, by, to, f)
	case "new":
		f.Values.Del("new_code")
		p.site.AddError(r, f, "new_code", err)
		return p.numberCodesForm(ctx, r, by, to, f)
	}
	number := &web.Form{Values: url.Values{"number": {to.Format()}}}
	if e.Code == "number_in_use" || e.Code == "destination_blocked" {
		p.site.AddError(r, number, "number", err)
	} else if !p.site.AddFaults(r, number, err, map[string]string{"/new_mobile_number": "number"}) {
		return web.Response{}, err
	}
	return p.numberChangeForm(ctx, r, by, number)
}
