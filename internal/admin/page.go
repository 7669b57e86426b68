package admin

import (
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

// keyset is the sort key of an item. Each list sets the fields that its order needs.
type keyset struct {
	At   int64  `json:"t,omitempty"` // microseconds
	ID   string `json:"i,omitempty"`
	Name string `json:"n,omitempty"`
}

// keysetAt returns the sort key of an item in a list by time and id.
func keysetAt(at time.Time, id string) keyset { return keyset{At: at.UnixMicro(), ID: id} }

// at returns the time of k; zero at the start of a list.
func (k keyset) at() time.Time {
	if k.At == 0 {
		return time.Time{}
	}
	return time.UnixMicro(k.At).UTC()
}

type page = endpoint.Page[keyset]

// queryPage returns the page of a list that the query asks for.
func (s *Server) queryPage(m endpoint.Meta[Caller], f *wire.Faults) page {
	return endpoint.QueryPage[keyset](m, s.Vault.For(auth.ForCursors), m.Caller.ID, f)
}

// bodyPage returns the page of a list that the members limit and cursor of a body ask for.
func (s *Server) bodyPage(m endpoint.Meta[Caller], limit *int, cursor *string, f *wire.Faults) page {
	return endpoint.NewPage[keyset](m, s.Vault.For(auth.ForCursors), m.Caller.ID, wire.PageSize(limit), cursor, f)
}
