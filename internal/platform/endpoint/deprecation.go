package endpoint

import (
	"net/http"
	"strconv"
	"time"
)

// Deprecation says since when apps should not use an operation any more, and when it ends. The
// document has the operation with `deprecated: true`; docs/versions.md has the policy.
type Deprecation struct {
	Since time.Time
	// Ends is zero while no date is set.
	Ends time.Time
}

// setHeaders writes Deprecation (RFC 9745) and Sunset (RFC 8594).
func (d Deprecation) setHeaders(h http.Header) {
	if d.Since.IsZero() {
		return
	}
	h.Set("Deprecation", "@"+strconv.FormatInt(d.Since.Unix(), 10))
	if !d.Ends.IsZero() {
		h.Set("Sunset", d.Ends.UTC().Format(http.TimeFormat))
	}
}
