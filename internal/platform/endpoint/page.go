package endpoint

import (
	"github.com/touchline/touchline/internal/platform/wire"
)

// Page is the page of a list that a request asks for. K is the sort key of the list.
type Page[K any] struct {
	limit int
	// After is the key of the last item of the page before; the zero value on the
	// first page.
	After   K
	cursors wire.Cursors
}

// QueryPage returns the page of the query parameters limit and cursor. The cursor must
// be of the same route and of the same caller, whom callerID names. An empty one is the cursor of
// the first page: many clients write ?cursor= before they have one.
func QueryPage[K, C any](m Meta[C], sealer wire.Sealer, callerID string, f *wire.Faults) Page[K] {
	var cursor *string
	if value := m.Query.Get("cursor"); value != "" {
		cursor = &value
	}
	return NewPage[K](m, sealer, callerID, wire.Limit(m.Query, f), cursor, f)
}

// NewPage returns a page of limit items after cursor; nil is the first page.
func NewPage[K, C any](m Meta[C], sealer wire.Sealer, callerID string, limit int, cursor *string, f *wire.Faults) Page[K] {
	p := Page[K]{limit: limit, cursors: wire.Cursors{Sealer: sealer, Scope: m.Route + "\x00" + callerID}}
	if cursor != nil && !p.cursors.Decode(*cursor, &p.After) {
		f.Add("/cursor", "invalid_value", "This is not a next_cursor of this list. Start again without a cursor.")
	}
	return p
}

// ReadLimit is the number of items to read: one more than the page has, to learn
// whether there is a next page.
func (p Page[K]) ReadLimit() int { return p.limit + 1 }

// Limit is the number of items of the page.
func (p Page[K]) Limit() int { return p.limit }

// Cursor returns the cursor of the page after key.
func (p Page[K]) Cursor(key K) string { return p.cursors.Encode(key) }

// PageResponse returns a page of items, which were read with ReadLimit.
func PageResponse[K, T, A any](p Page[K], items []T, convert func(T) A, key func(T) K) Response {
	list := wire.List[A]{Items: []A{}}
	if len(items) > p.limit {
		items = items[:p.limit]
		next := p.Cursor(key(items[p.limit-1]))
		list.NextCursor = &next
	}
	for _, item := range items {
		list.Items = append(list.Items, convert(item))
	}
	return OK(list)
}
