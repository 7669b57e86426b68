package idempotency_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/vault"
)

// fakeStore is a Store in memory.
type fakeStore struct {
	mu     sync.Mutex
	rows   map[string]*row
	panics int // the next renewals that panic
}

type row struct {
	claim  idempotency.Claim
	sealed []byte
	work   *idempotency.Work
}

func (s *fakeStore) ClaimKey(_ context.Context, c idempotency.Claim) (*idempotency.StoredResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.rows[c.Owner+"|"+c.Key]
	same := have != nil && bytes.Equal(have.claim.Fingerprint, c.Fingerprint)
	if have == nil || !have.claim.EndsAt.After(c.Now) || have.sealed == nil && have.work == nil && same && !have.claim.LeaseEndsAt.After(c.Now) {
		s.rows[c.Owner+"|"+c.Key] = &row{claim: c}
		return nil, nil
	}
	return &idempotency.StoredResponse{Fingerprint: have.claim.Fingerprint, Sealed: have.sealed, Work: have.work}, nil
}

// held returns the row that h holds, or nil.
func (s *fakeStore) held(h idempotency.Holder) *row {
	if have := s.rows[h.Owner+"|"+h.Key]; have != nil && have.claim.LeaseID == h.LeaseID {
		return have
	}
	return nil
}

func (s *fakeStore) RenewKey(_ context.Context, h idempotency.Holder, leaseEndsAt time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.panics > 0 {
		s.panics--
		panic("oops")
	}
	if have := s.held(h); have != nil {
		have.claim.LeaseEndsAt = leaseEndsAt
	}
	return nil
}

func (s *fakeStore) SaveResponse(_ context.Context, h idempotency.Holder, _ int, sealed []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.held(h); have != nil {
		have.sealed = sealed
	}
	return nil
}

func (s *fakeStore) ReleaseKey(_ context.Context, h idempotency.Holder) (*idempotency.Work, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.held(h)
	if have == nil || have.work != nil {
		return have.committed(), nil
	}
	delete(s.rows, h.Owner+"|"+h.Key)
	return nil, nil
}

func (r *row) committed() *idempotency.Work {
	if r == nil {
		return nil
	}
	return r.work
}

// fixture is a Service with a fake store and a clock.
type fixture struct {
	*testing.T
	service *idempotency.Service
	store   *fakeStore
	now     time.Time
	clock   func() time.Time
	log     bytes.Buffer
}

func setup(t *testing.T) *fixture {
	t.Helper()
	keys, err := vault.New(bytes.Repeat([]byte("s"), 32))
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{T: t, store: &fakeStore{rows: map[string]*row{}}, now: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)}
	leases := 0
	newID := func() string {
		leases++
		return fmt.Sprint("lease-", leases)
	}
	f.clock = func() time.Time { return f.now }
	f.service = idempotency.New(f.store, keys.For(vault.ForResponses), func() time.Time { return f.clock() }, newID, slog.New(slog.NewTextHandler(&f.log, nil)))
	return f
}

func (f *fixture) begin(owner, key string, request ...string) (*idempotency.Lease, *idempotency.Earlier, error) {
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
		if err != nil || response == nil || !reflect.DeepEqual(*response.Response, created) {
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
	f.now = f.now.Add(3*time.Second - time.Millisecond)
	if refused := f.wantFault("request_in_progress", "owner", "key", "{}"); refused.RetryAfter <= 0 {
		t.Errorf("RetryAfter = %s, want more than 0", refused.RetryAfter)
	}
	f.wantFault("idempotency_key_reused", "owner", "key", "other")
	f.now = f.now.Add(time.Millisecond)
	f.wantFault("idempotency_key_reused", "owner", "key", "other")
	second := f.wantLease("owner", "key", "{}")

	// The abandoned request ends late and must not change the key of the second.
	f.finish(abandoned, idempotency.Response{Status: 409})
	if _, err := abandoned.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.wantFault("request_in_progress", "owner", "key", "{}")
	f.finish(second, created)
	if _, response, err := f.begin("owner", "key", "{}"); err != nil || response == nil || response.Response.Status != 201 {
		t.Errorf("Begin = %+v, %v; want status 201", response, err)
	}
}

func TestRetryableResponses(t *testing.T) {
	for status, retry := range map[int]bool{200: false, 204: false, 404: false, 409: false, 422: false, 429: true, 500: true, 503: true} {
		if got := (idempotency.Response{Status: status}).MayRetry(); got != retry {
			t.Errorf("MayRetry of %d = %t, want %t", status, got, retry)
		}
	}
}

func TestReleasedKeyIsFree(t *testing.T) {
	f := setup(t)
	if work, err := f.wantLease("owner", "key", "{}").Release(t.Context()); err != nil || work != nil {
		t.Fatalf("Release = %v, %v; want nothing", work, err)
	}
	f.wantLease("owner", "key", "another request")
}

// Committed work outlives the lease, and the repeat learns what was done.
func TestCommittedWorkKeepsItsKey(t *testing.T) {
	f := setup(t)
	lease := f.wantLease("owner", "key", "{}")
	f.store.rows["owner|key"].work = &idempotency.Work{ID: "thing-1"}
	f.now = f.now.Add(time.Minute)
	if work, err := lease.Release(t.Context()); err != nil || work == nil || work.ID != "thing-1" {
		t.Fatalf("Release = %v, %v; want the work", work, err)
	}
	if _, earlier, err := f.begin("owner", "key", "{}"); err != nil || earlier == nil || earlier.Work == nil || earlier.Work.ID != "thing-1" {
		t.Fatalf("Begin = %+v, %v; want the work", earlier, err)
	}
	f.wantFault("idempotency_key_reused", "owner", "key", "other")
}

// A running request keeps its key for as long as it renews the lease.
func TestRunningRequestRenewsItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t)
		f.clock = time.Now
		stop := f.wantLease("owner", "key", "{}").KeepAlive(t.Context())
		time.Sleep(5*time.Minute + time.Millisecond)
		f.wantFault("request_in_progress", "owner", "key", "{}")
		stop()
		time.Sleep(3 * time.Second)
		f.wantLease("owner", "key", "{}")
	})
}

// A renewal that panics does not end the process, and is tried again before the lease ends.
func TestRenewalPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t)
		f.clock = time.Now
		f.store.panics = 1
		stop := f.wantLease("owner", "key", "{}").KeepAlive(t.Context())
		time.Sleep(time.Minute + time.Millisecond)
		synctest.Wait()
		f.wantFault("request_in_progress", "owner", "key", "{}")
		stop()
		if n := strings.Count(f.log.String(), "panic: oops"); n != 1 {
			t.Errorf("%d panics are logged, want 1:\n%s", n, &f.log)
		}
	})
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
