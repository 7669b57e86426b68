package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"
)

// How signing keys follow one another: a new one is published an hour before it
// signs, and stays published after its last signature until all it signed has
// expired (an access token lives a day at the most).
const (
	keyLead     = time.Hour
	keySigns    = 30 * 24 * time.Hour
	keyOverlap  = 24 * time.Hour
	serviceName = "service"
)

// ErrMasterKey says that the database was set up under another master key.
var ErrMasterKey = errors.New("the master key is not the one that this database knows: give every replica the master key with which the database was first started")

// Secret is one row of key material, sealed under the master key.
type Secret struct {
	ID        string
	Purpose   string
	Sealed    []byte
	CreatedAt time.Time
	ActiveAt  time.Time
	EndsAt    time.Time
}

// KeyStore keeps the secrets that all replicas share.
type KeyStore interface {
	Secrets(ctx context.Context) ([]Secret, error)
	// AddSecret saves s unless one with its id is there already.
	AddSecret(ctx context.Context, s Secret) error
	// DropSecrets removes what ends before then.
	DropSecrets(ctx context.Context, before time.Time) error
}

// Keys are the service's keys, opened. Safe for concurrent use.
type Keys struct {
	Vault *Vault

	store  KeyStore
	master *Vault
	now    func() time.Time

	mu      sync.RWMutex
	signing []signingKey // by the time from which they sign, oldest first
}

type signingKey struct {
	id       string
	private  *ecdsa.PrivateKey
	activeAt time.Time
	endsAt   time.Time
}

// OpenKeys opens the keys that store has, and makes those that it lacks: on the
// first start of the first replica, all of them. Replicas that race agree on
// what was saved first.
func OpenKeys(ctx context.Context, store KeyStore, masterKey []byte, now func() time.Time) (*Keys, error) {
	master, err := newVault(masterKey, []Purpose{forSigning, forSecret})
	if err != nil {
		return nil, fmt.Errorf("master key: %w", err)
	}
	k := &Keys{store: store, master: master, now: now}
	if err := k.refresh(ctx); err != nil {
		return nil, err
	}
	if k.Vault != nil && len(k.signing) > 0 {
		return k, nil
	}
	if err := k.make(ctx); err != nil {
		return nil, err
	}
	if err := k.refresh(ctx); err != nil {
		return nil, err
	}
	if len(k.signing) == 0 {
		return nil, errors.New("the database keeps no signing key")
	}
	return k, nil
}

// make adds the first secret and the first signing key.
func (k *Keys) make(ctx context.Context) error {
	secret := make([]byte, secretBytes)
	if _, err := rand.Read(secret); err != nil {
		return err
	}
	now := k.now()
	err := k.store.AddSecret(ctx, Secret{
		ID: serviceName, Purpose: string(forSecret), Sealed: k.master.Seal(forSecret, secret, serviceName),
		CreatedAt: now, ActiveAt: now, EndsAt: now.AddDate(1000, 0, 0),
	})
	if err != nil {
		return err
	}
	// Whose secret was kept decides whose master key it is: a replica with
	// another one must add nothing that only it can open.
	if err := k.refresh(ctx); err != nil {
		return err
	}
	return k.addSigning(ctx, now)
}

// addSigning adds the signing key that signs from activeAt on. Its id is that
// time, so that replicas that race make one key between them.
func (k *Keys) addSigning(ctx context.Context, activeAt time.Time) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return err
	}
	id := "es256-" + activeAt.UTC().Format("20060102")
	return k.store.AddSecret(ctx, Secret{
		ID: id, Purpose: string(forSigning), Sealed: k.master.Seal(forSigning, der, id),
		CreatedAt: k.now(), ActiveAt: activeAt, EndsAt: activeAt.Add(keySigns + keyOverlap),
	})
}

// refresh reads the keys again, also those that another replica made.
func (k *Keys) refresh(ctx context.Context) error {
	secrets, err := k.store.Secrets(ctx)
	if err != nil {
		return err
	}
	var signing []signingKey
	for _, s := range secrets {
		switch Purpose(s.Purpose) {
		case forSecret:
			if k.Vault != nil {
				continue
			}
			plain, err := k.master.Open(forSecret, s.Sealed, s.ID)
			if err != nil {
				return ErrMasterKey
			}
			if k.Vault, err = NewVault(plain); err != nil {
				return err
			}
		case forSigning:
			key, err := k.openSigning(s)
			if err != nil {
				return err
			}
			signing = append(signing, key)
		}
	}
	sort.Slice(signing, func(i, j int) bool { return signing[i].activeAt.Before(signing[j].activeAt) })
	if len(signing) == 0 {
		return nil // a first start; later, what was read last goes on signing
	}
	k.mu.Lock()
	k.signing = signing
	k.mu.Unlock()
	return nil
}

func (k *Keys) openSigning(s Secret) (signingKey, error) {
	for _, have := range k.snapshot() {
		if have.id == s.ID {
			return have, nil
		}
	}
	der, err := k.master.Open(forSigning, s.Sealed, s.ID)
	if err != nil {
		return signingKey{}, ErrMasterKey
	}
	private, err := x509.ParseECPrivateKey(der)
	if err != nil {
		return signingKey{}, fmt.Errorf("signing key %s: %w", s.ID, err)
	}
	return signingKey{s.ID, private, s.ActiveAt, s.EndsAt}, nil
}

// Rotate adds the next signing key when the newest is about to have signed for
// long enough, and drops what ended. Any replica may call it at any time.
func (k *Keys) Rotate(ctx context.Context) error {
	keys, now := k.snapshot(), k.now()
	newest, soonest := keys[len(keys)-1], now.Add(keyLead)
	if !soonest.Before(newest.activeAt.Add(keySigns)) {
		if err := k.addSigning(ctx, soonest); err != nil {
			return err
		}
	}
	if before, ok := outlived(keys, now); ok {
		if err := k.store.DropSecrets(ctx, before); err != nil {
			return err
		}
	}
	return k.refresh(ctx)
}

// outlived returns the end of the oldest key that must stay: what ends before it
// may go. A key stays until its successor has signed for the overlap, however
// late that came: when its own time was up it may still have been the only one.
func outlived(keys []signingKey, now time.Time) (before time.Time, ok bool) {
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

// signer returns the newest key that signs by now or, where this replica's clock
// is behind the one that made the first key, that one. There is always one: when
// it is asked for, a login has used its OTP up.
func (k *Keys) signer() signingKey {
	keys, now := k.snapshot(), k.now()
	for _, key := range slices.Backward(keys[1:]) {
		if !key.activeAt.After(now) {
			return key
		}
	}
	return keys[0]
}

// public returns the key with id, or nil.
func (k *Keys) public(id string) *ecdsa.PublicKey {
	for _, key := range k.snapshot() {
		if key.id == id {
			return &key.private.PublicKey
		}
	}
	return nil
}

// JWK is one public signing key as RFC 7517 writes it.
type JWK struct {
	Kty string `json:"kty"`
	Crv string `json:"crv"`
	Use string `json:"use"`
	Alg string `json:"alg"`
	Kid string `json:"kid"`
	X   string `json:"x"`
	Y   string `json:"y"`
}

// JWKS returns every published signing key: those that sign, will sign soon, or
// have signed what may still be valid.
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
