package api

import (
	"net/url"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// Keyset is the sort key of an item. Each list sets the fields that its order needs.
type Keyset struct {
	At    int64      `json:"t,omitempty"` // microseconds
	ID    string     `json:"i,omitempty"`
	Party actor.Role `json:"p,omitempty"`
	// GuardianID is that of the Party.
	GuardianID string `json:"g,omitempty"`
	Seq        int64  `json:"s,omitempty"`
	Day        string `json:"d,omitempty"` // YYYY-MM-DD
}

type page = endpoint.Page[Keyset]

// Page returns the page of a list that the query asks for.
func (s *Server) Page(m Meta, f *wire.Faults) page {
	return endpoint.QueryPage[Keyset](m, s.Auth.Keys.Vault.For(vault.ForCursors), m.Caller.AccountID, f)
}

// QueryText returns a query parameter that the rules allow, or "" if it is absent or has a
// fault.
func QueryText(query url.Values, name string, f *wire.Faults, rules wire.Rules) string {
	if !query.Has(name) {
		return ""
	}
	text := query.Get(name)
	if !utf8.ValidString(text) {
		f.Add("/"+name, "invalid_characters", "This must be UTF-8.")
		return ""
	}
	if text = rules.Text(text, "/"+name, f); f.Has("/" + name) {
		return "" // PostgreSQL refuses some characters, such as NUL, with an error
	}
	return text
}

// MarkReadRequest names items of a list that the caller has read.
type MarkReadRequest struct {
	IDs []string `json:"ids" rule:"min=1,max=200,id"`
	All *bool    `json:"all"`
}

// Check adds a fault unless in names ids or all.
func (in MarkReadRequest) Check(f *wire.Faults) {
	switch {
	case in.All != nil && !*in.All:
		f.Add("/all", "invalid_value", "This can only be true; leave it out to name ids.")
	case len(*f) == 0 && (in.All != nil) == (in.IDs != nil):
		f.Add("", "invalid_value", "Send either ids or all.")
	}
}

// UnreadResponse is how many items are unread.
type UnreadResponse struct {
	Unread int `json:"unread"`
}
