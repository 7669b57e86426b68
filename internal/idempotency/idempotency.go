// Package idempotency keeps the first answer to a request that carries an
// Idempotency-Key (IETF httpapi draft, contract section 1), so that a client
// that lost the answer can ask again without doing the thing twice. Kept answers
// are sealed, for they may hold tokens; who may see one again is checked by the
// caller.
package idempotency

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// abandoned is after how long a first request that never ended counts as lost:
// longer than any request may take.
const abandoned = time.Minute

// Answer is what is repeated.
type Answer struct {
	Status int
	Header map[string]string
	Body   []byte
	// Subject is the player or session that the answer is about, for the check
	// of who may see it; empty where there is none.
	Subject string
}

// Claim asks for a key.
type Claim struct {
	Owner, Key  string
	Fingerprint []byte
	// Lease is this request's own; it ends what an abandoned one began.
	Lease     string
	StartedAt time.Time
	// LostBefore is the newest start of an unfinished request that is taken over.
	LostBefore time.Time
	EndsAt     time.Time
}

// Kept is what a key holds already.
type Kept struct {
	Fingerprint []byte
	// Sealed is nil while the first request is still running.
	Sealed []byte
}

// Store keeps answers; package store provides it.
type Store interface {
	// ClaimAnswer returns nil where the key is now the claim's: it was free, had
	// ended, or was abandoned by a request with the same fingerprint.
	ClaimAnswer(ctx context.Context, c Claim) (*Kept, error)
	// FinishAnswer keeps the sealed answer, if the lease still holds the key.
	FinishAnswer(ctx context.Context, owner, key, lease string, status int, sealed []byte) error
	// DropAnswer frees the key, if the lease still holds it.
	DropAnswer(ctx context.Context, owner, key, lease string) error
}

// Sealer seals answers and fingerprints requests; auth's Vault serves.
type Sealer interface {
	Seal(plain []byte, context string) []byte
	Open(sealed []byte, context string) ([]byte, error)
	MAC(parts ...[]byte) []byte
}

// Service hands out tickets for keys.
type Service struct {
	Store  Store
	Sealer Sealer
	Now    func() time.Time
	NewID  func() string
}

// Ticket is the right to answer first.
type Ticket struct {
	service           *Service
	owner, key, lease string
}

// Begin claims key for owner. It returns a Ticket where this request is the
// first, or the Answer that the first one got. request is what must be the same
// for it to be the same request: method, path, body. It is kept as an HMAC only,
// since an OTP in it could be guessed from a plain hash.
func (s *Service) Begin(ctx context.Context, owner, key string, keep time.Duration, request ...[]byte) (*Ticket, *Answer, error) {
	now := s.Now()
	c := Claim{
		Owner: owner, Key: key, Fingerprint: s.Sealer.MAC(request...), Lease: s.NewID(),
		StartedAt: now, LostBefore: now.Add(-abandoned), EndsAt: now.Add(keep),
	}
	kept, err := s.Store.ClaimAnswer(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if kept == nil {
		return &Ticket{s, owner, key, c.Lease}, nil, nil
	}
	if !hmac.Equal(kept.Fingerprint, c.Fingerprint) {
		return nil, nil, fault.New(fault.Invalid, "idempotency_key_reused", "This Idempotency-Key was used for another request. Take a new one.")
	}
	if kept.Sealed == nil {
		return nil, nil, fault.New(fault.Conflict, "request_in_progress", "The first request with this Idempotency-Key is still running. Ask again in a moment.").After(time.Second)
	}
	plain, err := s.Sealer.Open(kept.Sealed, owner+"\x00"+key)
	if err != nil {
		return nil, nil, err
	}
	var a Answer
	if err := json.Unmarshal(plain, &a); err != nil {
		return nil, nil, err
	}
	return nil, &a, nil
}

// Finish keeps a for whoever asks again. Answers that say "later" (429, 5xx) are
// not kept: the key is free again.
func (t *Ticket) Finish(ctx context.Context, a Answer) error {
	if a.Status == 429 || a.Status >= 500 {
		return t.Drop(ctx)
	}
	plain, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return t.service.Store.FinishAnswer(ctx, t.owner, t.key, t.lease, a.Status, t.service.Sealer.Seal(plain, t.owner+"\x00"+t.key))
}

// Drop frees the key: the request did not get as far as an answer.
func (t *Ticket) Drop(ctx context.Context) error {
	return t.service.Store.DropAnswer(ctx, t.owner, t.key, t.lease)
}
