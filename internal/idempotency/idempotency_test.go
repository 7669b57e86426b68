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

// store keeps answers as the database does.
type store struct{ rows map[string]*row }

type row struct {
	claim  idempotency.Claim
	sealed []byte
}

func (s *store) ClaimAnswer(_ context.Context, c idempotency.Claim) (*idempotency.Kept, error) {
	have := s.rows[c.Owner+"|"+c.Key]
	same := have != nil && bytes.Equal(have.claim.Fingerprint, c.Fingerprint)
	if have == nil || !have.claim.EndsAt.After(c.StartedAt) || have.sealed == nil && same && !have.claim.StartedAt.After(c.LostBefore) {
		s.rows[c.Owner+"|"+c.Key] = &row{claim: c}
		return nil, nil
	}
	return &idempotency.Kept{Fingerprint: have.claim.Fingerprint, Sealed: have.sealed}, nil
}

func (s *store) FinishAnswer(_ context.Context, owner, key, lease string, _ int, sealed []byte) error {
	if have := s.rows[owner+"|"+key]; have != nil && have.claim.Lease == lease {
		have.sealed = sealed
	}
	return nil
}

func (s *store) DropAnswer(_ context.Context, owner, key, lease string) error {
	if have := s.rows[owner+"|"+key]; have != nil && have.claim.Lease == lease {
		delete(s.rows, owner+"|"+key)
	}
	return nil
}

// bed is a Service over a store, with a clock.
type bed struct {
	*testing.T
	service *idempotency.Service
	store   *store
	now     time.Time
}

func setup(t *testing.T) *bed {
	t.Helper()
	vault, err := auth.NewVault(bytes.Repeat([]byte("s"), 32))
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{T: t, store: &store{rows: map[string]*row{}}, now: time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)}
	leases := 0
	b.service = &idempotency.Service{
		Store: b.store, Sealer: vault.For(auth.ForAnswers),
		Now: func() time.Time { return b.now },
		NewID: func() string {
			leases++
			return fmt.Sprint("lease-", leases)
		},
	}
	return b
}

func (b *bed) begin(owner, key string, request ...string) (*idempotency.Ticket, *idempotency.Answer, error) {
	var parts [][]byte
	for _, part := range request {
		parts = append(parts, []byte(part))
	}
	return b.service.Begin(b.Context(), owner, key, time.Hour, parts...)
}

// first begins what must be the first.
func (b *bed) first(owner, key string, request ...string) *idempotency.Ticket {
	b.Helper()
	ticket, kept, err := b.begin(owner, key, request...)
	if err != nil || kept != nil || ticket == nil {
		b.Fatalf("this is the first request: %v, %v", kept, err)
	}
	return ticket
}

// refused begins what must be refused with code.
func (b *bed) refused(code, owner, key string, request ...string) *fault.Error {
	b.Helper()
	ticket, kept, err := b.begin(owner, key, request...)
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != code || ticket != nil || kept != nil {
		b.Fatalf("%v, want %s", err, code)
	}
	return f
}

func (b *bed) finish(ticket *idempotency.Ticket, a idempotency.Answer) {
	b.Helper()
	if err := ticket.Finish(b.Context(), a); err != nil {
		b.Fatal(err)
	}
}

var created = idempotency.Answer{
	Status: 201, Header: map[string]string{"Location": "/api/thing/1"}, Body: []byte(`{"token":"secret-token"}`), Subject: "thing-1",
}

// TestAgain gives the first answer to the same request alone.
func TestAgain(t *testing.T) {
	b := setup(t)
	b.finish(b.first("owner", "key", "POST", "/a", "{}"), created)
	for range 2 {
		_, kept, err := b.begin("owner", "key", "POST", "/a", "{}")
		if err != nil || kept == nil || !reflect.DeepEqual(*kept, created) {
			t.Fatalf("%+v, %v", kept, err)
		}
	}
	for _, other := range [][]string{{"POST", "/a", "{ }"}, {"PUT", "/a", "{}"}, {"POST", "/b", "{}"}, {"POST", "/a{}", ""}, {"POST", "/a"}} {
		b.refused("idempotency_key_reused", "owner", "key", other...)
	}
	b.first("another owner", "key", "POST", "/a", "{}")
	b.first("owner", "another key", "POST", "/a", "{}")
	b.now = b.now.Add(time.Hour)
	b.first("owner", "key", "POST", "/a", "something else")
}

// TestRunning: while the first runs, and until it counts as lost.
func TestRunning(t *testing.T) {
	b := setup(t)
	lost := b.first("owner", "key", "{}")
	b.now = b.now.Add(time.Minute - time.Second)
	if f := b.refused("request_in_progress", "owner", "key", "{}"); f.RetryAfter <= 0 {
		t.Error("when to ask again is not said")
	}
	b.refused("idempotency_key_reused", "owner", "key", "other")
	b.now = b.now.Add(time.Second)
	b.refused("idempotency_key_reused", "owner", "key", "other")
	second := b.first("owner", "key", "{}")

	// The one that was lost comes back: the key is not its own any more.
	b.finish(lost, idempotency.Answer{Status: 409})
	if err := lost.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.refused("request_in_progress", "owner", "key", "{}")
	b.finish(second, created)
	if _, kept, err := b.begin("owner", "key", "{}"); err != nil || kept == nil || kept.Status != 201 {
		t.Errorf("%+v, %v", kept, err)
	}
}

// TestLaterIsNoAnswer: what says "later" frees the key, what refuses is kept.
func TestLaterIsNoAnswer(t *testing.T) {
	for status, keeps := range map[int]bool{200: true, 204: true, 404: true, 409: true, 422: true, 429: false, 500: false, 503: false} {
		b := setup(t)
		b.finish(b.first("owner", "key", "{}"), idempotency.Answer{Status: status})
		if _, kept, err := b.begin("owner", "key", "{}"); err != nil || (kept != nil) != keeps {
			t.Errorf("%d: %v, %v", status, kept, err)
		}
	}
	b := setup(t)
	if err := b.first("owner", "key", "{}").Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.first("owner", "key", "another request")
}

// TestSealed: what is kept can be neither read nor moved to another key.
func TestSealed(t *testing.T) {
	b := setup(t)
	b.finish(b.first("owner", "key", `{"otp":"493817"}`), created)
	kept := b.store.rows["owner|key"]
	if bytes.Contains(kept.sealed, []byte("secret")) || strings.Contains(string(kept.claim.Fingerprint), "493817") {
		t.Error("what is kept can be read")
	}
	b.store.rows["thief|key"] = kept
	if ticket, answer, err := b.begin("thief", "key", `{"otp":"493817"}`); err == nil {
		t.Errorf("an answer was moved to another owner: %v, %v", ticket, answer)
	}
}
