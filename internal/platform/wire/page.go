package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
)

// Page sizes.
const (
	defaultLimit = 50
	maxLimit     = 200
)

// List is one page of a list.
type List[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// Limit returns the query parameter limit: at least 1, at most 200, 50 if absent.
func Limit(query url.Values, f *Faults) int {
	if !query.Has("limit") {
		return defaultLimit
	}
	n, err := strconv.ParseUint(query.Get("limit"), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		n, err = maxLimit, nil // a number of more than 64 bits is above 200, too
	}
	if err != nil || n < 1 {
		f.Add("/limit", "invalid_value", "This must be a whole number of at least 1.")
		return defaultLimit
	}
	return int(min(n, maxLimit))
}

// PageSize is Limit for a limit in the body. The rule tag of the field refuses
// values below 1.
func PageSize(limit *int) int {
	if limit == nil {
		return defaultLimit
	}
	return min(*limit, maxLimit)
}

// Sealer encrypts a cursor; vault.Sealer implements it.
type Sealer interface {
	SealDeterministic(plain []byte, context string) []byte
	Open(sealed []byte, context string) ([]byte, error)
}

// Cursors encodes and decodes the cursors of one list for one caller. Cursors are
// encrypted, because a page may end at an item that its reader may not see, and
// deterministic, so that the same page has the same ETag.
type Cursors struct {
	Sealer Sealer
	// Scope names the list and the caller. A cursor of another scope is refused.
	Scope string
}

const maxCursorBytes = 512

// Encode returns the cursor of keyset, the sort key of the last item of a page.
func (c Cursors) Encode(keyset any) string {
	plain, _ := json.Marshal(keyset) // a struct of integers and strings cannot fail
	return base64.RawURLEncoding.EncodeToString(c.Sealer.SealDeterministic(plain, c.Scope))
}

// Decode reads a cursor into keyset. It returns false for a cursor that Encode
// did not return for the same scope.
func (c Cursors) Decode(cursor string, keyset any) bool {
	if len(cursor) > maxCursorBytes {
		return false
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil {
		return false
	}
	plain, err := c.Sealer.Open(sealed, c.Scope)
	return err == nil && json.Unmarshal(plain, keyset) == nil
}
