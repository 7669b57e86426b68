package api

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
)

// The sizes of a page (contract section 1).
const (
	defaultLimit = 50
	maxLimit     = 200
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
	scope []byte
	vault *auth.Vault
}

// more returns how many to read: one beyond the page tells whether there is a next.
func (p page) more() int { return p.limit + 1 }

// page reads limit and cursor.
func (s *Server) page(r *http.Request, query url.Values, f *faults) page {
	c := callOf(r.Context())
	p := page{limit: defaultLimit, scope: []byte(c.Route + "\x00" + c.by.AccountID), vault: s.auth.Keys.Vault}
	if query.Has("limit") {
		n, err := strconv.ParseUint(query.Get("limit"), 10, 64)
		if errors.Is(err, strconv.ErrRange) {
			n, err = maxLimit, nil // more than 64 bits is above 200, too
		}
		if err != nil || n < 1 {
			f.add("/limit", "invalid_value", "This must be a whole number from 1.")
		} else {
			p.limit = int(min(n, maxLimit))
		}
	}
	if query.Has("cursor") {
		var ok bool
		if p.after, ok = p.open(query.Get("cursor")); !ok {
			f.add("/cursor", "invalid_value", "This is no next_cursor of this list. Begin again without it.")
		}
	}
	return p
}

const cursorMAC = 16

// cursor returns k for the outside, with a MAC: what comes back is what went out.
func (p page) cursor(k keyset) string {
	plain, _ := json.Marshal(k) // integers and strings cannot fail
	return base64.RawURLEncoding.EncodeToString(append(p.mac(plain), plain...))
}

func (p page) open(cursor string) (k keyset, ok bool) {
	if len(cursor) > 512 {
		return k, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < cursorMAC || !hmac.Equal(raw[:cursorMAC], p.mac(raw[cursorMAC:])) {
		return k, false
	}
	return k, json.Unmarshal(raw[cursorMAC:], &k) == nil
}

func (p page) mac(plain []byte) []byte {
	return p.vault.MAC(auth.ForCursors, p.scope, plain)[:cursorMAC:cursorMAC]
}

type list[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// answerPage answers what was read with p.more as its limit.
func answerPage[T, A any](w http.ResponseWriter, p page, read []T, answer func(T) A, key func(T) keyset) error {
	out := list[A]{Items: []A{}}
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
