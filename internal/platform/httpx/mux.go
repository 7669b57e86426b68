package httpx

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Mux is an http.ServeMux in which patterns such as /players/{id}/fees and
// /players/imports/{id} do not conflict: for /players/imports/fees the second one wins,
// because its literal segment is further left.
//
// It registers the first pattern with http.ServeMux as /players/{0}/{1}, together with all
// other patterns of that form, and compares their literal segments itself.
type Mux struct {
	mux      *http.ServeMux
	forms    map[string]*form
	notFound http.Handler
}

// NewMux returns a Mux that serves paths without a pattern with notFound.
func NewMux(notFound http.Handler) *Mux {
	m := &Mux{mux: http.NewServeMux(), forms: map[string]*form{}, notFound: notFound}
	m.mux.Handle("/", notFound)
	return m
}

// Handle registers a pattern without a method. Patterns whose last segment stands for
// several, such as /files/ and {path...}, are served by http.ServeMux.
func (m *Mux) Handle(pattern string, h http.Handler) {
	segments := strings.Split(pattern, "/")
	wild := slices.IndexFunc(segments, isWildcard)
	last := segments[len(segments)-1]
	if wild < 0 || last == "" || last == "{$}" || strings.HasSuffix(last, "...}") {
		m.mux.Handle(pattern, h)
		return
	}
	general := slices.Clone(segments)
	for i := wild; i < len(general); i++ {
		general[i] = "{" + wildcardName(i) + "}"
	}
	key := strings.Join(general, "/")
	f := m.forms[key]
	if f == nil {
		f = &form{first: wild, notFound: m.notFound}
		m.forms[key] = f
		m.mux.Handle(key, f)
	}
	f.add(formPattern{segments, h})
}

// ServeHTTP implements http.Handler.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }

func isWildcard(segment string) bool { return strings.HasPrefix(segment, "{") }

// wildcardName names the wildcard of a form at the index of a segment.
func wildcardName(i int) string { return "w" + strconv.Itoa(i) }

// form has the patterns with the same literal segments before the first wildcard and the
// same number of segments.
type form struct {
	first    int // the index of the first wildcard
	patterns []formPattern
	notFound http.Handler
}

type formPattern struct {
	segments []string
	handler  http.Handler
}

// add adds a pattern. Patterns whose literal segments are further left come first.
func (f *form) add(p formPattern) {
	f.patterns = append(f.patterns, p)
	slices.SortStableFunc(f.patterns, func(a, b formPattern) int {
		for i := range a.segments {
			if literal := !isWildcard(a.segments[i]); literal != !isWildcard(b.segments[i]) {
				if literal {
					return -1
				}
				return 1
			}
		}
		return 0
	})
}

// match reports whether the segments of a path match p.
func (p formPattern) match(segment func(i int) string, first int) bool {
	for i := first; i < len(p.segments); i++ {
		if !isWildcard(p.segments[i]) && p.segments[i] != segment(i) {
			return false
		}
	}
	return true
}

// ServeHTTP sets the path values under the names of the pattern that matches.
func (f *form) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	value := func(i int) string { return r.PathValue(wildcardName(i)) }
	for _, p := range f.patterns {
		if !p.match(value, f.first) {
			continue
		}
		for i := f.first; i < len(p.segments); i++ {
			if name := p.segments[i]; isWildcard(name) {
				r.SetPathValue(strings.Trim(name, "{}"), value(i))
			}
		}
		p.handler.ServeHTTP(w, r)
		return
	}
	f.notFound.ServeHTTP(w, r)
}
