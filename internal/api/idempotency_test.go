package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
)

// fakeResponseStore stores responses in memory.
type fakeResponseStore struct {
	mu   sync.Mutex
	rows map[string]*storedResponse
	// renewals counts the calls of RenewKey.
	renewals int
	// failures is how many more calls of SaveResponse and ReleaseKey fail.
	failures int
}

// available returns an error while failures is above 0.
func (s *fakeResponseStore) available(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures > 0 {
		s.failures--
		return fault.Down(errors.New("connection lost"))
	}
	return ctx.Err()
}

type storedResponse struct {
	fingerprint, sealed []byte
	lease               string
	work                *idempotency.Work
}

func (s *fakeResponseStore) ClaimKey(_ context.Context, c idempotency.Claim) (*idempotency.StoredResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[string]*storedResponse{}
	}
	k := c.Owner + "|" + c.Key
	if have := s.rows[k]; have != nil {
		return &idempotency.StoredResponse{Fingerprint: have.fingerprint, Sealed: have.sealed, Work: have.work}, nil
	}
	s.rows[k] = &storedResponse{fingerprint: c.Fingerprint, lease: c.LeaseID}
	return nil, nil
}

func (s *fakeResponseStore) SaveResponse(ctx context.Context, h idempotency.Holder, _ int, sealed []byte) error {
	if err := s.available(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.rows[h.Owner+"|"+h.Key]; have != nil && have.lease == h.LeaseID {
		have.sealed = bytes.Clone(sealed)
	}
	return nil
}

func (s *fakeResponseStore) ReleaseKey(ctx context.Context, h idempotency.Holder) (*idempotency.Work, error) {
	if err := s.available(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.rows[h.Owner+"|"+h.Key]; have != nil && have.lease == h.LeaseID {
		if have.work != nil {
			return have.work, nil
		}
		delete(s.rows, h.Owner+"|"+h.Key)
	}
	return nil, nil
}

func (s *fakeResponseStore) RenewKey(context.Context, idempotency.Holder, time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewals++
	return nil
}

// commit marks the key under which ctx works as committed, like the store.
func (s *fakeResponseStore) commit(ctx context.Context, w idempotency.Work) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := idempotency.HolderOf(ctx); ok {
		s.rows[h.Owner+"|"+h.Key].work = &w
	}
}

// TestIdempotencyKeys checks what a repeated request gets.
func TestIdempotencyKeys(t *testing.T) {
	a := newFixture(t)
	var ran atomic.Int64
	var fail error
	block, entered := make(chan struct{}), make(chan struct{}, 1)
	h := a.server.HandlerWith(
		api.TestRoute{Pattern: "/api/thing", Idempotent: true, Handle: func(ctx context.Context) (endpoint.Response, error) {
			n := ran.Add(1)
			if fail != nil {
				return endpoint.Response{}, fail
			}
			return endpoint.Created(fmt.Sprintf("/api/thing/%d", n), map[string]int64{"n": n}), nil
		}},
		api.TestRoute{Pattern: "/api/slow", Idempotent: true, Handle: func(ctx context.Context) (endpoint.Response, error) {
			entered <- struct{}{}
			<-block
			return endpoint.Created("/api/slow/1", 1), nil
		}},
		api.TestRoute{Pattern: "/api/broken", Idempotent: true, Handle: func(ctx context.Context) (endpoint.Response, error) { panic("broken") }},
	)
	post := func(path, key, body string) *httptest.ResponseRecorder {
		return send(h, "POST", path, body, "Authorization: Bearer "+a.token, "Idempotency-Key: "+key)
	}
	first, again := post("/api/thing", "k", "{}"), post("/api/thing", `"k"`, "{}")
	if first.Code != 201 || again.Code != 201 || ran.Load() != 1 || first.Body.String() != again.Body.String() ||
		again.Header().Get("Location") != "/api/thing/1" || again.Header().Get("Content-Type") != "application/json" {
		t.Errorf("repeat: got %d %s, then %d %s %v, want the same response twice", first.Code, first.Body, again.Code, again.Body, again.Header())
	}
	if w := post("/api/thing", "k", `{"other":1}`); problemCode(t, w) != "idempotency_key_reused" {
		t.Errorf("another body: got %s, want idempotency_key_reused", w.Body)
	}
	if w := post("/api/thing", `"k`, "{}"); w.Code == 500 {
		t.Errorf("malformed key: got %s, want no internal error", w.Body)
	}

	fail = fault.New(fault.Conflict, "player_exists", "It is there.")
	post("/api/thing", "refused", "{}")
	before := ran.Load()
	fail = nil
	if w := post("/api/thing", "refused", "{}"); problemCode(t, w) != "player_exists" || ran.Load() != before {
		t.Errorf("repeat after a conflict: got %s, want player_exists", w.Body)
	}
	for i, retryable := range []error{fault.New(fault.TooMany, "reminder_limit", "Later."), fault.Down(nil), errors.New("oops")} {
		key := fmt.Sprintf("retryable-%d", i)
		fail = retryable
		post("/api/thing", key, "{}")
		fail = nil
		before := ran.Load()
		if w := post("/api/thing", key, "{}"); w.Code != 201 || ran.Load() != before+1 {
			t.Errorf("repeat after %v: got %d, want 201 from a new run", retryable, w.Code)
		}
	}

	go post("/api/slow", "slow", "{}")
	<-entered
	if w := post("/api/slow", "slow", "{}"); problemCode(t, w) != "request_in_progress" || w.Header().Get("Retry-After") == "" {
		t.Errorf("while the first request runs: got %s, want request_in_progress with Retry-After", w.Body)
	}
	close(block)
	for range 2 {
		if w := post("/api/broken", "b", "{}"); problemCode(t, w) != "internal_error" {
			t.Errorf("after a panic: got %s, want internal_error each time", w.Body)
		}
	}
}

// TestResponsesAreStoredAfterAnOutage checks that a short outage of the database neither
// loses a response nor blocks a key.
func TestResponsesAreStoredAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFixture(t)
		store := a.responses
		ran := 0
		h := a.server.HandlerWith(api.TestRoute{Pattern: "/api/thing", Idempotent: true, Handle: func(ctx context.Context) (endpoint.Response, error) {
			if ran++; ran == 2 {
				return endpoint.Response{}, fault.Down(errors.New("connection lost"))
			}
			return endpoint.Created("/api/thing/1", ran), nil
		}})
		post := func(key string, failures int) *httptest.ResponseRecorder {
			store.failures = failures
			return send(h, "POST", "/api/thing", "{}", "Authorization: Bearer "+a.token, "Idempotency-Key: "+key)
		}
		if first, again := post("done", 3), post("done", 0); first.Code != 201 || again.Code != 201 || ran != 1 {
			t.Errorf("got %d, then %d %s after %d runs", first.Code, again.Code, again.Body, ran)
		}
		if first, again := post("failed", 2), post("failed", 0); first.Code != 503 || again.Code != 201 || ran != 3 {
			t.Errorf("got %d, then %d %s after %d runs", first.Code, again.Code, again.Body, ran)
		}
		if first, again := post("outage", 9), post("outage", 0); first.Code != 201 || problemCode(t, again) != "request_in_progress" {
			t.Errorf("got %d, then %d %s", first.Code, again.Code, again.Body)
		}
	})
}

// TestResponsesOfSlowRequestsAreStored checks that a handler that used up its timeout is
// not run again.
func TestResponsesOfSlowRequestsAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFixture(t)
		ran := 0
		h := a.server.HandlerWith(api.TestRoute{Pattern: "/api/slow", Idempotent: true, Handle: func(ctx context.Context) (endpoint.Response, error) {
			<-ctx.Done()
			if ran++; ran > 2 {
				panic("broken")
			}
			return endpoint.Created("/api/slow/1", ran), nil
		}})
		post := func(key string) *httptest.ResponseRecorder {
			return send(h, "POST", "/api/slow", "{}", "Authorization: Bearer "+a.token, "Idempotency-Key: "+key)
		}
		if first, again := post("k"), post("k"); first.Code != 201 || again.Code != 201 || ran != 1 {
			t.Errorf("got %d, then %d %s after %d runs", first.Code, again.Code, again.Body, ran)
		}
		ran = 2
		for range 2 {
			if w := post("b"); problemCode(t, w) != "internal_error" {
				t.Errorf("after a panic: got %s, want internal_error each time", w.Body)
			}
		}
	})
}

// TestCommittedWorkIsNotRepeated checks that a request whose work was committed, but whose
// handler could not tell, gets the rebuilt response, as does its repeat.
func TestCommittedWorkIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFixture(t)
		ran := 0
		h := a.server.HandlerWith(api.TestRoute{
			Pattern: "/api/thing", Idempotent: true,
			Handle: func(ctx context.Context) (endpoint.Response, error) {
				ran++
				a.responses.commit(ctx, idempotency.Work{ID: "thing-1"})
				return endpoint.Response{}, fault.Down(errors.New("commit: connection lost"))
			},
			Rebuild: func(w idempotency.Work) (endpoint.Response, error) { return endpoint.Created("/api/"+w.ID, 1), nil },
		})
		for _, failures := range []int{0, 9} { // in the second run the database is unavailable when the first request ends
			key := fmt.Sprint("k-", failures)
			for i := range 3 {
				a.responses.failures = failures
				w := send(h, "POST", "/api/thing", "{}", "Authorization: Bearer "+a.token, "Idempotency-Key: "+key)
				a.responses.failures, failures = 0, 0
				if want := 201; i > 0 || key == "k-0" {
					if w.Code != want || w.Header().Get("Location") != "/api/thing-1" {
						t.Errorf("key %s, request %d: got %d %s, want 201 with Location", key, i+1, w.Code, w.Body)
					}
				}
			}
		}
		if ran != 2 {
			t.Errorf("handler ran %d times, want once for each key", ran)
		}
	})
}

// TestRunningRequestsRenewTheirLease checks that the lease is renewed each second, and no
// more after the handler has returned.
func TestRunningRequestsRenewTheirLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFixture(t)
		h := a.server.HandlerWith(api.TestRoute{Pattern: "/api/slow", Idempotent: true, Handle: func(context.Context) (endpoint.Response, error) {
			time.Sleep(5*time.Minute + time.Millisecond)
			return endpoint.Created("/api/slow/1", 1), nil
		}})
		send(h, "POST", "/api/slow", "{}", "Authorization: Bearer "+a.token, "Idempotency-Key: k")
		time.Sleep(time.Minute)
		if n := a.responses.renewals; n != 300 {
			t.Errorf("got %d renewals, want 300", n)
		}
	})
}
