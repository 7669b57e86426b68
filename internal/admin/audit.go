package admin

import (
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/wire"
)

type entryResponse struct {
	ID           string  `json:"id"`
	At           string  `json:"at"`
	OperatorID   *string `json:"operator_id"`
	OperatorName string  `json:"operator_name"`
	Action       string  `json:"action"`
	ObjectKind   string  `json:"object_kind"`
	ObjectID     *string `json:"object_id"`
	Detail       *string `json:"detail"`
}

// audit serves GET /api/admin/audit, newest first.
func (s *Server) audit(w http.ResponseWriter, r *http.Request) error {
	c, query := callOf(r), r.URL.Query()
	object := query.Get("object_id")
	if query.Has("object_id") && !isID(object) {
		c.faults.Add("/object_id", "invalid_id", "This must be a UUID.")
	}
	p := s.page(c, query)
	if err := c.faults.Err(); err != nil {
		return err
	}
	entries, err := s.Operators.Audit(r.Context(), object, p.after.ID, p.limit+1)
	if err != nil {
		return err
	}
	return answerPage(w, p, entries, func(e operator.Entry) entryResponse {
		return entryResponse{
			ID: e.ID, At: wire.Timestamp(e.At), OperatorID: wire.OrNull(e.By.ID), OperatorName: e.By.Name, Action: e.Action,
			ObjectKind: e.ObjectKind, ObjectID: wire.OrNull(e.ObjectID), Detail: wire.OrNull(e.Detail),
		}
	}, func(e operator.Entry) keyset { return keyset{ID: e.ID} })
}

// page is what a list is asked for.
type page struct {
	limit   int
	after   keyset
	cursors wire.Cursors
}

// keyset is where a page ended; each list fills what its order needs.
type keyset struct {
	At   int64  `json:"t,omitempty"` // microseconds
	ID   string `json:"i,omitempty"`
	Name []byte `json:"n,omitempty"`
}

// page reads limit and cursor of a query.
func (s *Server) page(c *call, query url.Values) page {
	var cursor *string
	if query.Has("cursor") {
		sent := query.Get("cursor")
		cursor = &sent
	}
	return s.pageOf(c, wire.Limit(query, &c.faults), cursor)
}

// pageOf is the page after cursor. A cursor belongs to its list and to whoever got it.
func (s *Server) pageOf(c *call, limit int, cursor *string) page {
	p := page{limit: limit, cursors: wire.Cursors{
		Sealer: s.Vault.For(auth.ForCursors), Scope: c.Route + "\x00" + c.token.ID,
	}}
	if cursor != nil && !p.cursors.Decode(*cursor, &p.after) {
		c.faults.Add("/cursor", "invalid_value", "This is no next_cursor of this list. Begin again without it.")
	}
	return p
}

// answerPage answers what was read with one more than the page's limit.
func answerPage[T, A any](w http.ResponseWriter, p page, read []T, answer func(T) A, key func(T) keyset) error {
	out := wire.List[A]{Items: []A{}}
	if len(read) > p.limit {
		read = read[:p.limit]
		next := p.cursors.Encode(key(read[p.limit-1]))
		out.NextCursor = &next
	}
	for _, item := range read {
		out.Items = append(out.Items, answer(item))
	}
	return wire.Encode(w, http.StatusOK, out)
}

// isID says whether s is a UUID as this service writes them.
func isID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s
}
