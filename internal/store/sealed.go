package store

import (
	"errors"

	"github.com/touchline/touchline/internal/auth"
)

// errNoVault says that the service was put together without its keys.
var errNoVault = errors.New("store: no vault to seal with")

// SetVault gives the store the keys that seal medical information and derive the
// tokens of links. It is to be called before the first use; without it whatever
// needs them is refused.
func (db *DB) SetVault(v *auth.Vault) { db.vault = v }

// seal encrypts a player's medical information; NULL where there is none.
func (db *DB) seal(medical, playerID string) ([]byte, error) {
	if medical == "" {
		return nil, nil
	}
	if db.vault == nil {
		return nil, errNoVault
	}
	return db.vault.Seal(auth.ForMedical, []byte(medical), playerID), nil
}

// unseal is the reverse of seal.
func (db *DB) unseal(sealed []byte, playerID string) (string, error) {
	if sealed == nil {
		return "", nil
	}
	if db.vault == nil {
		return "", errNoVault
	}
	medical, err := db.vault.Open(auth.ForMedical, sealed, playerID)
	return string(medical), err
}

// linkHash is what is kept of the link in the message of a delivery.
func (db *DB) linkHash(deliveryID string) ([]byte, error) {
	if db.vault == nil {
		return nil, errNoVault
	}
	return auth.HashLink(db.vault.LinkToken(deliveryID)), nil
}
