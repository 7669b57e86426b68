package admin

import (
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// Keyset is the sort key of an item. Each list sets the fields that its order needs.
type Keyset struct {
	At   int64  `json:"t,omitempty"` // microseconds
	ID   string `json:"i,omitempty"`
	Name string `json:"n,omitempty"`
}

// KeysetAt returns the sort key of an item in a list by time and id.
func KeysetAt(at time.Time, id string) Keyset { return Keyset{At: at.UnixMicro(), ID: id} }

// Time returns the time of k; zero at the start of a list.
func (k Keyset) Time() time.Time {
	if k.At == 0 {
		return time.Time{}
	}
	return time.UnixMicro(k.At).UTC()
}

type page = endpoint.Page[Keyset]

// QueryPage returns the page of a list that the query asks for.
func (s *Server) QueryPage(m Meta, f *wire.Faults) page {
	return endpoint.QueryPage[Keyset](m, s.Vault.For(vault.ForCursors), m.Caller.ID, f)
}

// BodyPage returns the page of a list that the members limit and cursor of a body ask for.
func (s *Server) BodyPage(m Meta, limit *int, cursor *string, f *wire.Faults) page {
	return endpoint.NewPage[Keyset](m, s.Vault.For(vault.ForCursors), m.Caller.ID, wire.PageSize(limit), cursor, f)
}

// QueryID returns the id in a query parameter, or "" without one.
func QueryID(r Request[NoBody], name string, f *wire.Faults) string {
	value := r.Query.Get(name)
	if id, err := uuid.Parse(value); r.Query.Has(name) && (err != nil || id.String() != value) {
		f.Add("/"+name, "invalid_id", "This must be a UUID.")
	}
	return value
}
