package web

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// sealedBytes is the length of the content of a sealed cookie before it is encrypted, so that the length
// of the cookie shows nothing.
const sealedBytes = 1 << 10

// Cookies reads and makes the cookies of pages.
type Cookies struct {
	// secure says that browsers reach the service over https.
	secure bool
}

// SessionCookie returns the name of the cookie of a role's session.
func SessionCookie(role actor.Role) string { return "touchline-" + string(role) }

// DeviceCookie returns the name of the cookie of the device token that a role's last
// sign-in returned.
func DeviceCookie(role actor.Role) string { return "touchline-device-" + string(role) }

// name returns the name of a cookie in the browser. On https no other host of the domain can set
// it: a sign-in that someone else began must not end in this browser.
func (c Cookies) name(name string) string {
	if c.secure {
		return "__Host-" + name
	}
	return name
}

// Value returns the value of a cookie, or "".
func (c Cookies) Value(r *Request, name string) string {
	if cookie, err := r.Cookie(c.name(name)); err == nil {
		return cookie.Value
	}
	return ""
}

// Set returns a cookie that scripts cannot read.
func (c Cookies) Set(name, value string, lifetime time.Duration) *http.Cookie {
	return c.cookie(c.name(name), value, lifetime)
}

// Remove returns a cookie that deletes the one with this name.
func (c Cookies) Remove(name string) *http.Cookie {
	removed := c.Set(name, "", 0)
	removed.MaxAge = -1
	return removed
}

func (c Cookies) cookie(name, value string, lifetime time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(lifetime / time.Second),
		HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteLaxMode,
	}
}

// SealedCookie returns a cookie with the encrypted JSON of v.
func (p *Pages) SealedCookie(name string, v any, lifetime time.Duration) (*http.Cookie, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	plain = append(plain, strings.Repeat(" ", max(0, sealedBytes-len(plain)))...)
	return p.seal(name, plain, lifetime), nil
}

// Unseal decrypts the JSON of a cookie of SealedCookie.
func (p *Pages) Unseal(r *Request, name string, into any) bool {
	plain, ok := p.open(r, name)
	return ok && json.Unmarshal(plain, into) == nil
}

func (p *Pages) seal(name string, plain []byte, lifetime time.Duration) *http.Cookie {
	return p.Cookies.Set(name, base64.RawURLEncoding.EncodeToString(p.Sealer.Seal(plain, name)), lifetime)
}

// open decrypts a cookie.
func (p *Pages) open(r *Request, name string) (plain []byte, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(p.Cookies.Value(r, name))
	if err != nil {
		return nil, false
	}
	plain, err = p.Sealer.Open(sealed, name)
	return plain, err == nil
}
