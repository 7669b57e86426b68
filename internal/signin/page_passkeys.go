package signin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// passkeyPages serves the pages of passkeys.
type passkeyPages struct {
	*auth.Passkeys
	pages
}

func (p passkeyPages) routes() []web.Route {
	routes := []web.Route{
		{Method: "POST", Pattern: "/sign-in/passkey/options", Handle: p.signInOptions},
		{Method: "POST", Pattern: "/sign-in/passkey", Handle: p.signIn},
		{Method: "GET", Pattern: "/.well-known/assetlinks.json", Handle: p.assetLinks},
		{Method: "GET", Pattern: "/.well-known/apple-app-site-association", Handle: p.appleApps},
	}
	for _, role := range actor.Roles {
		path := passkeysPath(role)
		routes = append(
			routes,
			web.Route{Method: "GET", Pattern: path, Handle: p.site.SignedIn(role, p.list)},
			web.Route{Method: "POST", Pattern: path, Handle: p.site.SignedIn(role, p.add)},
			web.Route{Method: "GET", Pattern: path + "/offer", Handle: p.site.SignedIn(role, p.offer)},
			web.Route{Method: "POST", Pattern: path + "/options", Handle: p.site.SignedIn(role, p.options)},
			web.Route{Method: "POST", Pattern: path + "/{passkey_id}/remove", Handle: p.site.SignedIn(role, p.remove), Urgent: true},
		)
	}
	return routes
}

// devicesPage returns the page that links to the passkeys of a role, and the key of its title.
func devicesPage(role actor.Role) (path, title string) {
	if role == actor.Coach {
		return web.SettingsPath, "settings.heading"
	}
	return web.Home(role) + "/devices", "devices.heading"
}

func passkeysPath(role actor.Role) string {
	if role == actor.Coach {
		return web.SettingsPath + "/passkeys"
	}
	return web.Home(role) + "/passkeys"
}

// list serves GET …/passkeys.
func (p passkeyPages) list(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	passkeys, err := p.List(ctx, by, "", maxDevices)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.SignedInView(r, "passkeys.title", by)
	if by.Role == actor.Coach {
		v = p.site.CoachView(r, "settings", "passkeys.title", by)
	}
	path := passkeysPath(by.Role)
	back, title := devicesPage(by.Role)
	v.Path = path
	v.Data = map[string]any{
		"Unknown": p.site.Cookies.Value(r, unknownCookie), "Back": back, "BackTitle": title, "Path": path, "Passkeys": passkeys, "Domain": p.Domain(), "Done": r.URL.Query().Get("done"),
		"Fresh": p.site.HasRecentOTP(r, by.Role), "SignIn": "/sign-in/" + string(by.Role) + "?" + url.Values{"next": {path}}.Encode(),
	}
	return web.Page("passkeys", v), nil
}

// options serves POST …/passkeys/options, for the script of the page.
func (p passkeyPages) options(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	role := p.site.NewView(r, "passkeys.title").MustT("role." + string(by.Role))
	c, err := p.BeginRegistration(ctx, by, auth.PasskeyLabel(role, by.Number))
	if err != nil {
		return web.Response{}, err
	}
	return challengeFor(c), nil
}

// challengeFor returns the response to the script of a page.
func challengeFor(c auth.PasskeyChallenge) web.Response {
	return web.Response{Header: http.Header{"Content-Type": {"application/json"}}, Write: func(w http.ResponseWriter, _ *http.Request) error {
		return json.NewEncoder(w).Encode(challengeResponse{c.ID, wire.Seconds(auth.PasskeyValidity), c.Options})
	}}
}

// add serves POST …/passkeys: the answer of the browser to the options.
func (p passkeyPages) add(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	done := "added"
	_, err := p.Register(ctx, by, web.IDOrNone(r.Value("challenge_id")), deviceName(r.UserAgent()), []byte(r.Value("credential")))
	if refused(err) {
		done, err = "failed", nil
	}
	if next := r.Value("next"); next != "" {
		return web.Redirect(offerPage(by.Role, next) + "&done=" + done), err
	}
	return web.Redirect(passkeysPath(by.Role) + "?done=" + done), err
}

// refused reports whether the answer of a browser cannot be accepted.
func refused(err error) bool {
	code := fault.CodeOf(err)
	return strings.HasPrefix(code, "passkey_") || code == "fresh_otp_required"
}

// remove serves POST …/passkeys/{passkey_id}/remove. It may be repeated.
func (p passkeyPages) remove(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	resp := web.Redirect(passkeysPath(by.Role) + "?done=removed")
	known, err := p.Passkey(ctx, by, r.PathValue("passkey_id"))
	if err == nil {
		resp.Cookies = append(resp.Cookies, p.site.Cookies.Set(unknownCookie, known.CredentialID(), unknownForNext))
		err = p.Remove(ctx, by, known.ID)
	}
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return web.Response{}, err
	}
	return resp, nil
}

// signInOptions serves POST /sign-in/passkey/options, for the script of the sign-in page.
func (p passkeyPages) signInOptions(ctx context.Context, r *web.Request) (web.Response, error) {
	c, err := p.BeginSignIn(ctx, r.Address)
	if err != nil {
		return web.Response{}, err
	}
	return challengeFor(c), nil
}

// signIn serves POST /sign-in/passkey. The passkey says which role signs in, which may be another one than
// that of the page.
func (p passkeyPages) signIn(ctx context.Context, r *web.Request) (web.Response, error) {
	lifetime := auth.PageLifetime
	if r.Value("remember") == "yes" {
		lifetime = auth.RememberedLifetime
	}
	grant, err := p.SignInToPages(ctx, auth.PasskeySignIn{
		ChallengeID: web.IDOrNone(r.Value("challenge_id")), Answer: []byte(r.Value("credential")),
		Proof: p.proof(r, SignIn{}), DeviceName: deviceName(r.UserAgent()),
	}, lifetime)
	if refused(err) {
		page, role := "/sign-in/family", r.Value("role")
		if actor.Role(role).Valid() {
			page = "/sign-in/" + role
		}
		resp := web.Redirect(page + "?" + url.Values{"next": {r.Value("next")}, "passkey": {"failed"}}.Encode())
		if errors.Is(err, auth.ErrUnknownPasskey) {
			resp.Cookies = append(resp.Cookies, p.site.Cookies.Set(unknownCookie, credentialID(r.Value("credential")), unknownForNext))
		}
		return resp, nil
	}
	if err != nil {
		return web.Response{}, err
	}
	session := grant.Session
	return p.signedInResponse(ctx, r, SignIn{Role: session.Role, Number: session.Number, Next: within(web.Home(session.Role), r.Value("next"))}, grant), nil
}

// within returns next if it is a page under home, else home.
func within(home, next string) string {
	if next = web.LocalPath(next); next != home && !strings.HasPrefix(next, home+"/") {
		return home
	}
	return next
}

// credentialID returns the id of the passkey in the answer of a browser.
func credentialID(answer string) string {
	var a struct {
		RawID string `json:"rawId"`
	}
	_ = json.Unmarshal([]byte(answer), &a) // it was parsed before
	return a.RawID
}
