package auth

import (
	"encoding/hex"
	"errors"
	"slices"
	"sync"

	"github.com/touchline/touchline/internal/platform/vault"
)

// ErrMasterKey means that none of the master keys decrypts the keys of the database.
var ErrMasterKey = errors.New("wrong master key: another one encrypts the keys of this database; set MASTER_KEY to it, and after touchline keys rotate to the new one")

// MasterKeyID returns an id that identifies a master key and does not reveal it.
func MasterKeyID(key []byte) (string, error) {
	m, err := newMasterKey(key)
	return m.id, err
}

type masterKey struct {
	id    string
	vault *vault.Vault
}

func newMasterKey(key []byte) (masterKey, error) {
	v, err := vault.NewFor(key, vault.ForSigning, vault.ForSecret, vault.ForVAPID, vault.ForMasterID)
	if err != nil {
		return masterKey{}, err
	}
	return masterKey{hex.EncodeToString(v.For(vault.ForMasterID).MAC()[:4]), v}, nil
}

// masterKeys are the master keys that a replica has seen. A rotation replaces the master key
// while replicas run, so an unknown one is read again.
type masterKeys struct {
	read func() ([][]byte, error)

	mu    sync.Mutex
	known []masterKey
}

// newMasterKeys reads the master keys. The first one encrypts the keys of a new database.
func newMasterKeys(read func() ([][]byte, error)) (*masterKeys, error) {
	m := &masterKeys{read: read}
	_, err := m.readAgain()
	return m, err
}

// readAgain reads the master keys and returns those that were unknown.
func (m *masterKeys) readAgain() (added []masterKey, err error) {
	keys, err := m.read()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		k, err := newMasterKey(key)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(m.known, func(o masterKey) bool { return o.id == k.id }) {
			m.known, added = append(m.known, k), append(added, k)
		}
	}
	return added, nil
}

// open decrypts a secret and returns the master key that encrypts it. Errors: ErrMasterKey.
func (m *masterKeys) open(s Secret) (plain []byte, under masterKey, err error) {
	m.mu.Lock()
	known := slices.Clone(m.known)
	m.mu.Unlock()
	if plain, under, ok := openWith(known, s); ok {
		return plain, under, nil
	}
	added, err := m.readAgain()
	if err != nil {
		return nil, masterKey{}, errors.Join(ErrMasterKey, err)
	}
	if plain, under, ok := openWith(added, s); ok {
		return plain, under, nil
	}
	return nil, masterKey{}, ErrMasterKey
}

func openWith(keys []masterKey, s Secret) (plain []byte, under masterKey, ok bool) {
	for _, k := range keys {
		if plain, err := k.vault.For(vault.Purpose(s.Purpose)).Open(s.Sealed, s.ID); err == nil {
			return plain, k, true
		}
	}
	return nil, masterKey{}, false
}

// seal encrypts plain under the master key that encrypts the service secret, or under the first one
// if there is no service secret yet.
func (m *masterKeys) seal(service *Secret, p vault.Purpose, plain []byte, id string) ([]byte, error) {
	m.mu.Lock()
	under := m.known[0]
	m.mu.Unlock()
	if service != nil {
		var err error
		_, under, err = m.open(*service)
		if err != nil {
			return nil, err
		}
	}
	return under.vault.For(p).Seal(plain, id), nil
}
