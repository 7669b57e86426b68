package signin

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

const (
	closePath     = web.SettingsPath + "/close"
	closeCodePath = closePath + "/code"
	closedPath    = "/account-closed"
)

// closeAccountPage serves GET /coach/settings/close: what ends with the account.
func (p pages) closeAccountPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.closeForm(ctx, r, by, "close_account", new(web.Form))
}

func (p pages) closeForm(ctx context.Context, r *web.Request, by actor.Actor, template string, f *web.Form) (web.Response, error) {
	v := p.site.CoachView(r, "settings", "close.title", by)
	v.Form, v.Path = f, closePath
	if template == "close_account_code" {
		v.Path = closeCodePath
	}
	v.Data = map[string]any{"Sent": r.URL.Query().Get("sent") == "again"}
	return web.FormPage(template, v), nil
}

// sendCloseCode serves POST /coach/settings/close: it sends a code to the caller's number.
func (p pages) sendCloseCode(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	again := r.Value("again") == "yes"
	pending := SignIn{Role: by.Role, Number: by.Number}
	send := p.sendCode
	if again {
		send = func(ctx context.Context, r *web.Request, s SignIn) error {
			return p.requestCode(ctx, p.otpRequest(r, s))
		}
	}
	err := send(ctx, r, pending)
	switch {
	case err == nil && again:
		return web.Redirect(closeCodePath + "?sent=again"), nil
	case err == nil:
		return web.Redirect(closeCodePath), nil
	case !isLimit(err):
		return web.Response{}, err
	}
	f := new(web.Form)
	if again {
		p.site.AddError(r, f, "code", err)
		return p.closeForm(ctx, r, by, "close_account_code", f)
	}
	p.site.AddError(r, f, "", err)
	return p.closeForm(ctx, r, by, "close_account", f)
}

// closeCodePage serves GET /coach/settings/close/code: it asks for the code.
func (p pages) closeCodePage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.closeForm(ctx, r, by, "close_account_code", new(web.Form))
}

// closeAccount serves POST /coach/settings/close/code. The second of two equal forms no
// longer finds a session; it must not lead to the sign-in, which would register a new account.
func (p pages) closeAccount(ctx context.Context, r *web.Request) (web.Response, error) {
	if _, ok := r.Actor(actor.Coach); !ok {
		return web.Redirect(closedPath + "?signed-out"), nil
	}
	return p.site.SignedIn(actor.Coach, p.closeWithCode)(ctx, r)
}

func (p pages) closeWithCode(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	f := &web.Form{Values: url.Values{}}
	otp := input.Code(r.Value("code"))
	if len(otp) != p.Auth.Settings.OTPLength {
		f.Add("code", p.site.NewView(r, "code.title").MustT("code.code.fault", "Count", p.Auth.Settings.OTPLength))
		return p.closeForm(ctx, r, by, "close_account_code", f)
	}
	err := p.Auth.Close(ctx, by, p.proof(r, SignIn{Role: by.Role}).DeviceToken, otp)
	switch {
	case err == nil:
		p.Streams.Hub.Wake(by.AccountID)
		remove := p.site.Cookies.Remove // what this browser knows of the account
		return web.Redirect(closedPath, remove(web.SessionCookie(by.Role)), remove(web.DeviceCookie(by.Role)), p.site.DropDraft(), remove(newNumberCookie)), nil
	case isCodeFault(err):
		p.site.AddError(r, f, "code", err)
		return p.closeForm(ctx, r, by, "close_account_code", f)
	}
	return web.Response{}, err
}

// accountClosed serves GET /account-closed.
func (p pages) accountClosed(_ context.Context, r *web.Request) (web.Response, error) {
	v := p.site.NewView(r, "close.title")
	v.Data = map[string]any{"SignedOut": r.URL.Query().Has("signed-out")}
	return web.Page("account_closed", v), nil
}
