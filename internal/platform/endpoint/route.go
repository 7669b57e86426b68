package endpoint

import (
	"cmp"
	"context"
	"net/http"
	"time"
)

// defaultTimeout limits the time of a request, unless its route sets another.
const defaultTimeout = 10 * time.Second

// Route is one operation. By default it needs authentication, has no body and returns
// JSON.
type Route[C any] struct {
	Method  string
	Pattern string // in the syntax of http.ServeMux, without the method
	Handle  Handler[C]

	// Authenticate replaces the function of the adapter.
	Authenticate func(*http.Request) (C, error)
	// Authorize are the checks of the caller, in order.
	Authorize []func(context.Context, C) error
	Body      BodyKind
	// Query names the parameters of the query. See queryFaults for the others.
	Query []string
	// MaxUpload limits a Multipart or CSV body, in bytes.
	MaxUpload int64
	// MaxBody limits a body that is not an upload, in bytes; 0 means 64 KiB.
	MaxBody int64
	// Produces is the media type of the response: application/json if it is empty.
	Produces string
	// Alternative is another media type of the response; the handler calls
	// wire.Preferred. It may be empty.
	Alternative string
	// Timeout limits the time of a request; 0 means 10 s. A handler of a Multipart or CSV
	// body has its own limits instead.
	Timeout time.Duration
	// NoTimeout is for a response that stays open: a stream.
	NoTimeout bool
	// Urgent requests are refused last when the process is overloaded: those that end a
	// session, stop messages or decide, and public keys.
	Urgent bool
	// NoLimits exempts the route from the rate limit per address and from the limit of
	// requests in flight.
	NoLimits bool
	// Deprecated is zero for an operation that apps may use.
	Deprecated Deprecation
	// Acquire takes a limited resource for the caller until the response is written. It runs
	// before an upload is read.
	Acquire func(context.Context, C) (release func(), err error)
}

// mediaTypes are the media types of the response.
func (rt *Route[C]) mediaTypes() []string {
	types := []string{cmp.Or(rt.Produces, mediaJSON)}
	if rt.Alternative != "" {
		types = append(types, rt.Alternative)
	}
	return types
}

// Public is the Authenticate of a route without authentication.
func Public[C any](*http.Request) (none C, err error) { return none, nil }
