package operator

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// verifiedLifetime limits how long a token works without the database after its
	// last successful check. It covers a long outage.
	verifiedLifetime = 24 * time.Hour
	// verifiedLimit bounds the memory: a few programs read metrics.
	verifiedLimit = 64
	// lookupTimeout leaves time for the response while the database does not answer:
	// Prometheus waits 10 s by default.
	lookupTimeout = 2 * time.Second
)

// verifiedTokens remembers tokens that the database confirmed, by the hash of their
// secret. The zero value is ready to use.
type verifiedTokens struct {
	mu     sync.Mutex
	tokens map[[sha256.Size]byte]verifiedToken
}

type verifiedToken struct {
	token      Token
	verifiedAt time.Time
}

func (v *verifiedTokens) add(hash []byte, t Token, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tokens == nil {
		v.tokens = map[[sha256.Size]byte]verifiedToken{}
	}
	for key, entry := range v.tokens {
		if len(v.tokens) >= verifiedLimit || now.Sub(entry.verifiedAt) >= verifiedLifetime {
			delete(v.tokens, key)
		}
	}
	v.tokens[[sha256.Size]byte(hash)] = verifiedToken{token: t, verifiedAt: now}
}

func (v *verifiedTokens) remove(hash []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.tokens, [sha256.Size]byte(hash))
}

// get returns a token that was verified in the last verifiedLifetime and has not
// expired, or nil.
func (v *verifiedTokens) get(hash []byte, now time.Time) *Token {
	v.mu.Lock()
	defer v.mu.Unlock()
	entry, ok := v.tokens[[sha256.Size]byte(hash)]
	if !ok || now.Sub(entry.verifiedAt) >= verifiedLifetime || !entry.token.Valid(now) {
		return nil
	}
	return &entry.token
}
