package auth

import (
	"context"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/platform/vault"
)

// Rotation of signing keys. A new key is published an hour before it signs, and stays
// published until every token that it signed has expired (at most a day).
const (
	keyLead         = time.Hour
	keySigns        = 30 * 24 * time.Hour
	keyOverlap      = 24 * time.Hour
	serviceSecretID = "service"
)

// Secret is one row of key material, encrypted with the master key.
type Secret struct {
	ID        string
	Purpose   string
	Sealed    []byte
	CreatedAt time.Time
	ActiveAt  time.Time
	EndsAt    time.Time
}

// KeyStore saves the secrets that all replicas share. Installation implements it; tests keep secrets in memory.
type KeyStore interface {
	Secrets(ctx context.Context) ([]Secret, error)
	// AddSecret saves the secret that seal returns, unless one with its ID exists. seal gets the service
	// secret, nil if there is none, and may run more than once. A rotation of the master key does not
	// run at the same time.
	AddSecret(ctx context.Context, seal func(service *Secret) (Secret, error)) error
	// DropSecrets removes the secrets that end before a time.
	DropSecrets(ctx context.Context, before time.Time) error
}

// Keys holds the decrypted keys of the service. It is safe for concurrent use.
type Keys struct {
	Vault *vault.Vault
	// VAPID identifies the service to push services (RFC 8292). It never changes, because
	// browsers bind subscriptions to it.
	VAPID *ecdh.PrivateKey

	store    KeyStore
	masters  *masterKeys
	now      func() time.Time
	secretAt time.Time // when the secret of Vault was made
	replaced atomic.Bool

	mu       sync.RWMutex
	signing  []signingKey // by activeAt, oldest first
	next     *reload      // not begun; nil if no caller waits for one
	reloaded time.Time    // when the last reload began
}

type signingKey struct {
	id       string
	private  *ecdsa.PrivateKey
	activeAt time.Time
	endsAt   time.Time
}

// OpenKeys decrypts the keys in store. On the first start it generates them. If
// replicas start concurrently, the first to insert a key wins. readMasterKeys returns the master
// keys that may encrypt them, at least one; it is called again if none of them does. Errors:
// ErrMasterKey.
func OpenKeys(ctx context.Context, store KeyStore, readMasterKeys func() ([][]byte, error), now func() time.Time) (*Keys, error) {
	masters, err := newMasterKeys(readMasterKeys)
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	k := &Keys{store: store, masters: masters, now: now}
	if err := k.refresh(ctx); err != nil {
		return nil, err
	}
	if k.Vault != nil && len(k.signing) > 0 && k.VAPID != nil {
		return k, nil
	}
	if k.Vault == nil || len(k.signing) == 0 {
		if err := k.initialise(ctx); err != nil {
			return nil, err
		}
	}
	if k.VAPID == nil { // a database of an earlier release has no VAPID key
		if err := k.addVAPIDKey(ctx); err != nil {
			return nil, err
		}
	}
	if err := k.refresh(ctx); err != nil {
		return nil, err
	}
	if len(k.signing) == 0 || k.VAPID == nil {
		return nil, errors.New("the database has no signing key or no VAPID key")
	}
	return k, nil
}

// initialise adds the service secret and the first signing key.
func (k *Keys) initialise(ctx context.Context) error {
	secret := make([]byte, vault.SecretBytes)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	now := k.now()
	err := k.add(ctx, secret, Secret{ID: serviceSecretID, Purpose: string(vault.ForSecret), CreatedAt: now, ActiveAt: now, EndsAt: now.AddDate(1000, 0, 0)})
	if err != nil {
		return err
	}
	// The first replica to insert the secret wins. A replica with another master key
	// fails here, before it adds a signing key that the others cannot decrypt.
	if err := k.refresh(ctx); err != nil {
		return err
	}
	return k.addSigningKey(ctx, now)
}

// add encrypts plain as the secret s and saves it.
func (k *Keys) add(ctx context.Context, plain []byte, s Secret) error {
	return k.store.AddSecret(ctx, func(service *Secret) (Secret, error) {
		var err error
		s.Sealed, err = k.masters.seal(service, vault.Purpose(s.Purpose), plain, s.ID)
		return s, err
	})
}

// addSigningKey adds a key that signs from activeAt on. Its ID is that date, so that
// concurrent replicas add one key only.
func (k *Keys) addSigningKey(ctx context.Context, activeAt time.Time) error {
	plain, s, err := newSigningKey("es256-"+activeAt.UTC().Format("20060102"), k.now(), activeAt)
	if err != nil {
		return err
	}
	return k.add(ctx, plain, s)
}

// newSigningKey generates a key that signs from activeAt on.
func newSigningKey(id string, now, activeAt time.Time) (plain []byte, s Secret, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, Secret{}, err
	}
	plain, err = x509.MarshalECPrivateKey(private)
	return plain, Secret{ID: id, Purpose: string(vault.ForSigning), CreatedAt: now, ActiveAt: activeAt, EndsAt: activeAt.Add(keySigns + keyOverlap)}, err
}

// refresh reads all keys, also of other replicas.
func (k *Keys) refresh(ctx context.Context) error {
	secrets, err := k.store.Secrets(ctx)
	if err != nil {
		return err
	}
	running := k.Vault != nil
	var signing []signingKey
	for _, s := range secrets {
		switch vault.Purpose(s.Purpose) {
		case vault.ForSecret:
			if err := k.openSecret(s, secrets, running); err != nil {
				return err
			}
		case vault.ForVAPID:
			if k.VAPID != nil {
				continue
			}
			k.VAPID, err = k.openVAPIDKey(s)
			if err != nil {
				return err
			}
		case vault.ForSigning:
			key, err := k.openSigningKey(s)
			if err != nil {
				return err
			}
			signing = append(signing, key)
		}
	}
	sort.Slice(signing, func(i, j int) bool { return signing[i].activeAt.Before(signing[j].activeAt) })
	if len(signing) == 0 {
		return nil // before initialise; otherwise continue with the last keys
	}
	k.mu.Lock()
	k.signing = signing
	k.mu.Unlock()
	return nil
}

// openSecret opens the service secret, unless this process is running. It returns an error during a rotation of the
// service secret, and in a running process also after one.
func (k *Keys) openSecret(s Secret, all []Secret, running bool) (err error) {
	switch next, service := s.ID == nextSecretID, s.ID == serviceSecretID; {
	case running && (next || service && !s.CreatedAt.Equal(k.secretAt)):
		k.replaced.Store(true)
		return ErrSecretReplaced
	case next:
		return ErrUnfinishedRotation
	case service && !running:
		k.secretAt = s.CreatedAt
		k.Vault, err = k.openVault(s, all)
	}
	return err
}

// Usable returns ErrSecretReplaced if Rotate has found that the service secret was replaced while this process runs.
func (k *Keys) Usable() error {
	if k.replaced.Load() {
		return ErrSecretReplaced
	}
	return nil
}

// openVault returns the vault of the service secret, with the MAC keys that rotations kept.
func (k *Keys) openVault(service Secret, all []Secret) (*vault.Vault, error) {
	plain, _, err := k.masters.open(service)
	if err != nil {
		return nil, err
	}
	v, err := vault.New(plain)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		purpose, kept := strings.CutPrefix(s.ID, keptMACPrefix)
		if !kept {
			continue
		}
		plain, _, err = k.masters.open(s)
		if err != nil {
			return nil, err
		}
		v.KeepMAC(vault.Purpose(purpose), plain)
	}
	return v, nil
}

func (k *Keys) openSigningKey(s Secret) (signingKey, error) {
	for _, have := range k.snapshot() {
		if have.id == s.ID {
			return have, nil
		}
	}
	der, _, err := k.masters.open(s)
	if err != nil {
		return signingKey{}, err
	}
	private, err := x509.ParseECPrivateKey(der)
	if err != nil {
		return signingKey{}, fmt.Errorf("signing key %s: %w", s.ID, err)
	}
	return signingKey{s.ID, private, s.ActiveAt, s.EndsAt}, nil
}

// Rotate adds the next signing key an hour before the newest one's time ends, and
// removes expired keys. Any replica may call it at any time.
func (k *Keys) Rotate(ctx context.Context) error {
	keys, now := k.snapshot(), k.now()
	newest, soonest := keys[len(keys)-1], now.Add(keyLead)
	if !soonest.Before(newest.activeAt.Add(keySigns)) {
		if err := k.addSigningKey(ctx, soonest); err != nil {
			return err
		}
	}
	if before, ok := removableBefore(keys, now); ok {
		if err := k.store.DropSecrets(ctx, before); err != nil {
			return err
		}
	}
	return k.refresh(ctx)
}

// removableBefore returns the time before which keys that ended can be removed. A key
// stays until its successor has signed for keyOverlap. If rotation was late, the key
// signed beyond its own end, because it was the only one.
func removableBefore(keys []signingKey, now time.Time) (before time.Time, ok bool) {
	for _, successor := range slices.Backward(keys[1:]) {
		if !successor.activeAt.Add(keyOverlap).After(now) {
			return successor.endsAt, true
		}
	}
	return time.Time{}, false
}

func (k *Keys) snapshot() []signingKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.signing
}

// signer returns the newest active key. If none is active, because this replica's
// clock is behind the replica that made the first key, it returns that key: signing must
// not fail, because Login has consumed the OTP.
func (k *Keys) signer() signingKey {
	keys, now := k.snapshot(), k.now()
	for _, key := range slices.Backward(keys[1:]) {
		if !key.activeAt.After(now) {
			return key
		}
	}
	return keys[0]
}

// public returns the public key with the ID, or nil.
func (k *Keys) public(id string) *ecdsa.PublicKey {
	for _, key := range k.snapshot() {
		if key.id == id {
			return &key.private.PublicKey
		}
	}
	return nil
}

// JWK is a public signing key (RFC 7517).
type JWK struct {
	Kty string `json:"kty"`
	Crv string `json:"crv"`
	Use string `json:"use"`
	Alg string `json:"alg"`
	Kid string `json:"kid"`
	X   string `json:"x"`
	Y   string `json:"y"`
}

// JWKS returns every published key: active keys, those that become active soon, and
// those whose tokens may still be valid.
func (k *Keys) JWKS() ([]JWK, error) {
	set := []JWK{}
	for _, key := range k.snapshot() {
		point, err := key.private.PublicKey.Bytes() // 0x04, X, Y
		if err != nil {
			return nil, err
		}
		set = append(set, JWK{
			Kty: "EC", Crv: "P-256", Use: "sig", Alg: "ES256", Kid: key.id,
			X: base64.RawURLEncoding.EncodeToString(point[1:33]),
			Y: base64.RawURLEncoding.EncodeToString(point[33:65]),
		})
	}
	return set, nil
}
