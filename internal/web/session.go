package web

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/team"
)

// identifyAccounts resolves the session cookies of the request. A cookie of an ended session
// counts as none.
func (p *Pages) identifyAccounts(ctx context.Context, r *Request) error {
	for _, role := range actor.Roles {
		token := p.Cookies.Value(r, SessionCookie(role))
		if token == "" {
			continue
		}
		s, err := p.Auth.PageSession(ctx, token)
		if fault.KindOf(err) == fault.Unauthenticated {
			continue
		}
		if err != nil {
			return err
		}
		if s.Role != role {
			continue
		}
		if r.Sessions == nil {
			r.Sessions = map[actor.Role]*auth.Session{}
		}
		r.Sessions[role] = s
	}
	return nil
}

// SignInError says that a page needs a session in a role. The browser goes to the page of
// the sign-in, and afterwards to Next.
type SignInError struct {
	Role actor.Role
	Next string
	// Cookies keep what the person wrote.
	Cookies []*http.Cookie
}

// Error implements error.
func (e SignInError) Error() string { return "sign-in is needed as " + string(e.Role) }

// redirect goes to the sign-in.
func (e SignInError) redirect() Response {
	return Redirect("/sign-in/"+string(e.Role)+"?"+url.Values{"next": {e.Next}}.Encode(), e.Cookies...)
}

// SignedIn returns a handler that is called with a caller in a role. Without a session it
// leads to the sign-in. A form that was rendered for another account changes nothing. The identifiers in the path are valid.
func (p *Pages) SignedIn(role actor.Role, h func(context.Context, *Request, actor.Actor) (Response, error)) Handler {
	return func(ctx context.Context, r *Request) (Response, error) {
		by, ok := r.Actor(role)
		if !ok {
			if r.Method == http.MethodPost {
				return Response{}, SignInError{Role: role, Next: formPage(r), Cookies: p.KeepDraft(r)}
			}
			return Response{}, SignInError{Role: role, Next: r.URL.Path}
		}
		if info := httpx.InfoFrom(ctx); info != nil {
			info.AccountID, info.SessionID = by.AccountID, by.SessionID
			if err := r.checkIDs(info.Route); err != nil {
				return Response{}, err
			}
		}
		zone, err := p.zone(ctx, by)
		if err != nil {
			return Response{}, err
		}
		r.Zone = zone
		if r.Method == http.MethodPost && r.Form != nil && r.Form.Get("account") != by.AccountID { // WithUpload checks its forms
			return p.OtherAccount(r, by), nil
		}
		return p.withDraft(r, by, func() (Response, error) { return h(ctx, r, by) })
	}
}

// zone returns the time zone of the caller: the chosen one, or the zone of the number.
func (p *Pages) zone(ctx context.Context, by actor.Actor) (*time.Location, error) {
	name, err := p.Preferences.TimeZone(ctx, by.Number)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = by.Number.TimeZone()
	}
	return team.Zone(name), nil
}

// formPage returns the page of a form that was sent without a session.
func formPage(r *Request) string {
	if referer, err := url.Parse(r.Referer()); err == nil && referer.Host == r.Host {
		return LocalPath(referer.Path)
	}
	return "/"
}

// OtherAccount is the page for a form that was rendered for another account.
func (p *Pages) OtherAccount(r *Request, by actor.Actor) Response {
	v := p.SignedInView(r, "other_account.title", by)
	v.Data = map[string]any{"Number": Masked(by.Number), "Back": formPage(r)}
	return Page("other_account", v).With(http.StatusConflict)
}

// SignedInView returns the View of a page for a signed-in account.
func (p *Pages) SignedInView(r *Request, title string, by actor.Actor) *View {
	v := p.NewView(r, title)
	v.Caller = &by
	if s := r.Sessions[by.Role]; s != nil {
		v.NotificationSeq = s.NotificationSeq
	}
	return v
}

// HasRecentOTP reports whether the caller's OTP is recent enough to approve.
func (p *Pages) HasRecentOTP(r *Request, role actor.Role) bool {
	s := r.Sessions[role]
	return s != nil && s.HasRecentOTP(p.Now())
}

// Home returns the first page of a role.
func Home(role actor.Role) string {
	if role == actor.Coach {
		return "/coach"
	}
	return "/me/" + string(role)
}

// SettingsOf returns the page of the settings of a role.
func SettingsOf(role actor.Role) string { return Home(role) + "/settings" }
