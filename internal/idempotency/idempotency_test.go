package idempotency_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/idempotency"
)

// fakeStore is a Store in memory.
type fakeStore struct{ rows map[string]*row }

type row struct {
	claim  idempotency.Claim
	sealed []byte
}

func (s *fakeStore) ClaimKey(_ context.Context, c idempotency.Claim) (*idempotency.StoredResponse, error) {
	have := s.rows[c.Owner+"|"+c.Key]
	same := have != nil && bytes.Equal(have.claim.Fingerprint, c.Fingerprint)
	if have == nil || !have.claim.EndsAt.After(c.StartedAt) || have.sealed == nil && same && !have.claim.StartedAt.After(c.AbandonedBefore) {
		s.rows[c.Owner+"|"+c.Key] = &row{claim: c}
		return nil, nil
	}
	return &idempotency.StoredResponse{Fingerprint: have.claim.Fingerprint, Sealed: have.sealed}, nil
}

func (s *fakeStore) SaveResponse(_ context.Context, owner, key, leaseID string, _ int, sealed []byte) error {
	if have := s.rows[owner+"|"+key]; have != nil && have.claim.LeaseID == leaseID {
		have.sealed = sealed
	}
	return nil
}

func (s *fakeStore) ReleaseKey(_ context.Context, owner, key, leaseID string) error {
	if have := s.rows[owner+"|"+key]; have != nil && have.claim.LeaseID == leaseID {
		delete(s.rows, owner+"|"+key)
	}
	return nil
}

// fixture is a Service with a fake store and a clock.
type fixture struct {
	*testing.T
	service *idempotency.Service
	store   *fakeStore
	now     time.Time
}

func setup(t *testing.T) *fixture {
	t.Helper()
	vault, err := auth.NewVault(bytes.Repeat([]byte("s"), 32))
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{T: t, store: &fakeStore{rows: map[string]*row{}}, now: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)}
	leases := 0
	newID := func() string {
		leases++
		return fmt.Sprint("lease-", leases)
	}
	f.service = idempotency.New(f.store, vault.For(auth.ForAnswers), func() time.Time { return f.now }, newID)
	return f
}

func (f *fixture) begin(owner, key string, request ...string) (*idempotency.Lease, *idempotency.Response, error) {
	var parts [][]byte
	for _, part := range request {
		parts = append(parts, []byte(part))
	}
	return f.service.Begin(f.Context(), owner, key, time.Hour, parts...)
}

// wantLease begins a request and fails the test unless it is the first with its key.
func (f *fixture) wantLease(owner, key string, request ...string) *idempotency.Lease {
	f.Helper()
	lease, response, err := f.begin(owner, key, request...)
	if err != nil || response != nil || lease == nil {
		f.Fatalf("Begin = %v, %v, %v; want a lease", lease, response, err)
	}
	return lease
}

// wantFault begins a request and fails the test unless it is refused with code.
func (f *fixture) wantFault(code, owner, key string, request ...string) *fault.Error {
	f.Helper()
	lease, response, err := f.begin(owner, key, request...)
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || refused.Code != code || lease != nil || response != nil {
		f.Fatalf("Begin = %v, %v, %v; want error %s", lease, response, err, code)
	}
	return refused
}

func (f *fixture) finish(lease *idempotency.Lease, r idempotency.Response) {
	f.Helper()
	if err := lease.Finish(f.Context(), r); err != nil {
		f.Fatal(err)
	}
}

var created = idempotency.Response{
	Status: 201, Header: map[string]string{"Location": "/api/thing/1"}, Body: []byte(`{"token":"secret-token"}`), Subject: "thing-1",
}

func TestSameRequestGetsFirstResponse(t *testing.T) {
	f := setup(t)
	f.finish(f.wantLease("owner", "key", "POST", "/a", "{}"), created)
	for range 2 {
		_, response, err := f.begin("owner", "key", "POST", "/a", "{}")
		if err != nil || response == nil || !reflect.DeepEqual(*response, created) {
			t.Fatalf("Begin = %+v, %v; want %+v", response, err, created)
		}
	}
	for _, other := range [][]string{{"POST", "/a", "{ }"}, {"PUT", "/a", "{}"}, {"POST", "/b", "{}"}, {"POST", "/a{}", ""}, {"POST", "/a"}} {
		f.wantFault("idempotency_key_reused", "owner", "key", other...)
	}
	f.wantLease("another owner", "key", "POST", "/a", "{}")
	f.wantLease("owner", "another key", "POST", "/a", "{}")
	f.now = f.now.Add(time.Hour)
	f.wantLease("owner", "key", "POST", "/a", "something else")
}

func TestAbandonedRequestLosesItsKey(t *testing.T) {
	f := setup(t)
	abandoned := f.wantLease("owner", "key", "{}")
	f.now = f.now.Add(time.Minute - time.Second)
	if refused := f.wantFault("request_in_progress", "owner", "key", "{}"); refused.RetryAfter <= 0 {
		t.Errorf("RetryAfter = %s, want more than 0", refused.RetryAfter)
	}
	f.wantFault("idempotency_key_reused", "owner", "key", "other")
	f.now = f.now.Add(time.Second)
	f.wantFault("idempotency_key_reused", "owner", "key", "other")
	second := f.wantLease("owner", "key", "{}")

	// The abandoned request ends late and must not change the key of the second.
	f.finish(abandoned, idempotency.Response{Status: 409})
	if err := abandoned.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.wantFault("request_in_progress", "owner", "key", "{}")
	f.finish(second, created)
	if _, response, err := f.begin("owner", "key", "{}"); err != nil || response == nil || response.Status != 201 {
		t.Errorf("Begin = %+v, %v; want status 201", response, err)
	}
}

// Responses that tell the client to try again release the key; all others are stored.
func TestRetryableResponseReleasesKey(t *testing.T) {
	for status, stored := range map[int]bool{200: true, 204: true, 404: true, 409: true, 422: true, 429: false, 500: false, 503: false} {
		f := setup(t)
		f.finish(f.wantLease("owner", "key", "{}"), idempotency.Response{Status: status})
		if _, response, err := f.begin("owner", "key", "{}"); err != nil || (response != nil) != stored {
			t.Errorf("after %d: Begin = %v, %v; want a stored response: %t", status, response, err, stored)
		}
	}
	f := setup(t)
	if err := f.wantLease("owner", "key", "{}").Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.wantLease("owner", "key", "another request")
}

// A stored response can neither be read nor be moved to another owner.
func TestStoredResponseIsSealed(t *testing.T) {
	f := setup(t)
	f.finish(f.wantLease("owner", "key", `{"otp":"493817"}`), created)
	stored := f.store.rows["owner|key"]
	if bytes.Contains(stored.sealed, []byte("secret")) || strings.Contains(string(stored.claim.Fingerprint), "493817") {
		t.Error("the store contains plain text")
	}
	f.store.rows["thief|key"] = stored
	if lease, response, err := f.begin("thief", "key", `{"otp":"493817"}`); err == nil {
		t.Errorf("Begin = %v, %v; want an error for the response of another owner", lease, response)
	}
}
