package auth_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
)

var (
	masterKey      = master("m")
	otherMasterKey = master("o")
)

// master returns a function that returns one master key.
func master(fill string) func() ([][]byte, error) {
	return func() ([][]byte, error) { return [][]byte{bytes.Repeat([]byte(fill), 32)}, nil }
}

// start is the first time of every test clock.
var start = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

// fakeClock moves only with advance.
type fakeClock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *fakeClock { return &fakeClock{at: start} }

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// fakeKeyStore holds secrets in memory.
type fakeKeyStore struct {
	mu      sync.Mutex
	secrets []auth.Secret
	// beforeAdd runs before AddSecret, which returns its error.
	beforeAdd func(auth.Secret) error
}

func (k *fakeKeyStore) Secrets(context.Context) ([]auth.Secret, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.secrets), nil
}

func (k *fakeKeyStore) AddSecret(_ context.Context, seal func(*auth.Secret) (auth.Secret, error)) error {
	s, err := seal(k.service())
	if err != nil {
		return err
	}
	if k.beforeAdd != nil {
		if err := k.beforeAdd(s); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.ContainsFunc(k.secrets, func(other auth.Secret) bool { return other.ID == s.ID }) {
		k.secrets = append(k.secrets, s)
	}
	return nil
}

// service returns the service secret, nil if there is none.
func (k *fakeKeyStore) service() *auth.Secret {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.secrets, func(s auth.Secret) bool { return s.ID == "service" })
	if i < 0 {
		return nil
	}
	return &k.secrets[i]
}

func (k *fakeKeyStore) DropSecrets(_ context.Context, before time.Time) error {
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

// published returns the IDs of the keys in the JWKS, oldest first.
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

// TestConcurrentFirstStartsAgree starts replicas concurrently on an empty database.
func TestConcurrentFirstStartsAgree(t *testing.T) {
	for range 20 {
		store := new(fakeKeyStore)
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
			t.Fatalf("got %d signing keys, %v, want 1", len(first), err)
		}
		for _, keys := range replicas[1:] {
			if !bytes.Equal(keys.Vault.For(vault.ForOTP).MAC(), replicas[0].Vault.For(vault.ForOTP).MAC()) {
				t.Fatal("two replicas have different secrets")
			}
			if set, err := keys.JWKS(); err != nil || !slices.Equal(set, first) {
				t.Fatalf("two replicas have different signing keys: %v", err)
			}
		}
	}
}

func TestOpenKeysRefusesWrongMasterKey(t *testing.T) {
	store := new(fakeKeyStore)
	openKeys(t, store, newClock().Now)
	if _, err := auth.OpenKeys(t.Context(), store, otherMasterKey, newClock().Now); !errors.Is(err, auth.ErrMasterKey) {
		t.Errorf("other master key: got %v, want ErrMasterKey", err)
	}
	for _, n := range []int{0, 16, 31, 33} {
		if _, err := auth.OpenKeys(t.Context(), store, func() ([][]byte, error) { return [][]byte{make([]byte, n)}, nil }, newClock().Now); err == nil || errors.Is(err, auth.ErrMasterKey) {
			t.Errorf("master key of %d bytes: got %v, want an error about the length", n, err)
		}
	}
}

// TestConcurrentFirstStartsWithTwoMasterKeys checks that the replica that inserts its
// secret second adds no signing key, even if the first one has crashed before it added
// its own.
func TestConcurrentFirstStartsWithTwoMasterKeys(t *testing.T) {
	store := new(fakeKeyStore)
	crash := errors.New("the first replica crashes")
	second := &interleavedStore{fakeKeyStore: store, beforeFirstAdd: func() {
		store.beforeAdd = func(s auth.Secret) error {
			if s.Purpose == "signing" {
				return crash
			}
			return nil
		}
		if _, err := auth.OpenKeys(t.Context(), store, masterKey, newClock().Now); !errors.Is(err, crash) {
			t.Errorf("first replica: got %v, want the crash", err)
		}
		store.beforeAdd = nil
	}}
	if _, err := auth.OpenKeys(t.Context(), second, otherMasterKey, newClock().Now); !errors.Is(err, auth.ErrMasterKey) {
		t.Errorf("second replica: got %v, want ErrMasterKey", err)
	}
	openKeys(t, store, newClock().Now)
}

// interleavedStore runs beforeFirstAdd before the first secret is added.
type interleavedStore struct {
	*fakeKeyStore
	beforeFirstAdd func()
}

func (s *interleavedStore) AddSecret(ctx context.Context, seal func(*auth.Secret) (auth.Secret, error)) error {
	if s.beforeFirstAdd != nil {
		s.beforeFirstAdd()
		s.beforeFirstAdd = nil
	}
	return s.fakeKeyStore.AddSecret(ctx, seal)
}

// TestKeyRotation checks that a key is published an hour before it signs, signs for 30
// days, and stays published for a day after its last signature.
func TestKeyRotation(t *testing.T) {
	clock, store := newClock(), new(fakeKeyStore)
	keys := openKeys(t, store, clock.Now)
	other := openKeys(t, store, clock.Now)
	tokens := auth.NewTokens(keys, issuer, time.Hour, clock.Now)
	rotate := func(want ...string) {
		t.Helper()
		// Any replica may rotate, at any time and more than once.
		for _, k := range []*auth.Keys{keys, other, keys} {
			if err := k.Rotate(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for i, k := range []*auth.Keys{keys, other} {
			if got := published(t, k); !slices.Equal(got, want) {
				t.Errorf("at %s: replica %d publishes %v, want %v", clock.Now(), i, got, want)
			}
		}
	}
	signs := func(want string) {
		t.Helper()
		if got := header(t, access(t, tokens)).Kid; got != want {
			t.Errorf("at %s: key %s signs, want %s", clock.Now(), got, want)
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
	openKeys(t, store, clock.Now) // fails if the service secret was removed
}

// TestVAPIDKey: replicas and later starts have one key, which is stored encrypted and never
// rotates. A database of an earlier release gets one.
func TestVAPIDKey(t *testing.T) {
	clock, store := newClock(), new(fakeKeyStore)
	first := openKeys(t, store, clock.Now).VAPID
	stored := slices.IndexFunc(store.secrets, func(s auth.Secret) bool { return s.Purpose == "vapid" })
	if bytes.Contains(store.secrets[stored].Sealed, first.Bytes()) {
		t.Error("the key is stored in clear")
	}
	clock.advance(400 * 24 * time.Hour)
	keys := openKeys(t, store, clock.Now)
	if err := keys.Rotate(t.Context()); err != nil || !keys.VAPID.Equal(first) {
		t.Errorf("another key after a year, %v", err)
	}
	store.secrets = slices.Delete(store.secrets, stored, stored+1)
	if again := openKeys(t, store, clock.Now); again.VAPID == nil || !again.VAPID.Equal(openKeys(t, store, clock.Now).VAPID) {
		t.Error("a database without the key got none, or two")
	}
}

// TestKeyRotationAfterGap checks that tokens stay valid if no replica rotated in time and
// a key signed beyond its end.
func TestKeyRotationAfterGap(t *testing.T) {
	clock, store := newClock(), new(fakeKeyStore)
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
		t.Fatal("both tokens have one key, want a new key for the second")
	}
	for range 23 {
		clock.advance(time.Hour)
		rotate()
		// A new replica has neither token in its cache.
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
		t.Errorf("got %d published keys, want 1", n)
	}
}

// TestSigningWithClockBehind starts a replica whose clock is behind the replica that made
// the first key.
func TestSigningWithClockBehind(t *testing.T) {
	store, behind := new(fakeKeyStore), newClock()
	openKeys(t, store, newClock().Now)
	behind.advance(-10 * time.Second)
	tokens := auth.NewTokens(openKeys(t, store, behind.Now), issuer, time.Hour, behind.Now)
	if _, err := tokens.Verify(access(t, tokens)); err != nil {
		t.Error(err)
	}
}

// TestSigningAfterSecretsAreLost checks that a running replica continues to sign if the
// secrets are deleted from the database.
func TestSigningAfterSecretsAreLost(t *testing.T) {
	store := new(fakeKeyStore)
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

// TestServiceSecretReplaced: a process that runs during a rotation of the service secret, or runs on after one, notices it.
func TestServiceSecretReplaced(t *testing.T) {
	for name, change := range map[string]func(*fakeKeyStore){
		"during": func(s *fakeKeyStore) {
			s.secrets = append(s.secrets, auth.Secret{ID: "service-next", Purpose: "secret"})
		},
		"after": func(s *fakeKeyStore) { s.service().CreatedAt = start.Add(time.Hour) },
	} {
		store := new(fakeKeyStore)
		keys := openKeys(t, store, newClock().Now)
		if err := errors.Join(keys.Rotate(t.Context()), keys.Usable()); err != nil {
			t.Fatal(err)
		}
		change(store)
		if err := keys.Rotate(t.Context()); !errors.Is(err, auth.ErrSecretReplaced) || !errors.Is(keys.Usable(), err) {
			t.Errorf("%s: got %v and %v, want ErrSecretReplaced", name, err, keys.Usable())
		}
	}
}

// TestTokenOfUnknownKey: a replica reads the keys again for a token of a key that another replica added. It does so
// once for callers at the same time, and not for an ID that no key can have.
func TestTokenOfUnknownKey(t *testing.T) {
	clock, store := newClock(), &countingStore{fakeKeyStore: new(fakeKeyStore)}
	keys := openKeys(t, store, clock.Now)
	verifier := auth.NewTokens(openKeys(t, store, clock.Now), issuer, time.Hour, clock.Now)
	clock.advance(40 * 24 * time.Hour)
	if err := keys.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.advance(time.Hour)
	token := access(t, auth.NewTokens(keys, issuer, time.Hour, clock.Now))
	before := store.reads.Load()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := verifier.Verify(token); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := store.reads.Load() - before; n < 1 || n > 5 {
		t.Errorf("50 callers read the keys %d times", n)
	}
	store.err = fault.Down(errors.New("the database is away"))
	foreign := auth.NewTokens(openKeys(t, new(fakeKeyStore), func() time.Time { return clock.Now().Add(48 * time.Hour) }), issuer, time.Hour, clock.Now)
	if _, err := verifier.Verify(access(t, foreign)); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without the database: got %v, want unavailable", err)
	}
}

// countingStore counts reads, which fail with err.
type countingStore struct {
	*fakeKeyStore
	reads atomic.Int64
	err   error
}

func (s *countingStore) Secrets(ctx context.Context) ([]auth.Secret, error) {
	s.reads.Add(1)
	if s.err != nil {
		return nil, s.err
	}
	return s.fakeKeyStore.Secrets(ctx)
}
