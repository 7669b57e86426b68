package endpoint

import (
	"net/http"

	"github.com/touchline/touchline/internal/fault"
)

// maxLargeBodies limits the bodies of more than maxBody that are in memory at the same time.
const maxLargeBodies = 16

// bodyLimit returns the largest body that a request may have, in bytes, and reserves one of
// maxLargeBodies for a body of more than maxBody. Such a body must have a Content-Length.
func (a *Adapter[C]) bodyLimit(w http.ResponseWriter, r *http.Request, rt *Route[C]) (limit int64, release func(), err error) {
	switch {
	case rt.Body.isUpload():
		return rt.MaxUpload, func() {}, nil
	case r.ContentLength <= maxBody: // also an unknown length
		return maxBody, func() {}, nil
	case r.ContentLength > rt.MaxBody:
		return max(maxBody, rt.MaxBody), func() {}, nil
	}
	select {
	case a.largeBodies <- struct{}{}:
		return rt.MaxBody, func() { <-a.largeBodies }, nil
	default:
		closeConnection(w) // the body is not read
		return 0, nil, fault.Overloaded("Too many large requests are being handled. Send it again.")
	}
}
