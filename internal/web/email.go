package web

import (
	"context"
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/input"
)

// addressCookie holds an address between the page that asks for it and the page that asks for its
// code. It is encrypted.
const addressCookie = "touchline-address"

// addressToConfirm is the address that an account is about to confirm.
type addressToConfirm struct {
	Account, Address string
	Ends             time.Time
}

// emailRoutes lists the pages on which each role confirms the address for codes by mail.
func (p *Pages) emailRoutes() []Route {
	var routes []Route
	for _, role := range actor.Roles {
		path := settingsOf(role) + "/email"
		routes = append(
			routes,
			Route{Method: "GET", Pattern: path, Handle: p.SignedIn(role, p.emailPage)},
			Route{Method: "POST", Pattern: path, Handle: p.SignedIn(role, p.sendToAddress)},
			Route{Method: "GET", Pattern: path + "/code", Handle: p.SignedIn(role, p.emailCodePage)},
			Route{Method: "POST", Pattern: path + "/code", Handle: p.SignedIn(role, p.confirmAddress)},
			Route{Method: "POST", Pattern: path + "/remove", Handle: p.SignedIn(role, p.removeAddress)},
		)
	}
	return routes
}

// emailSetting is the address for codes by mail as the settings page shows it. Address is empty if
// none is confirmed.
type emailSetting struct{ Path, Address string }

// emailSetting returns nil if the service sends no mail.
func (p *Pages) emailSetting(ctx context.Context, by actor.Actor) (*emailSetting, error) {
	if !p.Auth.Settings.OTPByEmail {
		return nil, nil
	}
	address, err := p.Auth.ConfirmedAddress(ctx, by)
	return &emailSetting{settingsOf(by.Role) + "/email", address}, err
}

// emailPage serves GET …/settings/email: it asks for the address.
func (p *Pages) emailPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.emailForm(ctx, r, by, r.Restored(new(Form)))
}

func (p *Pages) emailForm(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	setting, err := p.emailSetting(ctx, by)
	if err != nil {
		return Response{}, err
	}
	if setting == nil {
		return Response{}, fault.Missing()
	}
	v, err := p.emailView(ctx, r, by, f)
	if err != nil {
		return Response{}, err
	}
	v.Path = setting.Path
	v.Data = map[string]any{"Back": settingsOf(by.Role), "Path": setting.Path, "Address": setting.Address, "Fresh": p.HasRecentOTP(r, by.Role)}
	return FormPage("email", v), nil
}

func (p *Pages) emailView(ctx context.Context, r *Request, by actor.Actor, f *Form) (v *View, err error) {
	if by.Role == actor.Coach {
		v, err = p.CoachView(ctx, r, "settings", "email.title", by)
	} else {
		v = p.SignedInView(r, "email.title", by)
	}
	if err == nil {
		v.Form = f
	}
	return v, err
}

// sendToAddress serves POST …/settings/email: it sends a code to the address. A person who only holds
// an open session must not get another way in, so it needs an OTP of the last minutes.
func (p *Pages) sendToAddress(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	f, address, path := &Form{Values: r.Form}, r.Value("email"), settingsOf(by.Role)+"/email"
	if input.CheckEmail(address) != "" {
		f.Add("email", p.NewView(r, "email.title").MustT("invalid.invalid_email"))
		return p.emailForm(ctx, r, by, f)
	}
	if !p.HasRecentOTP(r, by.Role) {
		return Response{}, SignInError{Role: by.Role, Next: path, Cookies: p.KeepDraft(r)}
	}
	err := p.requestCode(ctx, auth.OTPRequest{Number: by.Number, Role: by.Role, Network: r.Address, ConfirmAddress: address})
	if err != nil && fault.CodeOf(err) != "otp_resend_too_soon" { // a code that was sent a moment ago can be entered
		if !isLimit(err) {
			return Response{}, err
		}
		p.AddError(r, f, "email", err)
		return p.emailForm(ctx, r, by, f)
	}
	cookie, err := p.sealedCookie(addressCookie, addressToConfirm{by.AccountID, address, p.Now().Add(pendingLifetime)}, pendingLifetime)
	return Redirect(path+"/code", cookie), err
}

// readAddress returns the address that the caller is about to confirm, or "".
func (p *Pages) readAddress(r *Request, by actor.Actor) string {
	c, err := r.Cookie(p.cookies.name(addressCookie))
	var a addressToConfirm
	if err != nil || !p.unseal(c, addressCookie, &a) || a.Account != by.AccountID || !p.Now().Before(a.Ends) {
		return ""
	}
	return a.Address
}

// emailCodePage serves GET …/settings/email/code: it asks for the code.
func (p *Pages) emailCodePage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.emailCodeForm(ctx, r, by, new(Form))
}

func (p *Pages) emailCodeForm(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	path, address := settingsOf(by.Role)+"/email", p.readAddress(r, by)
	if address == "" {
		return Redirect(path), nil
	}
	v, err := p.emailView(ctx, r, by, f)
	if err != nil {
		return Response{}, err
	}
	v.Path = path + "/code"
	v.Data = map[string]any{"Path": path, "Address": address}
	return FormPage("email_code", v), nil
}

// confirmAddress serves POST …/settings/email/code. The same form sent twice confirms once.
func (p *Pages) confirmAddress(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	f, address, done := &Form{Values: url.Values{}}, p.readAddress(r, by), Redirect(settingsOf(by.Role)+"?done=email")
	otp := otpDigits(r.Value("code"))
	if address == "" || len(otp) != p.Auth.Settings.OTPLength {
		f.Add("code", p.NewView(r, "code.title").MustT("code.code.fault", "Count", p.Auth.Settings.OTPLength))
		return p.emailCodeForm(ctx, r, by, f)
	}
	err := p.Auth.ConfirmAddress(ctx, by, address, otp)
	if fault.CodeOf(err) == "otp_expired" {
		if confirmed, err := p.Auth.ConfirmedAddress(ctx, by); err != nil || confirmed == address {
			return done, err
		}
	}
	switch {
	case err == nil:
		return done, nil // the cookie stays: the form may be sent again
	case isCodeFault(err):
		p.AddError(r, f, "code", err)
		return p.emailCodeForm(ctx, r, by, f)
	}
	return Response{}, err
}

// removeAddress serves POST …/settings/email/remove.
func (p *Pages) removeAddress(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	if err := p.Auth.RemoveAddress(ctx, by); err != nil {
		return Response{}, err
	}
	return Redirect(settingsOf(by.Role) + "?done=email_removed"), nil
}
