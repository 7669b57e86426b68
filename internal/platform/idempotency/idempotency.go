// Package idempotency stores the response to the first request with an Idempotency-Key
// (IETF httpapi draft). A client that lost the response repeats the request and gets the same
// response; the work is not repeated.
//
// The transaction of the work marks the key as committed with a Work record, if the
// lease of the request still holds the key. So the work is done at most once, even if
// the response to COMMIT is lost or the request outlives its lease. The response is
// stored afterwards. If that fails, it is rebuilt from the Work record.
//
// Stored responses are encrypted, because they may contain tokens. The caller checks who may
// read one.
package idempotency

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// leaseTime is how long a key stays claimed if its request dies. The API
	// promises 5 s.
	leaseTime = 3 * time.Second
	// renewEvery is the pause between two renewals of the lease of a running request.
	renewEvery = time.Second
)

// Response is the HTTP response that is stored and repeated.
type Response struct {
	Status int
	Header map[string]string
	Body   []byte
	// Subject is the id of the player or session that the response is about, for
	// the permission check before it is repeated. It is empty if there is none.
	Subject string
}

// Work is the committed work of the first request with a key: the facts from which its
// response is rebuilt.
type Work struct {
	// ID is the id of the object that was made or changed.
	ID string `json:"id,omitempty"`
	// New reports whether the object is new.
	New bool `json:"new,omitempty"`
	// Number counts what the response counts: reminders left, sessions ended, attempts
	// left.
	Number int `json:"number,omitempty"`
	// WrongOTP names the OTP that was wrong: "otp", "current" or "new". It is empty if
	// the work succeeded.
	WrongOTP string `json:"wrong_otp,omitempty"`
}

// Holder identifies the request that holds a key.
type Holder struct {
	Owner, Key string
	// LeaseID is unique to the request.
	LeaseID string
}

type holderKey struct{}

// WithHolder returns a context for the work of a request that holds a key.
func WithHolder(ctx context.Context, h Holder) context.Context {
	return context.WithValue(ctx, holderKey{}, h)
}

// HolderOf returns the holder of the key under which ctx works; false if there is none.
func HolderOf(ctx context.Context) (Holder, bool) {
	h, ok := ctx.Value(holderKey{}).(Holder)
	return h, ok
}

func errInProgress() error {
	return fault.New(fault.Conflict, "request_in_progress", "The first request with this Idempotency-Key is still running. Try again in a moment.").After(time.Second)
}

// Claim asks the store for a key.
type Claim struct {
	Holder
	Fingerprint []byte
	Now         time.Time
	// LeaseEndsAt is when a request with the same fingerprint may take the key over,
	// unless the lease is renewed.
	LeaseEndsAt time.Time
	EndsAt      time.Time
}

// StoredResponse is the stored state of a key that is in use.
type StoredResponse struct {
	Fingerprint []byte
	// Sealed is nil until the response is stored.
	Sealed []byte
	// Work is set if the work is committed.
	Work *Work
}

// Store stores keys and responses; SQL implements it.
type Store interface {
	// ClaimKey returns nil if the claim now holds the key: the key was unused or had
	// ended, or the lease of a request with the same fingerprint has ended before its
	// work was committed. Otherwise it returns the stored state of the key.
	ClaimKey(ctx context.Context, c Claim) (*StoredResponse, error)
	// RenewKey moves the end of the lease, if it still holds the key and the work is
	// not committed.
	RenewKey(ctx context.Context, h Holder, leaseEndsAt time.Time) error
	// SaveResponse stores the sealed response if h still holds the key.
	SaveResponse(ctx context.Context, h Holder, status int, sealed []byte) error
	// ReleaseKey frees the key if h still holds it and its work is not committed. It
	// returns committed work, else nil.
	ReleaseKey(ctx context.Context, h Holder) (*Work, error)
}

// Sealer encrypts responses and fingerprints requests. vault.Sealer implements it.
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
	log    *slog.Logger
}

// New returns a Service.
func New(store Store, sealer Sealer, now func() time.Time, newID func() string, log *slog.Logger) *Service {
	return &Service{store: store, sealer: sealer, now: now, newID: newID, log: log}
}

// Lease is held by the first request with a key. Finish or Release ends it.
type Lease struct {
	service *Service
	Holder
}

// Earlier is the result of the first request with a key: its response, or the work from
// which the response must be rebuilt.
type Earlier struct {
	Response *Response
	Work     *Work
}

// Failed reports whether the first request ended with an error of the caller.
func (e *Earlier) Failed() bool {
	return e != nil && (e.Response != nil && e.Response.Status >= 400 || e.Work != nil && e.Work.WrongOTP != "")
}

// Begin claims key for owner. It returns a Lease if this is the first request with
// the key, and otherwise what the first request left. request is everything that a
// repeated request must have in common with the first: method, path, body. Only its
// HMAC is stored, because a plain hash would reveal an OTP to guessing.
// Errors: idempotency_key_reused, request_in_progress.
func (s *Service) Begin(ctx context.Context, owner, key string, keep time.Duration, request ...[]byte) (*Lease, *Earlier, error) {
	now := s.now()
	c := Claim{
		Holder: Holder{Owner: owner, Key: key, LeaseID: s.newID()}, Fingerprint: s.sealer.MAC(request...),
		Now: now, LeaseEndsAt: now.Add(leaseTime), EndsAt: now.Add(keep),
	}
	stored, err := s.store.ClaimKey(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if stored == nil {
		return &Lease{s, c.Holder}, nil, nil
	}
	if !hmac.Equal(stored.Fingerprint, c.Fingerprint) {
		return nil, nil, fault.New(fault.Invalid, "idempotency_key_reused", "This Idempotency-Key was used for another request. Use a new key.")
	}
	if stored.Sealed == nil {
		if stored.Work == nil {
			return nil, nil, errInProgress()
		}
		return nil, &Earlier{Work: stored.Work}, nil
	}
	plain, err := s.sealer.Open(stored.Sealed, sealContext(owner, key))
	if err != nil {
		return nil, nil, err
	}
	var response Response
	if err := json.Unmarshal(plain, &response); err != nil {
		return nil, nil, err
	}
	return nil, &Earlier{Response: &response}, nil
}

// KeepAlive renews the lease until stop is called. A failed renewal is tried again. If
// the lease is lost, the transaction of the work fails.
func (l *Lease) KeepAlive(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(renewEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				l.renew(ctx)
			}
		}
	}()
	return func() { cancel(); <-done }
}

// renew renews the lease once. Without the recover a panic would end the process: no middleware is
// above this goroutine.
func (l *Lease) renew(ctx context.Context) {
	defer func() {
		if v := recover(); v != nil {
			l.service.log.Error("renew an idempotency key", "error", fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	_ = l.service.store.RenewKey(ctx, l.Holder, l.service.now().Add(leaseTime))
}

// MayRetry reports whether a response tells the client to try again (429, 5xx). Such
// a response is not stored.
func (r Response) MayRetry() bool { return r.Status == 429 || r.Status >= 500 }

// Finish stores r, which must not be one to retry.
func (l *Lease) Finish(ctx context.Context, r Response) error {
	plain, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return l.service.store.SaveResponse(ctx, l.Holder, r.Status, l.service.sealer.Seal(plain, sealContext(l.Owner, l.Key)))
}

// Release frees the key without a response. If the work is committed it keeps the key
// and returns the work.
func (l *Lease) Release(ctx context.Context) (*Work, error) {
	return l.service.store.ReleaseKey(ctx, l.Holder)
}

// sealContext binds a sealed response to its owner and key.
func sealContext(owner, key string) string { return owner + "\x00" + key }
