package web

import (
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// cookies makes the cookies of pages. The names of session and device cookies contain the role.
type cookies struct {
	// secure says that browsers reach the service over https.
	secure bool
}

// sessionName returns the name of the cookie of a role's session.
func (c cookies) sessionName(role actor.Role) string { return c.name("touchline-" + string(role)) }

// deviceName returns the name of the cookie of the device token that a role's last
// sign-in returned.
func (c cookies) deviceName(role actor.Role) string {
	return c.name("touchline-device-" + string(role))
}

// name returns the name of a cookie that holds a secret. On https no other host of the domain
// can set it: a sign-in that someone else began must not end in this browser.
func (c cookies) name(name string) string {
	if c.secure {
		return "__Host-" + name
	}
	return name
}

// cookie returns a cookie that scripts cannot read.
func (c cookies) cookie(name, value string, lifetime time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(lifetime / time.Second),
		HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteLaxMode,
	}
}

// remove returns a cookie that deletes the one with this name.
func (c cookies) remove(name string) *http.Cookie {
	removed := c.cookie(name, "", 0)
	removed.MaxAge = -1
	return removed
}
