// Package idempotency stores the response to the first request with an
// Idempotency-Key (IETF httpapi draft, contract section 1). A client that lost the
// response repeats the request and gets the same response; the work is not repeated.
// Stored responses are sealed, because they may contain tokens. The caller checks
// who may read one.
package idempotency

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// abandonedAfter is the age at which an unfinished request counts as lost. It is
// longer than any request may take.
const abandonedAfter = time.Minute

// Response is the HTTP response that is stored and repeated.
type Response struct {
	Status int
	Header map[string]string
	Body   []byte
	// Subject is the id of the player or session that the response is about, for
	// the permission check before it is repeated. It is empty if there is none.
	Subject string
}

// Claim asks the store for a key.
type Claim struct {
	Owner, Key  string
	Fingerprint []byte
	// LeaseID is unique to this request.
	LeaseID   string
	StartedAt time.Time
	// AbandonedBefore is the newest start of an unfinished request that the claim
	// may replace.
	AbandonedBefore time.Time
	EndsAt          time.Time
}

// StoredResponse is what a key that is in use holds.
type StoredResponse struct {
	Fingerprint []byte
	// Sealed is nil while the first request runs.
	Sealed []byte
}

// Store stores keys and responses. Package store implements it.
type Store interface {
	// ClaimKey returns nil if the claim now holds the key: the key was unused or had
	// ended, or a request with the same fingerprint had abandoned it. Otherwise it
	// returns what the key holds.
	ClaimKey(ctx context.Context, c Claim) (*StoredResponse, error)
	// SaveResponse stores the sealed response if the lease still holds the key.
	SaveResponse(ctx context.Context, owner, key, leaseID string, status int, sealed []byte) error
	// ReleaseKey frees the key if the lease still holds it.
	ReleaseKey(ctx context.Context, owner, key, leaseID string) error
}

// Sealer encrypts responses and fingerprints requests. auth.Vault implements it.
type Sealer interface {
	Seal(plain []byte, context string) []byte
	Open(sealed []byte, context string) ([]byte, error)
	MAC(parts ...[]byte) []byte
}

// Service leases keys to requests.
type Service struct {
	store  Store
	sealer Sealer
	now    func() time.Time
	newID  func() string
}

// New returns a Service.
func New(store Store, sealer Sealer, now func() time.Time, newID func() string) *Service {
	return &Service{store: store, sealer: sealer, now: now, newID: newID}
}

// Lease is held by the first request with a key. Finish or Release ends it.
type Lease struct {
	service        *Service
	owner, key, id string
}

// Begin claims key for owner. It returns a Lease if this is the first request with
// the key, and otherwise the Response to the first request. request is everything
// that a repeated request must have in common with the first: method, path, body.
// Only its HMAC is stored, because a plain hash would reveal an OTP to guessing.
func (s *Service) Begin(ctx context.Context, owner, key string, keep time.Duration, request ...[]byte) (*Lease, *Response, error) {
	now := s.now()
	c := Claim{
		Owner: owner, Key: key, Fingerprint: s.sealer.MAC(request...), LeaseID: s.newID(),
		StartedAt: now, AbandonedBefore: now.Add(-abandonedAfter), EndsAt: now.Add(keep),
	}
	stored, err := s.store.ClaimKey(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if stored == nil {
		return &Lease{s, owner, key, c.LeaseID}, nil, nil
	}
	if !hmac.Equal(stored.Fingerprint, c.Fingerprint) {
		return nil, nil, fault.New(fault.Invalid, "idempotency_key_reused", "This Idempotency-Key was used for another request. Use a new key.")
	}
	if stored.Sealed == nil {
		return nil, nil, fault.New(fault.Conflict, "request_in_progress", "The first request with this Idempotency-Key is still running. Try again in a moment.").After(time.Second)
	}
	plain, err := s.sealer.Open(stored.Sealed, sealContext(owner, key))
	if err != nil {
		return nil, nil, err
	}
	var response Response
	if err := json.Unmarshal(plain, &response); err != nil {
		return nil, nil, err
	}
	return nil, &response, nil
}

// Finish stores r. It releases the key instead if r tells the client to try again
// (429, 5xx).
func (l *Lease) Finish(ctx context.Context, r Response) error {
	if r.Status == 429 || r.Status >= 500 {
		return l.Release(ctx)
	}
	plain, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return l.service.store.SaveResponse(ctx, l.owner, l.key, l.id, r.Status, l.service.sealer.Seal(plain, sealContext(l.owner, l.key)))
}

// Release frees the key without a response.
func (l *Lease) Release(ctx context.Context) error {
	return l.service.store.ReleaseKey(ctx, l.owner, l.key, l.id)
}

// sealContext binds a sealed response to its owner and key.
func sealContext(owner, key string) string { return owner + "\x00" + key }
