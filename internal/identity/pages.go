package identity

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// CallbackPath is where providers send people back.
const CallbackPath = "/proof/callback"

// StartPath with the state is where an app sends its person.
const StartPath = "/proof/start/"

// pages serves the pages of proofs.
type pages struct {
	*Service
	site *web.Pages
}

// Pages returns the way to a provider and back, and the page of a guardian's own proof.
func (s *Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	const player, own = "/me/guardian/players/{player_id}", ownPath
	return []web.Route{
		// A link, because the policy of pages lets no form lead to another site. It changes nothing but the attempts of the caller.
		{Method: "GET", Pattern: player + "/proof/{provider}", Handle: site.SignedIn(actor.Guardian, p.begin)},
		{Method: "GET", Pattern: player + "/no-proof", Handle: site.SignedIn(actor.Guardian, p.cannot)},
		{Method: "GET", Pattern: StartPath + "{state}", Handle: p.opened},
		{Method: "GET", Pattern: StartPath + "{state}/provider", Handle: p.start},
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
	back, returnTo := func(how string) web.Response { return web.Redirect(answerPage(id, how)) }, ""
	if r.Value("from") == "own" {
		back, returnTo = func(how string) web.Response { return web.Redirect(ownPage(how)) }, ownPath
	}
	_, address, err := p.Begin(ctx, by, id, r.PathValue("provider"), returnTo)
	f, known := errors.AsType[*fault.Error](err)
	switch {
	case err == nil:
		return web.Redirect(address), nil
	case known && f.Kind == fault.TooMany:
		return back("too_soon"), nil
	case known && f.Kind == fault.Unavailable:
		return back(string(Away)), nil
	case known && f.Kind == fault.Invalid:
		return back(""), nil
	}
	return web.Response{}, err
}

// opened serves GET /proof/start/{state}, which an app opens: whose number is proved, and for which child. A browser goes no further by
// itself, because a stranger could have forwarded the address. A client that reads no HTML has no person in front of it, and is led on.
func (p pages) opened(ctx context.Context, r *web.Request) (web.Response, error) {
	state := r.PathValue("state")
	o, err := p.Opened(ctx, state)
	if fault.KindOf(err) == fault.NotFound {
		return p.tooOld(r), nil
	}
	if err != nil {
		return web.Response{}, err
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return p.leadOn(ctx, r, state, o.Asked)
	}
	v := p.site.NewView(r, "proof.make")
	v.InlineStyle, v.Path = true, StartPath+url.PathEscape(state)
	v.Data = map[string]any{"Number": web.Masked(o.Number), "Student": message.FirstName(o.Student), "Coach": message.Name(o.Coach, ""), "Label": o.Label}
	resp := web.Page("proof_start", v)
	resp.Cookies = append(resp.Cookies, p.site.Cookies.Set(browserCookie, o.Asked, attemptFor))
	return resp, nil
}

// start serves GET /proof/start/{state}/provider, the link of that page. It marks the browser and leads to the provider. A browser that
// has not seen the page sees it.
func (p pages) start(ctx context.Context, r *web.Request) (web.Response, error) {
	return p.leadOn(ctx, r, r.PathValue("state"), p.site.Cookies.Value(r, browserCookie))
}

func (p pages) leadOn(ctx context.Context, r *web.Request, state, asked string) (web.Response, error) {
	a, address, err := p.Start(ctx, state, asked)
	switch fault.KindOf(err) {
	case fault.NotFound:
		return p.tooOld(r), nil
	case fault.Forbidden:
		return web.Redirect(StartPath + url.PathEscape(state)), nil
	}
	if _, away := errors.AsType[*Error](err); away {
		return p.backToApp(r, Attempt{}), nil
	}
	if err != nil {
		return web.Response{}, err
	}
	return web.Redirect(address, p.site.Cookies.Set(browserCookie, a.Browser, attemptFor)), nil
}

// tooOld says that an attempt is over, or was never begun.
func (p pages) tooOld(r *web.Request) web.Response {
	v := p.site.NewView(r, "proof_old.title")
	v.HidePath, v.Path = true, "/me/guardian"
	return web.Page("proof_old", v).With(http.StatusNotFound)
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
	a, err := p.Answer(ctx, by, p.site.Cookies.Value(r, browserCookie), r.Value("state"), r.Value("code"), r.Value("error"))
	if fault.KindOf(err) == fault.NotFound {
		return p.tooOld(r), nil
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

// browserCookie marks the browser in which an app began, or in which a provider answered.
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
	to := answerPage(a.PlayerID, how(a))
	if a.ReturnTo == ownPath {
		to = ownPage(how(a))
	}
	return web.Redirect(to, p.site.Cookies.Remove(browserCookie)), nil
}

// ownPath is the page of the caller's proof.
const ownPath = "/me/guardian/proof"

// ownPage returns the page of the caller's proof, with how an attempt ended.
func ownPage(how string) string { return ownPath + "?" + url.Values{"proof": {how}}.Encode() }

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
	child, err := p.NewestChild(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	data := map[string]any{"Status": st, "Label": label, "Done": r.Value("done"), "Player": child}
	if st.State != Valid || st.EndsAt.Sub(p.Now()) <= toldBefore {
		data["Providers"] = p.Choices()
	}
	if ended := r.Value("proof"); slices.Contains(endings, ended) {
		data["Ended"] = ended
	}
	v.Data = data
	return web.Page("proof", v), nil
}

// withdraw serves POST /me/guardian/proof.
func (p pages) withdraw(ctx context.Context, _ *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.Withdraw(ctx, by); err != nil {
		return web.Response{}, err
	}
	return web.Redirect("/me/guardian/proof?done=withdrawn"), nil
}

// endings are how an attempt that began on the page of the caller's proof can end.
var endings = []string{"valid", string(Cancelled), string(Away), string(Untrusted), string(NoAge), string(WrongDate), string(Minor), "too_soon"}
