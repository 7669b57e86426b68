package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Request is one request to a page. Form has the fields of a posted form, or the query.
type Request struct {
	*http.Request
	// Language is the code of the language of the page.
	Language string
	// Address is the client's network, as limits count it.
	Address string
	// Sessions are the signed-in sessions of this browser, at most one for each role.
	Sessions map[actor.Role]*auth.Session

	// Operator is the signed-in operator, nil on the public listener.
	Operator *operator.Session
	// Zone is the time zone of the signed-in caller of the page, or nil.
	Zone *time.Location

	// hasPage says that the path answers GET too.
	hasPage bool
	// draft is the form that the person filled in before the browser signed in again, or nil.
	draft url.Values
	w     http.ResponseWriter
}

// LiveHeader is a header of the requests with which page.js loads a page again.
const LiveHeader = "Touchline-Live"

// Actor returns the caller in a role, if this browser is signed in as one.
func (r *Request) Actor(role actor.Role) (actor.Actor, bool) {
	s := r.Sessions[role]
	if s == nil {
		return actor.Actor{}, false
	}
	by := s.Actor()
	by.Network, by.Via = r.Address, actor.ViaPage
	return by, true
}

// Value returns a field of the form without spaces around it, and without NUL and bytes
// that are not UTF-8, which PostgreSQL refuses.
func (r *Request) Value(name string) string {
	return strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(r.Form.Get(name), "\x00", ""), ""))
}

// checkIDs returns not_found if a part of the path that must be an identifier is none. A training also has a name from its
// batch and day, which its handlers check.
func (r *Request) checkIDs(pattern string) error {
	for _, part := range strings.Split(pattern, "{")[1:] {
		name, _, _ := strings.Cut(part, "}")
		if strings.HasSuffix(name, "_id") && name != "training_id" && !endpoint.IsID(r.PathValue(name)) {
			return fault.Missing()
		}
	}
	return nil
}

// IDOrNone returns text if it is an id, else "".
func IDOrNone(text string) string {
	if endpoint.IsID(text) {
		return text
	}
	return ""
}

// Response is the response of a page: a rendered template, a redirect, or Write.
type Response struct {
	// Status is 200 if it is 0, and 303 for a redirect.
	Status int
	// Template is the name of a template without ".html", and View its data.
	Template string
	View     *View
	// Redirect is the path to which the browser goes.
	Redirect string
	Cookies  []*http.Cookie
	// Public says that everyone gets this page: caches may keep it for a minute, and search
	// engines may list it.
	Public bool
	// Frames says that the page shows files of the service in frames.
	Frames bool
	Header http.Header
	// Write, if not nil, writes the whole response after the headers and cookies are set. If it
	// returns an error, it has written nothing, and a page with the error follows.
	Write func(w http.ResponseWriter, r *http.Request) error
}

// Redirect sends the browser to path with GET.
func Redirect(path string, cookies ...*http.Cookie) Response {
	return Response{Redirect: path, Cookies: cookies}
}

// Page renders a template.
func Page(template string, v *View) Response { return Response{Template: template, View: v} }

// FormPage renders a template with the form of v; see withFaults.
func FormPage(template string, v *View) Response {
	return Page(template, v).withFaults(v.Form)
}

// With returns the response with another status.
func (r Response) With(status int) Response {
	r.Status = status
	return r
}

// Time returns a time that a form carries as microseconds since 1970; zero if it has none.
func (r *Request) Time(name string) time.Time {
	micros, err := strconv.ParseInt(r.Value(name), 10, 64)
	if err != nil || micros <= 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros)
}
