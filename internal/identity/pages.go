package identity

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// CallbackPath is where providers send people back.
const CallbackPath = "/proof/callback"

// pages serves the pages of proofs.
type pages struct {
	*Service
	site *web.Pages
}

// Pages returns the way to a provider and back, and the page of a guardian's own proof.
func (s *Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	const player, own = "/me/guardian/players/{player_id}", "/me/guardian/proof"
	return []web.Route{
		// A link, because the policy of pages lets no form lead to another site. It changes nothing but the attempts of the caller.
		{Method: "GET", Pattern: player + "/proof/{provider}", Handle: site.SignedIn(actor.Guardian, p.begin)},
		{Method: "GET", Pattern: player + "/no-proof", Handle: site.SignedIn(actor.Guardian, p.cannot)},
		{Method: "GET", Pattern: CallbackPath, Handle: p.callback, Urgent: true},
		{Method: "GET", Pattern: own, Handle: site.SignedIn(actor.Guardian, p.own)},
		{Method: "POST", Pattern: own, Handle: site.SignedIn(actor.Guardian, p.withdraw), Urgent: true},
		{Method: "GET", Pattern: own + "/{proof_id}", Handle: site.SignedIn(actor.Guardian, p.finish)},
	}
}

// answerPage returns the page of the answer about a player, with how the proof ended.
func answerPage(playerID, how string) string {
	return web.PlayerPath(actor.Guardian, playerID) + "/answer?" + url.Values{"proof": {how}}.Encode()
}

// begin serves GET …/proof/{provider}: it leads to the provider.
func (p pages) begin(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.PathValue("player_id")
	_, address, err := p.Begin(ctx, by, id, r.PathValue("provider"), "")
	f, known := errors.AsType[*fault.Error](err)
	switch {
	case err == nil:
		return web.Redirect(address), nil
	case known && f.Kind == fault.TooMany:
		return web.Redirect(answerPage(id, "too_soon")), nil
	case known && f.Kind == fault.Unavailable:
		return web.Redirect(answerPage(id, string(Away))), nil
	case known && f.Kind == fault.Invalid:
		return web.Redirect(answerPage(id, "")), nil
	}
	return web.Response{}, err
}

// cannot serves GET …/no-proof: what a person can do who cannot prove it.
func (p pages) cannot(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.site.Question(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.SignedInView(r, "no_proof.title", by)
	v.Data = d
	return web.Page("no_proof", v), nil
}

// callback serves GET /proof/callback, to which a provider sends the browser. It ends on the page of the answer. Without a session of the
// guardian, as in another browser, it leads to the sign-in first: no one proves to be an adult for a stranger's number.
func (p pages) callback(ctx context.Context, r *web.Request) (web.Response, error) {
	by, _ := r.Actor(actor.Guardian)
	a, err := p.Answer(ctx, by, r.Value("state"), r.Value("code"), r.Value("error"))
	if fault.KindOf(err) == fault.NotFound { // too old, or never begun
		v := p.site.NewView(r, "proof_old.title")
		v.HidePath, v.Path = true, "/me/guardian"
		return web.Page("proof_old", v).With(http.StatusNotFound), nil
	}
	if err != nil {
		return web.Response{}, err
	}
	if a.Via != actor.ViaPage {
		return p.backToApp(r, a), nil
	}
	if a.State == attemptAnswered && a.Browser != "" {
		return web.Redirect("/me/guardian/proof/"+a.ID, p.site.Cookies.Set(browserCookie, a.Browser, 2*attemptFor)), nil
	}
	return web.Redirect("/me/guardian/proof/" + a.ID), nil
}

// browserCookie marks the browser in which a provider answered.
const browserCookie = "touchline-proof"

// backToApp leads to the app that began an attempt, or says that it is over.
func (p pages) backToApp(r *web.Request, a Attempt) web.Response {
	if a.ReturnTo != "" {
		u, err := url.Parse(a.ReturnTo)
		if err == nil {
			query := u.Query()
			query.Set("proof_id", a.ID)
			query.Set("state", a.State)
			u.RawQuery = query.Encode()
			return web.Redirect(u.String())
		}
	}
	v := p.site.NewView(r, "proof_app.title")
	v.Path = "/"
	v.Data = map[string]any{"Valid": a.State == attemptValid, "How": how(a)}
	return web.Page("proof_app", v)
}

// how returns the name of the text that says how an attempt ended.
func how(a Attempt) string {
	switch a.State {
	case attemptValid:
		return "valid"
	case attemptFailed:
		return string(a.Failure)
	}
	return string(Away)
}

// finish serves GET /me/guardian/proof/{proof_id}: it completes an attempt in a browser that has just signed in, and ends on the answer.
func (p pages) finish(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	a, err := p.Finish(ctx, by, r.PathValue("proof_id"), p.site.Cookies.Value(r, browserCookie))
	if err != nil {
		return web.Response{}, err
	}
	return web.Redirect(answerPage(a.PlayerID, how(a)), p.site.Cookies.Remove(browserCookie)), nil
}

// own serves GET /me/guardian/proof: the caller's proof, and how to withdraw it.
func (p pages) own(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	st, err := p.Status(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	label := st.Provider
	if known, ok := p.provider(st.Provider); ok {
		label = known.Label
	}
	v := p.site.SignedInView(r, "proof.title", by)
	v.Data = map[string]any{"Status": st, "Label": label, "Done": r.Value("done")}
	return web.Page("proof", v), nil
}

// withdraw serves POST /me/guardian/proof.
func (p pages) withdraw(ctx context.Context, _ *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.Withdraw(ctx, by); err != nil {
		return web.Response{}, err
	}
	return web.Redirect("/me/guardian/proof?done=withdrawn"), nil
}
