package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Purpose separates the uses of the service's secret: what is made for one is
// worthless for another.
type Purpose string

// The purposes. A value once released never changes: kept data depends on it.
const (
	ForOTP      Purpose = "otp"
	ForRefresh  Purpose = "refresh"
	ForDevice   Purpose = "device"
	ForLink     Purpose = "link"
	ForAnswers  Purpose = "answers"
	ForCursors  Purpose = "cursors"
	ForMedical  Purpose = "medical"
	ForKYC      Purpose = "kyc"
	ForClosed   Purpose = "closed"
	forSigning  Purpose = "signing"
	forSecret   Purpose = "secret"
	secretBytes         = 32
)

var purposes = []Purpose{ForOTP, ForRefresh, ForDevice, ForLink, ForAnswers, ForCursors, ForMedical, ForKYC, ForClosed}

// Vault seals and authenticates with keys derived from one secret (HKDF,
// RFC 5869). It is safe for concurrent use.
type Vault struct {
	keys  map[Purpose][]byte
	aeads map[Purpose]cipher.AEAD
}

// NewVault derives the keys of every purpose from secret, 32 random bytes.
func NewVault(secret []byte) (*Vault, error) { return newVault(secret, purposes) }

func newVault(secret []byte, purposes []Purpose) (*Vault, error) {
	if len(secret) != secretBytes {
		return nil, fmt.Errorf("a secret has %d bytes, not %d", secretBytes, len(secret))
	}
	v := &Vault{keys: map[Purpose][]byte{}, aeads: map[Purpose]cipher.AEAD{}}
	for _, p := range purposes {
		mac, err := hkdf.Key(sha256.New, secret, nil, "touchline/mac/"+string(p), secretBytes)
		if err != nil {
			return nil, err
		}
		enc, err := hkdf.Key(sha256.New, secret, nil, "touchline/seal/"+string(p), secretBytes)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(enc)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		v.keys[p], v.aeads[p] = mac, aead
	}
	return v, nil
}

// MAC returns HMAC-SHA256 over parts, each with its length, so that no two
// lists of parts look alike.
func (v *Vault) MAC(p Purpose, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, v.keys[p])
	var n [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	return h.Sum(nil)
}

// Seal encrypts plain (AES-256-GCM, random nonce) and binds it to context, the
// id of the row that holds it.
func (v *Vault) Seal(p Purpose, plain []byte, context string) []byte {
	return v.aeads[p].Seal(nil, nil, plain, []byte(context))
}

// Open returns what Seal was given, if neither it nor its context was changed.
func (v *Vault) Open(p Purpose, sealed []byte, context string) ([]byte, error) {
	plain, err := v.aeads[p].Open(nil, nil, sealed, []byte(context))
	if err != nil {
		return nil, fmt.Errorf("open a sealed %s: %w", p, err)
	}
	return plain, nil
}

// For returns v for one purpose alone.
func (v *Vault) For(p Purpose) PurposeVault { return PurposeVault{v, p} }

// PurposeVault is a Vault that serves one purpose.
type PurposeVault struct {
	vault   *Vault
	purpose Purpose
}

// Seal is Vault.Seal for the purpose.
func (v PurposeVault) Seal(plain []byte, context string) []byte {
	return v.vault.Seal(v.purpose, plain, context)
}

// Open is Vault.Open for the purpose.
func (v PurposeVault) Open(sealed []byte, context string) ([]byte, error) {
	return v.vault.Open(v.purpose, sealed, context)
}

// MAC is Vault.MAC for the purpose.
func (v PurposeVault) MAC(parts ...[]byte) []byte { return v.vault.MAC(v.purpose, parts...) }
