package endpoint

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/wire"
)

// Paged are the query parameters of a list, with others that it has.
func Paged(others ...string) []string { return append([]string{"limit", "cursor"}, others...) }

// queryFaults returns a fault for each parameter of the query that the route does not have or that
// cannot be decoded, such as q=50%: without it a list would not be filtered. Outside of /api and
// /auth, providers, probes and browsers may add parameters.
func (rt *Route[C]) queryFaults(m Meta[C]) wire.Faults {
	raw := m.http.URL.RawQuery
	if raw == "" || !rt.isAPI() {
		return nil
	}
	var f wire.Faults
	for part := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(part, "=")
		if decoded, err := url.QueryUnescape(name); err == nil {
			name = decoded
		}
		pointer := wire.PointTo("", name)
		switch _, err := url.ParseQuery(part); {
		case part == "" || f.Has(pointer):
		case err != nil:
			f.Add(pointer, "invalid_value", "This cannot be decoded. Write % as %25 and ; as %3B.")
		case !slices.Contains(rt.Query, name):
			f.Add(pointer, "unknown_parameter", "There is no such parameter.")
		}
	}
	return f
}

// isAPI reports whether the route is of the API, not of a provider, a probe or a browser.
func (rt *Route[C]) isAPI() bool {
	return strings.HasPrefix(rt.Pattern, "/api/") || strings.HasPrefix(rt.Pattern, "/auth/")
}

// handle calls the handler with the faults of the query. A handler of a JSON body or of a list
// reports them together with its faults. For the others, a call that reads is refused after the
// handler, so that not_found comes first; it must not keep resources open. A call that changes
// something is refused before.
func (rt *Route[C]) handle(ctx context.Context, m Meta[C], body Body) (Response, error) {
	faults := rt.queryFaults(m)
	if rt.Body == NoBody {
		faults, body.Faults = append(faults, body.Faults...), nil // members of a body that the call does not have
	}
	if len(faults) == 0 {
		return rt.Handle.Serve(ctx, m, body)
	}
	reads := m.Method == http.MethodGet || m.Method == http.MethodHead
	switch {
	case rt.Body.isUpload():
		return Response{Header: http.Header{"Connection": {"close"}}}, faults.Err() // the body is not read
	case !reads && (rt.Body == NoBody || rt.Body == Form):
		return Response{}, faults.Err()
	}
	body.Faults = append(faults, body.Faults...)
	resp, err := rt.Handle.Serve(ctx, m, body)
	if err == nil && reads {
		return Response{}, faults.Err()
	}
	return resp, err
}
