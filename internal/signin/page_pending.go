package signin

import (
	"net/http"
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/web"
)

// pendingCookie holds a sign-in between the page that asks for the number and the page
// that asks for the code, so that the second one survives a reload.
const (
	pendingCookie   = "touchline-sign-in"
	pendingLifetime = 15 * time.Minute
	// pendingRemembered is how long the browser knows where an expired sign-in began.
	pendingRemembered = 24 * time.Hour
)

// SignIn is a sign-in that waits for its code. The cookie encrypts it: it must not
// show whether a short code and a number matched.
type SignIn struct {
	Role   actor.Role
	Number phone.Number
	// Silent says that the short code and the number did not match: no SMS left.
	Silent bool
	// FromLink says that the sign-in began at a link or short code. Link is the token of
	// the link, or empty.
	FromLink bool
	Link     string
	// ByEmail says that the code goes to the confirmed address of the number.
	ByEmail bool
	// Asks is the channel on which the person asks for the code, or empty.
	Asks auth.Incoming
	// SignedIn says that a caller with a session proves the number again.
	SignedIn bool
	Next     string
	// Remember is true if the session lasts 30 days.
	Remember bool
	// SessionID is the id of the session that the code begins. The form of the code, sent
	// twice, leads to one session.
	SessionID string
	Ends      time.Time
}

// toCode goes to the page that asks for the code of s.
func (p pages) toCode(s SignIn, cookies ...*http.Cookie) (web.Response, error) {
	s.Ends = p.site.Now().Add(pendingLifetime)
	s.SessionID = p.Auth.NewID()
	cookie, err := p.site.SealedCookie(pendingCookie, s, pendingRemembered)
	return web.Redirect("/sign-in/code", append(cookies, cookie)...), err
}

// readPending returns the sign-in that waits for its code; ok is false if there is none.
func (p pages) readPending(r *web.Request) (s SignIn, ok bool) {
	if !p.site.Unseal(r, pendingCookie, &s) {
		return SignIn{}, false
	}
	return s, p.site.Now().Before(s.Ends)
}

// beginAgain goes to the page where the sign-in s began, because it has expired.
func beginAgain(s SignIn) web.Response { return web.Redirect(s.firstPage()) }

// firstPage returns the page where the sign-in began, or the start page if s is empty.
func (s SignIn) firstPage() string {
	switch {
	case s.SignedIn:
		return s.Next
	case s.Link != "":
		return "/a/" + s.Link
	case s.FromLink:
		return "/a"
	case s.Role != "":
		return "/sign-in/" + string(s.Role) + "?" + url.Values{"next": {s.Next}}.Encode()
	}
	return "/"
}
