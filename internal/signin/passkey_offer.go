package signin

import (
	"context"
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/web"
)

// unknownCookie has the id of a passkey that the service does not know or has removed, for the next page: its script tells the
// device. It is not in the address, because a link of a stranger must not make the device forget a passkey.
const (
	unknownCookie  = "touchline-unknown-passkey"
	unknownForNext = time.Minute
)

// addPasskeys adds to the data of the page of the sign-in what its script needs.
func (p pages) addPasskeys(r *web.Request, data map[string]any) {
	domain := p.Passkeys.Domain()
	data["PasskeyDomain"], data["PasskeyFailed"], data["PasskeyUnknown"] = domain, r.Value("passkey") == "failed", p.site.Cookies.Value(r, unknownCookie)
	data["Autocomplete"] = "tel"
	if domain != "" {
		data["Autocomplete"] = "username webauthn" // the field offers passkeys
	}
}

// offeredFor is how long a browser knows that it was asked whether to add a passkey. Each sign-in renews it.
const offeredFor = 400 * 24 * time.Hour

func offeredCookie(role actor.Role) string { return web.DeviceCookie(role) + "-offered" }

// offerPage returns the page that offers a passkey and leads to next.
func offerPage(role actor.Role, next string) string {
	return passkeysPath(role) + "/offer?" + url.Values{"next": {next}}.Encode()
}

// offerPasskey responds to a correct code. At the second sign-in on a device it leads to the page that offers a passkey, once,
// if the browser says that it can have one. It does not interrupt a person who came to answer a question.
func (p pages) offerPasskey(ctx context.Context, r *web.Request, s SignIn, grant *auth.PageGrant) web.Response {
	offered := p.site.Cookies.Value(r, offeredCookie(s.Role)) != ""
	again := p.site.Cookies.Value(r, web.DeviceCookie(s.Role)) == grant.DeviceToken
	if !offered && again && r.Value("passkeys") == "yes" && !s.FromLink && !s.SignedIn && !p.hasPasskey(ctx, grant.Session.Actor()) {
		s.Next, offered = offerPage(s.Role, s.Next), true
	}
	resp := p.signedInResponse(ctx, r, s, grant)
	if offered {
		resp.Cookies = append(resp.Cookies, p.site.Cookies.Set(offeredCookie(s.Role), "yes", offeredFor))
	}
	return resp
}

// hasPasskey reports whether the account has a passkey, or cannot have one here.
func (p pages) hasPasskey(ctx context.Context, by actor.Actor) bool {
	if p.Passkeys.Domain() == "" {
		return true
	}
	found, err := p.Passkeys.List(ctx, by, "", 1)
	if err != nil { // the code is used up, and the session must not be lost
		p.site.Log.WarnContext(ctx, "look for passkeys", "trace_id", httpx.InfoFrom(ctx).TraceID, "error", err)
	}
	return err != nil || len(found) > 0
}

// offer serves GET …/passkeys/offer: it asks once whether the person wants a passkey. No changes nothing.
func (p passkeyPages) offer(_ context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	v := p.site.SignedInView(r, "passkeys.offer.title", by)
	v.Path = offerPage(by.Role, r.Value("next"))
	v.Data = map[string]any{
		"Path": passkeysPath(by.Role), "Next": within(web.Home(by.Role), r.Value("next")), "Domain": p.Domain(), "Done": r.URL.Query().Get("done"),
	}
	return web.Page("passkey_offer", v), nil
}
