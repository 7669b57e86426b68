package web

import (
	"context"
	"net/http"
	"net/url"

	"github.com/touchline/touchline/internal/platform/actor"
)

const (
	closePath     = SettingsPath + "/close"
	closeCodePath = closePath + "/code"
	closedPath    = "/account-closed"
)

// closeAccountPage serves GET /coach/settings/close: what ends with the account.
func (p *Pages) closeAccountPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.closeForm(ctx, r, by, "close_account", new(Form))
}

func (p *Pages) closeForm(ctx context.Context, r *Request, by actor.Actor, template string, f *Form) (Response, error) {
	v, err := p.CoachView(ctx, r, "settings", "close.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, closePath
	if template == "close_account_code" {
		v.Path = closeCodePath
	}
	v.Data = map[string]any{"Sent": r.URL.Query().Get("sent") == "again"}
	return FormPage(template, v), nil
}

// sendCloseCode serves POST /coach/settings/close: it sends a code to the caller's number.
func (p *Pages) sendCloseCode(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	again := r.Value("again") == "yes"
	pending := SignIn{Role: by.Role, Number: by.Number}
	send := p.sendCode
	if again {
		send = func(ctx context.Context, r *Request, s SignIn) error {
			return p.requestCode(ctx, p.otpRequest(r, s))
		}
	}
	err := send(ctx, r, pending)
	switch {
	case err == nil && again:
		return Redirect(closeCodePath + "?sent=again"), nil
	case err == nil:
		return Redirect(closeCodePath), nil
	case !isLimit(err):
		return Response{}, err
	}
	f := new(Form)
	if again {
		p.AddError(r, f, "code", err)
		return p.closeForm(ctx, r, by, "close_account_code", f)
	}
	p.AddError(r, f, "", err)
	return p.closeForm(ctx, r, by, "close_account", f)
}

// closeCodePage serves GET /coach/settings/close/code: it asks for the code.
func (p *Pages) closeCodePage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.closeForm(ctx, r, by, "close_account_code", new(Form))
}

// closeAccount serves POST /coach/settings/close/code. The second of two equal forms no
// longer finds a session; it must not lead to the sign-in, which would register a new account.
func (p *Pages) closeAccount(ctx context.Context, r *Request) (Response, error) {
	if _, ok := r.Actor(actor.Coach); !ok {
		return Redirect(closedPath + "?signed-out"), nil
	}
	return p.SignedIn(actor.Coach, p.closeWithCode)(ctx, r)
}

func (p *Pages) closeWithCode(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	f := &Form{Values: url.Values{}}
	otp := otpDigits(r.Value("code"))
	if len(otp) != p.Auth.Settings.OTPLength {
		f.Add("code", p.NewView(r, "code.title").MustT("code.code.fault", "Count", p.Auth.Settings.OTPLength))
		return p.closeForm(ctx, r, by, "close_account_code", f)
	}
	err := p.Auth.Close(ctx, by, p.proof(r, SignIn{Role: by.Role}).DeviceToken, otp)
	switch {
	case err == nil:
		p.Streams.Hub.Wake(by.AccountID)
		return Redirect(closedPath, p.forget(actor.Coach)...), nil
	case isCodeFault(err):
		p.AddError(r, f, "code", err)
		return p.closeForm(ctx, r, by, "close_account_code", f)
	}
	return Response{}, err
}

// forget returns cookies that remove what this browser knows of an account.
func (p *Pages) forget(role actor.Role) []*http.Cookie {
	var removed []*http.Cookie
	for _, name := range []string{p.cookies.sessionName(role), p.cookies.deviceName(role), p.cookies.name(draftCookie), p.cookies.name(newNumberCookie)} {
		removed = append(removed, p.cookies.remove(name))
	}
	return removed
}

// accountClosed serves GET /account-closed.
func (p *Pages) accountClosed(_ context.Context, r *Request) (Response, error) {
	v := p.NewView(r, "close.title")
	v.Data = map[string]any{"SignedOut": r.URL.Query().Has("signed-out")}
	return Page("account_closed", v), nil
}
