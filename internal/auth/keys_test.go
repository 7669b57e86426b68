package auth_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
)

var masterKey, otherMasterKey = bytes.Repeat([]byte("m"), 32), bytes.Repeat([]byte("o"), 32)

// start is when the tests' clocks begin.
var start = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// clock is moved by hand.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: start} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// keyStore keeps secrets as the database does.
type keyStore struct {
	mu      sync.Mutex
	secrets []auth.Secret
	// beforeAdd runs before a secret is added; its error is the store's.
	beforeAdd func(auth.Secret) error
}

func (k *keyStore) Secrets(context.Context) ([]auth.Secret, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.secrets), nil
}

func (k *keyStore) AddSecret(_ context.Context, s auth.Secret) error {
	if k.beforeAdd != nil {
		if err := k.beforeAdd(s); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.ContainsFunc(k.secrets, func(have auth.Secret) bool { return have.ID == s.ID }) {
		k.secrets = append(k.secrets, s)
	}
	return nil
}

func (k *keyStore) DropSecrets(_ context.Context, before time.Time) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.secrets = slices.DeleteFunc(k.secrets, func(s auth.Secret) bool { return s.EndsAt.Before(before) })
	return nil
}

func openKeys(t testing.TB, store auth.KeyStore, now func() time.Time) *auth.Keys {
	t.Helper()
	keys, err := auth.OpenKeys(t.Context(), store, masterKey, now)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// published returns the ids of the keys in the JWKS, oldest first.
func published(t *testing.T, keys *auth.Keys) []string {
	t.Helper()
	set, err := keys.JWKS()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, key := range set {
		ids = append(ids, key.Kid)
	}
	return ids
}

// TestReplicasRace: those that start at once on an empty database agree.
func TestReplicasRace(t *testing.T) {
	for range 20 {
		store := new(keyStore)
		replicas := make([]*auth.Keys, 4)
		var wait sync.WaitGroup
		for i := range replicas {
			wait.Go(func() {
				keys, err := auth.OpenKeys(t.Context(), store, masterKey, newClock().Now)
				if err != nil {
					t.Error(err)
				}
				replicas[i] = keys
			})
		}
		wait.Wait()
		if t.Failed() {
			return
		}
		first, err := replicas[0].JWKS()
		if err != nil || len(first) != 1 {
			t.Fatalf("%d signing keys, %v", len(first), err)
		}
		for _, keys := range replicas[1:] {
			if !bytes.Equal(keys.Vault.MAC(auth.ForOTP), replicas[0].Vault.MAC(auth.ForOTP)) {
				t.Fatal("two replicas, two secrets")
			}
			if set, err := keys.JWKS(); err != nil || !slices.Equal(set, first) {
				t.Fatalf("two replicas, two signing keys: %v", err)
			}
		}
	}
}

// TestMasterKey: the database knows one, and it has the right length.
func TestMasterKey(t *testing.T) {
	store := new(keyStore)
	openKeys(t, store, newClock().Now)
	if _, err := auth.OpenKeys(t.Context(), store, otherMasterKey, newClock().Now); !errors.Is(err, auth.ErrMasterKey) {
		t.Errorf("another master key: %v", err)
	}
	for _, n := range []int{0, 16, 31, 33} {
		if _, err := auth.OpenKeys(t.Context(), store, make([]byte, n), newClock().Now); err == nil || errors.Is(err, auth.ErrMasterKey) {
			t.Errorf("a master key of %d bytes: %v", n, err)
		}
	}
}

// TestMasterKeysRace: of two replicas that start at once with different master
// keys, the one whose secret was not kept must leave nothing behind, at whatever
// point the other one stands.
func TestMasterKeysRace(t *testing.T) {
	store := new(keyStore)
	crash := errors.New("the first replica ends here")
	loser := &racer{keyStore: store, meanwhile: func() {
		store.beforeAdd = func(s auth.Secret) error {
			if s.Purpose == "signing" {
				return crash
			}
			return nil
		}
		if _, err := auth.OpenKeys(t.Context(), store, masterKey, newClock().Now); !errors.Is(err, crash) {
			t.Errorf("the first replica: %v", err)
		}
		store.beforeAdd = nil
	}}
	if _, err := auth.OpenKeys(t.Context(), loser, otherMasterKey, newClock().Now); !errors.Is(err, auth.ErrMasterKey) {
		t.Errorf("the replica that lost: %v", err)
	}
	openKeys(t, store, newClock().Now)
}

// racer is a keyStore on which something else happens before the first secret
// is added.
type racer struct {
	*keyStore
	meanwhile func()
}

func (r *racer) AddSecret(ctx context.Context, s auth.Secret) error {
	if r.meanwhile != nil {
		r.meanwhile()
		r.meanwhile = nil
	}
	return r.keyStore.AddSecret(ctx, s)
}

// TestRotation: a key is published an hour before it signs, signs for 30 days,
// and stays for a day after its last signature.
func TestRotation(t *testing.T) {
	clock, store := newClock(), new(keyStore)
	keys := openKeys(t, store, clock.Now)
	other := openKeys(t, store, clock.Now)
	tokens := auth.NewTokens(keys, issuer, time.Hour, clock.Now)
	rotate := func(want ...string) {
		t.Helper()
		// Any replica may, at any time and more than once.
		for _, k := range []*auth.Keys{keys, other, keys} {
			if err := k.Rotate(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for i, k := range []*auth.Keys{keys, other} {
			if got := published(t, k); !slices.Equal(got, want) {
				t.Errorf("at %s replica %d publishes %v, want %v", clock.Now(), i, got, want)
			}
		}
	}
	signs := func(want string) {
		t.Helper()
		if got := header(t, access(t, tokens)).Kid; got != want {
			t.Errorf("at %s %s signs, want %s", clock.Now(), got, want)
		}
	}
	const first, second = "es256-20260115", "es256-20260214"
	rotate(first)
	clock.advance(30*24*time.Hour - time.Hour - time.Second)
	rotate(first)
	clock.advance(time.Second)
	rotate(first, second)
	signs(first)
	clock.advance(time.Hour - time.Second)
	signs(first)
	clock.advance(time.Second)
	signs(second)
	clock.advance(24*time.Hour - time.Second)
	rotate(first, second)
	clock.advance(time.Second)
	rotate(second)
	signs(second)
	openKeys(t, store, clock.Now) // the service's secret is still there
}

// TestRotationAfterAGap: whoever did not rotate for longer than a key's time
// still takes what it signed until the last minute.
func TestRotationAfterAGap(t *testing.T) {
	clock, store := newClock(), new(keyStore)
	keys := openKeys(t, store, clock.Now)
	tokens := auth.NewTokens(keys, issuer, 24*time.Hour, clock.Now)
	rotate := func() {
		t.Helper()
		if err := keys.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	clock.advance(40 * 24 * time.Hour)
	rotate()
	clock.advance(time.Hour - time.Second)
	last := access(t, tokens)
	clock.advance(time.Second)
	rotate()
	fresh := access(t, tokens)
	if header(t, last).Kid == header(t, fresh).Kid {
		t.Fatal("no new key signs")
	}
	for range 23 {
		clock.advance(time.Hour)
		rotate()
		// A replica that starts now has seen neither token.
		verifier := auth.NewTokens(openKeys(t, store, clock.Now), issuer, time.Hour, clock.Now)
		for _, token := range []string{last, fresh} {
			if _, err := verifier.Verify(token); err != nil {
				t.Fatalf("at %s: %v", clock.Now(), err)
			}
		}
	}
	clock.advance(2 * time.Hour)
	rotate()
	if n := len(published(t, keys)); n != 1 {
		t.Errorf("%d keys are published, want 1", n)
	}
}

// TestClockBehindTheFirstKey: the replica that made the first key may have a
// clock that is ahead of this one's.
func TestClockBehindTheFirstKey(t *testing.T) {
	store, behind := new(keyStore), newClock()
	openKeys(t, store, newClock().Now)
	behind.advance(-10 * time.Second)
	tokens := auth.NewTokens(openKeys(t, store, behind.Now), issuer, time.Hour, behind.Now)
	if _, err := tokens.Verify(access(t, tokens)); err != nil {
		t.Error(err)
	}
}

// TestKeysStay: there is always a key that signs, whatever became of the table.
func TestKeysStay(t *testing.T) {
	store := new(keyStore)
	keys := openKeys(t, store, newClock().Now)
	store.secrets = nil
	if err := keys.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	tokens := auth.NewTokens(keys, issuer, time.Hour, newClock().Now)
	if _, err := tokens.Verify(access(t, tokens)); err != nil {
		t.Error(err)
	}
}
