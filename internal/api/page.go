package api

import (
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/wire"
)

// keyset is where a page ended; each list fills what its order needs.
type keyset struct {
	At    int64      `json:"t,omitempty"` // microseconds
	ID    string     `json:"i,omitempty"`
	Party actor.Role `json:"p,omitempty"`
	Seq   int64      `json:"s,omitempty"`
}

func keysetOf(k approval.Keyset) keyset {
	out := keyset{ID: k.ID, Party: k.Party}
	if !k.At.IsZero() {
		out.At = k.At.UnixMicro()
	}
	return out
}

// approval returns k as package approval wants it.
func (k keyset) approval() approval.Keyset {
	out := approval.Keyset{ID: k.ID, Party: k.Party}
	if k.At != 0 {
		out.At = time.UnixMicro(k.At).UTC()
	}
	return out
}

// page is what a list is asked for.
type page struct {
	limit int
	after keyset
	// scope binds cursors to this list and caller.
	scope string
	vault *auth.Vault
}

// more returns how many to read: one beyond the page tells whether there is a next.
func (p page) more() int { return p.limit + 1 }

// page reads limit and cursor.
func (s *Server) page(r *http.Request, query url.Values, f *faults) page {
	c := callOf(r.Context())
	p := page{scope: c.Route + "\x00" + c.by.AccountID, vault: s.auth.Keys.Vault}
	p.limit = wire.Limit(query, (*wire.Faults)(f))
	if query.Has("cursor") {
		var ok bool
		if p.after, ok = p.open(query.Get("cursor")); !ok {
			f.add("/cursor", "invalid_value", "This is no next_cursor of this list. Begin again without it.")
		}
	}
	return p
}

// cursor returns k for the outside.
func (p page) cursor(k keyset) string { return p.cursors().Encode(k) }

func (p page) open(cursor string) (k keyset, ok bool) {
	ok = p.cursors().Decode(cursor, &k)
	return k, ok
}

func (p page) cursors() wire.Cursors {
	return wire.Cursors{Sealer: p.vault.For(auth.ForCursors), Scope: p.scope}
}

// answerPage answers what was read with p.more as its limit.
func answerPage[T, A any](w http.ResponseWriter, p page, read []T, answer func(T) A, key func(T) keyset) error {
	out := wire.List[A]{Items: []A{}}
	if len(read) > p.limit {
		read = read[:p.limit]
		next := p.cursor(key(read[p.limit-1]))
		out.NextCursor = &next
	}
	for _, item := range read {
		out.Items = append(out.Items, answer(item))
	}
	return encode(w, http.StatusOK, out)
}

// queryText returns a text of the query that keeps to the rules, "" where there is
// none or it is at fault.
func queryText(query url.Values, name string, f *faults, is wire.Rules) string {
	if !query.Has(name) {
		return ""
	}
	text := query.Get(name)
	if !utf8.ValidString(text) {
		f.add("/"+name, "invalid_characters", "This is not UTF-8.")
		return ""
	}
	return is.Text(text, "/"+name, (*wire.Faults)(f))
}
