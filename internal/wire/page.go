package wire

import (
	"crypto/hmac"
	"crypto/subtle"
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

// PageSize is how many items a page shall have where a body asks for them; nil is
// where it does not. Below 1 is for the body's rules to refuse.
func PageSize(asked *int) int {
	if asked == nil {
		return defaultLimit
	}
	return min(*asked, maxLimit)
}

// Cursors are those of one list and caller. What comes back is what went out.
type Cursors struct {
	MAC func(parts ...[]byte) []byte
	// Scope binds cursors to the list and the caller.
	Scope []byte
}

const cursorMAC = 16

// Seal returns where a page ended, for the outside: the same for the same place,
// and unreadable, because a page may end at what its reader may not see.
func (c Cursors) Seal(keyset any) string {
	plain, _ := json.Marshal(keyset) // integers and strings cannot fail
	mac := c.mac(plain)
	c.mask(plain, mac)
	return base64.RawURLEncoding.EncodeToString(append(mac, plain...))
}

// Open reads into keyset what Seal was given; false for anything else.
func (c Cursors) Open(cursor string, keyset any) bool {
	if len(cursor) > 512 {
		return false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < cursorMAC {
		return false
	}
	mac, plain := raw[:cursorMAC], raw[cursorMAC:]
	c.mask(plain, mac)
	return hmac.Equal(mac, c.mac(plain)) && json.Unmarshal(plain, keyset) == nil
}

func (c Cursors) mac(plain []byte) []byte { return c.MAC(c.Scope, plain)[:cursorMAC:cursorMAC] }

// mask makes text unreadable, and readable again: it is a cipher in counter mode
// whose nonce is the MAC of the text, so each text has a mask of its own.
func (c Cursors) mask(text, mac []byte) {
	for i := byte(0); len(text) > 0; i++ {
		text = text[subtle.XORBytes(text, text, c.MAC([]byte("mask"), c.Scope, mac, []byte{i})):]
	}
}
