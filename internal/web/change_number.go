package web

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

const (
	numberPath = SettingsPath + "/number"
	codesPath  = numberPath + "/codes"
	numberDone = SettingsPath + "?done=number"
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
func (p *Pages) changeNumberPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.numberChangeForm(ctx, r, by, r.Restored(new(Form)))
}

func (p *Pages) numberChangeForm(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	v, err := p.CoachView(ctx, r, "settings", "change_number.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, numberPath
	return FormPage("change_number", v), nil
}

// beginNumberChange serves POST /coach/settings/number: it sends a code to both numbers.
func (p *Pages) beginNumberChange(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	v, f := p.NewView(r, "change_number.title"), &Form{Values: r.Form}
	to, err := p.Phones.Parse(r.Value("number"))
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
				return Response{}, err
			}
			p.AddError(r, f, "number", err)
			break
		}
	}
	if len(f.Faults) > 0 {
		return p.numberChangeForm(ctx, r, by, f)
	}
	cookie, err := p.sealedCookie(newNumberCookie, newNumber{by.AccountID, to, p.Now().Add(pendingLifetime)}, pendingLifetime)
	return Redirect(codesPath, cookie), err
}

// changeOTPs returns the requests for the codes of a change: one to the new number, then
// one to the number of the caller. A device is known for one number only.
func (p *Pages) changeOTPs(r *Request, by actor.Actor, to phone.Number) []auth.OTPRequest {
	current := p.otpRequest(r, SignIn{Role: by.Role, Number: by.Number})
	return []auth.OTPRequest{{Number: to, Role: by.Role, Network: r.Address}, current}
}

// readNewNumber returns the number to which the caller is about to change; ok is false if
// there is none.
func (p *Pages) readNewNumber(r *Request, by actor.Actor) (to phone.Number, ok bool) {
	c, err := r.Cookie(p.cookies.name(newNumberCookie))
	if err != nil {
		return "", false
	}
	var n newNumber
	if !p.unseal(c, newNumberCookie, &n) || n.Account != by.AccountID || !p.Now().Before(n.Ends) {
		return "", false
	}
	return n.Number, true
}

// numberCodesPage serves GET /coach/settings/number/codes: it asks for both codes.
func (p *Pages) numberCodesPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	to, ok := p.readNewNumber(r, by)
	switch {
	case !ok:
		return Redirect(numberPath), nil
	case to == by.Number:
		return Redirect(numberDone), nil
	}
	return p.numberCodesForm(ctx, r, by, to, new(Form))
}

func (p *Pages) numberCodesForm(ctx context.Context, r *Request, by actor.Actor, to phone.Number, f *Form) (Response, error) {
	v, err := p.CoachView(ctx, r, "settings", "change_number.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, codesPath
	v.Data = map[string]any{"To": to, "Sent": r.URL.Query().Get("sent") == "again"}
	return FormPage("change_number_codes", v), nil
}

// sendNumberCodes serves POST /coach/settings/number/again: it sends both codes again.
func (p *Pages) sendNumberCodes(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	to, ok := p.readNewNumber(r, by)
	if !ok {
		return Redirect(numberPath), nil
	}
	f := new(Form)
	for i, request := range p.changeOTPs(r, by, to) {
		err := p.requestCode(ctx, request)
		if err != nil && !isLimit(err) {
			return Response{}, err
		}
		if err != nil {
			p.AddError(r, f, []string{"new_code", "code"}[i], err)
		}
	}
	if len(f.Faults) > 0 {
		return p.numberCodesForm(ctx, r, by, to, f)
	}
	return Redirect(codesPath + "?sent=again"), nil
}

// changeNumber serves POST /coach/settings/number/codes: it changes the number. The same
// form sent twice changes it once.
func (p *Pages) changeNumber(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	to, ok := p.readNewNumber(r, by)
	if !ok {
		return Redirect(numberPath), nil
	}
	if to == by.Number {
		return Redirect(numberDone), nil
	}
	f := &Form{Values: url.Values{}}
	codes := map[string]string{}
	for _, field := range []string{"code", "new_code"} {
		codes[field] = otpDigits(r.Value(field))
		if len(codes[field]) != p.Auth.Settings.OTPLength {
			f.Add(field, p.NewView(r, "code.title").MustT("code.code.fault", "Count", p.Auth.Settings.OTPLength))
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
		return Redirect(numberDone), nil // the cookie stays: the form may be sent again
	}
	return p.numberChangeFault(ctx, r, by, to, f, err)
}

// numberChangeFault shows why a number was not changed: next to the code that is wrong, or
// next to the new number.
func (p *Pages) numberChangeFault(ctx context.Context, r *Request, by actor.Actor, to phone.Number, f *Form, err error) (Response, error) {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return Response{}, err
	}
	switch e.Extra["number"] {
	case "current":
		f.Values.Del("code")
		p.AddError(r, f, "code", err)
		return p.numberCodesForm(ctx, r, by, to, f)
	case "new":
		f.Values.Del("new_code")
		p.AddError(r, f, "new_code", err)
		return p.numberCodesForm(ctx, r, by, to, f)
	}
	number := &Form{Values: url.Values{"number": {to.Format()}}}
	if e.Code == "number_in_use" || e.Code == "destination_blocked" {
		p.AddError(r, number, "number", err)
	} else if !p.AddFaults(r, number, err, map[string]string{"/new_mobile_number": "number"}) {
		return Response{}, err
	}
	return p.numberChangeForm(ctx, r, by, number)
}
