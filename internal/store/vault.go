package store

import (
	"encoding/base64"
	"errors"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
)

// ErrNoVault is the error of a store without Options.Vault.
var ErrNoVault = errors.New("store: no vault")

// Seal encrypts a text for a purpose and binds it to the id of its row. It returns NULL for
// "".
func (db *DB) Seal(p vault.Purpose, plain, id string) ([]byte, error) {
	if plain == "" {
		return nil, nil
	}
	if db.options.Vault == nil {
		return nil, ErrNoVault
	}
	return db.options.Vault.For(p).Seal([]byte(plain), id), nil
}

// Unseal decrypts a text of Seal. A text is empty if it was sealed under a lost master key
// (docs/operating.md).
func (db *DB) Unseal(p vault.Purpose, sealed []byte, id string) (string, error) {
	if len(sealed) == 0 {
		return "", nil
	}
	if db.options.Vault == nil {
		return "", ErrNoVault
	}
	plain, err := db.options.Vault.For(p).Open(sealed, id)
	return string(plain), err
}

// SealNumber encrypts the number of an account that is being closed.
func (db *DB) SealNumber(by actor.Actor) ([]byte, error) {
	if db.options.Vault == nil {
		return nil, ErrNoVault
	}
	return db.options.Vault.For(vault.ForClosed).Seal([]byte(by.Number), by.AccountID), nil
}

// NumberHash returns the hash under which former_numbers has a number, or nil without a vault.
func (db *DB) NumberHash(n phone.Number) []byte {
	if db.options.Vault == nil {
		return nil
	}
	return db.options.Vault.For(vault.ForClosed).MAC([]byte(n))
}

// DisputeHash returns the keyed hash under which disputes and players have what parts say, or nil without a vault.
func (db *DB) DisputeHash(parts ...string) []byte {
	if db.options.Vault == nil {
		return nil
	}
	var list [][]byte
	for _, part := range parts {
		list = append(list, []byte(part))
	}
	return db.options.Vault.For(vault.ForDispute).MAC(list...)
}

// KeptNumber stands for a number without an account where its stops are kept, or is "" without a vault. It is a keyed hash.
func (db *DB) KeptNumber(n phone.Number) string {
	hash := db.DisputeHash("stop", string(n))
	if hash == nil {
		return ""
	}
	return "kept:" + base64.RawURLEncoding.EncodeToString(hash)
}

// SubjectHash returns the keyed hash of a person at a provider of proofs, or nil without a vault.
func (db *DB) SubjectHash(issuer, subject string) []byte {
	if db.options.Vault == nil {
		return nil
	}
	return db.options.Vault.For(vault.ForIdentity).MAC([]byte(issuer), []byte(subject))
}

// CallToken returns the token without which no one can say that a call asked its check question at a time.
func (db *DB) CallToken(callID string, to phone.Number, askedAt time.Time) (string, error) {
	if db.options.Vault == nil {
		return "", ErrNoVault
	}
	return db.options.Vault.CallToken(callID, string(to), strconv.FormatInt(askedAt.Unix(), 10)), nil
}

// LinkHash returns the hash of the link in the message of a delivery.
func (db *DB) LinkHash(deliveryID string) ([]byte, error) {
	if db.options.Vault == nil {
		return nil, ErrNoVault
	}
	return vault.HashToken(db.options.Vault.LinkToken(deliveryID)), nil
}
