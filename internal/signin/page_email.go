package signin

import (
	"context"
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// addressCookie holds an address between the page that asks for it and the page that asks for its
// code. It is encrypted.
const addressCookie = "touchline-address"

// addressToConfirm is the address that an account is about to confirm.
type addressToConfirm struct {
	Account, Address string
	Ends             time.Time
}

func emailPath(role actor.Role) string { return web.SettingsOf(role) + "/email" }

// emailPage serves GET …/settings/email: it asks for the address.
func (p pages) emailPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.emailForm(ctx, r, by, r.Restored(new(web.Form)))
}

func (p pages) emailForm(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	if !p.Auth.Settings.OTPByEmail {
		return web.Response{}, fault.Missing()
	}
	confirmed, err := p.Auth.Store.ConfirmedAddress(ctx, by.Number, by.Role)
	if err != nil {
		return web.Response{}, err
	}
	v := p.emailView(r, by, f)
	v.Path = emailPath(by.Role)
	v.Data = map[string]any{"Back": web.SettingsOf(by.Role), "Path": v.Path, "Address": confirmed, "Family": by.Role != actor.Coach, "Fresh": p.site.HasRecentOTP(r, by.Role)}
	return web.FormPage("email", v), nil
}

func (p pages) emailView(r *web.Request, by actor.Actor, f *web.Form) *web.View {
	v := p.site.SignedInView(r, "email.title", by)
	if by.Role == actor.Coach {
		v = p.site.CoachView(r, "settings", "email.title", by)
	}
	v.Form = f
	return v
}

// sendToAddress serves POST …/settings/email: it sends a code to the address. A person who only holds
// an open session must not get another way in, so it needs an OTP of the last minutes.
func (p pages) sendToAddress(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	f, path := &web.Form{Values: r.Form}, emailPath(by.Role)
	address, wrong := input.ReadEmail(r.Value("email"))
	if wrong != "" {
		f.Add("email", p.site.NewView(r, "email.title").MustT("invalid.invalid_email"))
		return p.emailForm(ctx, r, by, f)
	}
	if !p.site.HasRecentOTP(r, by.Role) {
		return web.Response{}, web.SignInError{Role: by.Role, Next: path, Cookies: p.site.KeepDraft(r)}
	}
	err := p.requestCode(ctx, auth.OTPRequest{Number: by.Number, Role: by.Role, Network: r.Address, ConfirmAddress: address})
	if err != nil && fault.CodeOf(err) != "otp_resend_too_soon" { // a code that was sent a moment ago can be entered
		if !isLimit(err) {
			return web.Response{}, err
		}
		p.site.AddError(r, f, "email", err)
		return p.emailForm(ctx, r, by, f)
	}
	cookie, err := p.site.SealedCookie(addressCookie, addressToConfirm{by.AccountID, address, p.site.Now().Add(pendingLifetime)}, pendingLifetime)
	return web.Redirect(path+"/code", cookie), err
}

// readAddress returns the address that the caller is about to confirm, or "".
func (p pages) readAddress(r *web.Request, by actor.Actor) string {
	var a addressToConfirm
	if !p.site.Unseal(r, addressCookie, &a) || a.Account != by.AccountID || !p.site.Now().Before(a.Ends) {
		return ""
	}
	return a.Address
}

// emailCodePage serves GET …/settings/email/code: it asks for the code.
func (p pages) emailCodePage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.emailCodeForm(ctx, r, by, new(web.Form))
}

func (p pages) emailCodeForm(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	path, address := emailPath(by.Role), p.readAddress(r, by)
	if address == "" {
		return web.Redirect(path), nil
	}
	v := p.emailView(r, by, f)
	v.Path = path + "/code"
	v.Data = map[string]any{"Path": path, "Address": address}
	return web.FormPage("email_code", v), nil
}

// confirmAddress serves POST …/settings/email/code. The same form sent twice confirms once.
func (p pages) confirmAddress(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	f, address, done := &web.Form{Values: url.Values{}}, p.readAddress(r, by), web.Redirect(web.SettingsOf(by.Role)+"?done=email")
	otp := input.Code(r.Value("code"))
	if address == "" || len(otp) != p.Auth.Settings.OTPLength {
		f.Add("code", p.site.NewView(r, "code.title").MustT("code.code.fault", "Count", p.Auth.Settings.OTPLength))
		return p.emailCodeForm(ctx, r, by, f)
	}
	err := p.Auth.ConfirmAddress(ctx, by, address, otp)
	if fault.CodeOf(err) == "otp_expired" {
		if confirmed, err := p.Auth.Store.ConfirmedAddress(ctx, by.Number, by.Role); err != nil || confirmed == address {
			return done, err
		}
	}
	switch {
	case err == nil:
		return done, nil // the cookie stays: the form may be sent again
	case isCodeFault(err):
		p.site.AddError(r, f, "code", err)
		return p.emailCodeForm(ctx, r, by, f)
	}
	return web.Response{}, err
}

// removeAddress serves POST …/settings/email/remove.
func (p pages) removeAddress(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.Auth.Store.RemoveAddress(ctx, by.Number, by.Role); err != nil {
		return web.Response{}, err
	}
	return web.Redirect(web.SettingsOf(by.Role) + "?done=email_removed"), nil
}
