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

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/idempotency"
)

// answerStore keeps answers for as long as a test runs.
type answerStore struct {
	mu   sync.Mutex
	kept map[string]*keptAnswer
	away int // how many more times it does not answer at the end of a request
}

// reached says whether the store answers this time.
func (s *answerStore) reached(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away > 0 {
		s.away--
		return fault.Down(errors.New("connection lost"))
	}
	return ctx.Err()
}

type keptAnswer struct {
	fingerprint, sealed []byte
	lease               string
}

func (s *answerStore) ClaimKey(_ context.Context, c idempotency.Claim) (*idempotency.StoredResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]*keptAnswer{}
	}
	k := c.Owner + "|" + c.Key
	if have := s.kept[k]; have != nil {
		return &idempotency.StoredResponse{Fingerprint: have.fingerprint, Sealed: have.sealed}, nil
	}
	s.kept[k] = &keptAnswer{fingerprint: c.Fingerprint, lease: c.LeaseID}
	return nil, nil
}

func (s *answerStore) SaveResponse(ctx context.Context, owner, key, lease string, _ int, sealed []byte) error {
	if err := s.reached(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.kept[owner+"|"+key]; have != nil && have.lease == lease {
		have.sealed = bytes.Clone(sealed)
	}
	return nil
}

func (s *answerStore) ReleaseKey(ctx context.Context, owner, key, lease string) error {
	if err := s.reached(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.kept[owner+"|"+key]; have != nil && have.lease == lease {
		delete(s.kept, owner+"|"+key)
	}
	return nil
}

// TestIdempotencyKeys walks through what a key promises.
func TestIdempotencyKeys(t *testing.T) {
	a := newAdapter(t)
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
		return ask(h, "POST", path, body, "Authorization: Bearer "+a.token, "Idempotency-Key: "+key)
	}
	first, again := post("/api/thing", "k", "{}"), post("/api/thing", `"k"`, "{}")
	if first.Code != 201 || again.Code != 201 || ran.Load() != 1 || first.Body.String() != again.Body.String() ||
		again.Header().Get("Location") != "/api/thing/1" || again.Header().Get("Content-Type") != "application/json" {
		t.Errorf("the first answer again: %d %s, %d %s %v", first.Code, first.Body, again.Code, again.Body, again.Header())
	}
	if w := post("/api/thing", "k", `{"other":1}`); code(t, w) != "idempotency_key_reused" {
		t.Errorf("another body: %s", w.Body)
	}
	if w := post("/api/thing", `"k`, "{}"); w.Code == 500 {
		t.Errorf("a malformed key: %s", w.Body)
	}

	fail = fault.New(fault.Conflict, "player_exists", "It is there.")
	post("/api/thing", "refused", "{}")
	before := ran.Load()
	fail = nil
	if w := post("/api/thing", "refused", "{}"); code(t, w) != "player_exists" || ran.Load() != before {
		t.Errorf("a refusal is an answer, too: %s", w.Body)
	}
	for i, later := range []error{fault.New(fault.TooMany, "reminder_limit", "Later."), fault.Down(nil), errors.New("oops")} {
		key := fmt.Sprintf("later-%d", i)
		fail = later
		post("/api/thing", key, "{}")
		fail = nil
		before := ran.Load()
		if w := post("/api/thing", key, "{}"); w.Code != 201 || ran.Load() != before+1 {
			t.Errorf("%v was kept: %d", later, w.Code)
		}
	}

	go post("/api/slow", "slow", "{}")
	<-entered
	if w := post("/api/slow", "slow", "{}"); code(t, w) != "request_in_progress" || w.Header().Get("Retry-After") == "" {
		t.Errorf("while the first runs: %s", w.Body)
	}
	close(block)
	for range 2 {
		if w := post("/api/broken", "b", "{}"); code(t, w) != "internal_error" {
			t.Errorf("after a panic the key is free: %s", w.Body)
		}
	}
}

// TestAnswersAreKeptOverALostConnection: what was done is not done again, and what
// was not is not held up, because the database went away for a moment.
func TestAnswersAreKeptOverALostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdapter(t)
		store := a.answers
		ran := 0
		h := a.server.HandlerWith(api.TestRoute{Pattern: "/api/thing", Idempotent: true, Handle: func(ctx context.Context) (endpoint.Response, error) {
			if ran++; ran == 2 {
				return endpoint.Response{}, fault.Down(errors.New("connection lost"))
			}
			return endpoint.Created("/api/thing/1", ran), nil
		}})
		post := func(key string, away int) *httptest.ResponseRecorder {
			store.away = away
			return ask(h, "POST", "/api/thing", "{}", "Authorization: Bearer "+a.token, "Idempotency-Key: "+key)
		}
		if first, again := post("done", 3), post("done", 0); first.Code != 201 || again.Code != 201 || ran != 1 {
			t.Errorf("%d, then %d %s: it ran %d times", first.Code, again.Code, again.Body, ran)
		}
		if first, again := post("failed", 2), post("failed", 0); first.Code != 503 || again.Code != 201 || ran != 3 {
			t.Errorf("%d, then %d %s: it ran %d times", first.Code, again.Code, again.Body, ran)
		}
		if first, again := post("away", 9), post("away", 0); first.Code != 201 || code(t, again) != "request_in_progress" {
			t.Errorf("%d, then %d %s", first.Code, again.Code, again.Body)
		}
	})
}

// TestAnswersOfSlowRequestsAreKept: whatever used up the time of a request, what
// it did is not done again.
func TestAnswersOfSlowRequestsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdapter(t)
		ran := 0
		h := a.server.HandlerWith(api.TestRoute{Pattern: "/api/slow", Idempotent: true, Handle: func(ctx context.Context) (endpoint.Response, error) {
			<-ctx.Done()
			if ran++; ran > 2 {
				panic("broken")
			}
			return endpoint.Created("/api/slow/1", ran), nil
		}})
		post := func(key string) *httptest.ResponseRecorder {
			return ask(h, "POST", "/api/slow", "{}", "Authorization: Bearer "+a.token, "Idempotency-Key: "+key)
		}
		if first, again := post("k"), post("k"); first.Code != 201 || again.Code != 201 || ran != 1 {
			t.Errorf("%d, then %d %s: it ran %d times", first.Code, again.Code, again.Body, ran)
		}
		ran = 2
		for range 2 {
			if w := post("b"); code(t, w) != "internal_error" {
				t.Errorf("after a panic the key is free: %s", w.Body)
			}
		}
	})
}
