package wire

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
)

// The sizes of a page (contract section 1).
const (
	defaultLimit = 50
	maxLimit     = 200
)

// List is a page of a list.
type List[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// Limit reads how many items a page shall have.
func Limit(query url.Values, f *Faults) int {
	if !query.Has("limit") {
		return defaultLimit
	}
	n, err := strconv.ParseUint(query.Get("limit"), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		n, err = maxLimit, nil // more than 64 bits is above 200, too
	}
	if err != nil || n < 1 {
		f.Add("/limit", "invalid_value", "This must be a whole number from 1.")
		return defaultLimit
	}
	return int(min(n, maxLimit))
}

// Cursors are those of one list and caller. What comes back is what went out.
type Cursors struct {
	MAC func(parts ...[]byte) []byte
	// Scope binds cursors to the list and the caller.
	Scope []byte
}

const cursorMAC = 16

// Seal returns where a page ended, for the outside.
func (c Cursors) Seal(keyset any) string {
	plain, _ := json.Marshal(keyset) // integers and strings cannot fail
	return base64.RawURLEncoding.EncodeToString(append(c.mac(plain), plain...))
}

// Open reads into keyset what Seal was given; false for anything else.
func (c Cursors) Open(cursor string, keyset any) bool {
	if len(cursor) > 512 {
		return false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < cursorMAC || !hmac.Equal(raw[:cursorMAC], c.mac(raw[cursorMAC:])) {
		return false
	}
	return json.Unmarshal(raw[cursorMAC:], keyset) == nil
}

func (c Cursors) mac(plain []byte) []byte { return c.MAC(c.Scope, plain)[:cursorMAC:cursorMAC] }
