package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Purpose separates the uses of the service's secret: a text that is sealed for
// one purpose cannot be opened for another.
type Purpose string

// The purposes. Released values never change, because stored data depends on them.
const (
	ForOTP       Purpose = "otp"
	ForRefresh   Purpose = "refresh"
	ForDevice    Purpose = "device"
	ForLink      Purpose = "link"
	ForResponses Purpose = "answers"
	ForCursors   Purpose = "cursors"
	ForMedical   Purpose = "medical"
	ForKYC       Purpose = "kyc"
	ForClosed    Purpose = "closed"
	ForPage      Purpose = "page"
	ForSignIn    Purpose = "sign-in"
	forSigning   Purpose = "signing"
	forSecret    Purpose = "secret"
	secretBytes          = 32
)

var purposes = []Purpose{ForOTP, ForRefresh, ForDevice, ForLink, ForResponses, ForCursors, ForMedical, ForKYC, ForClosed, ForPage, ForSignIn}

// Vault encrypts and authenticates with keys that it derives from one secret
// (HKDF, RFC 5869). It is safe for concurrent use.
type Vault struct {
	keys  map[Purpose][]byte
	aeads map[Purpose]cipher.AEAD
}

// NewVault derives the keys of every purpose from secret, which has 32 random bytes.
func NewVault(secret []byte) (*Vault, error) { return newVault(secret, purposes) }

func newVault(secret []byte, purposes []Purpose) (*Vault, error) {
	if len(secret) != secretBytes {
		return nil, fmt.Errorf("the secret has %d bytes, want %d", len(secret), secretBytes)
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
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		v.keys[p], v.aeads[p] = mac, aead
	}
	return v, nil
}

// MAC returns HMAC-SHA256 over parts. The length precedes each part, so that
// ("ab", "c") and ("a", "bc") differ.
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

// nonceBytes is the length of the nonce that precedes the ciphertext.
const nonceBytes = 12

// Seal encrypts plain (AES-256-GCM, random nonce) and binds it to context, the
// ID of the row that holds it.
func (v *Vault) Seal(p Purpose, plain []byte, context string) []byte {
	nonce := make([]byte, nonceBytes)
	_, _ = rand.Read(nonce) // never fails (crypto/rand)
	return v.aeads[p].Seal(nonce, nonce, plain, []byte(context))
}

// SealDeterministic is Seal with a nonce that is the MAC of context and plain:
// equal input gives equal output, and two different texts never share a nonce.
func (v *Vault) SealDeterministic(p Purpose, plain []byte, context string) []byte {
	nonce := v.MAC(p, []byte(context), plain)[:nonceBytes:nonceBytes]
	return v.aeads[p].Seal(nonce, nonce, plain, []byte(context))
}

// Open decrypts what Seal or SealDeterministic returned. It fails if the text,
// its context, its purpose or the secret differs.
func (v *Vault) Open(p Purpose, sealed []byte, context string) ([]byte, error) {
	if len(sealed) < nonceBytes {
		return nil, fmt.Errorf("open %s: %d bytes are too short", p, len(sealed))
	}
	plain, err := v.aeads[p].Open(nil, sealed[:nonceBytes], sealed[nonceBytes:], []byte(context))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", p, err)
	}
	return plain, nil
}

// For returns v limited to one purpose.
func (v *Vault) For(p Purpose) PurposeVault { return PurposeVault{v, p} }

// PurposeVault is a Vault that is limited to one purpose.
type PurposeVault struct {
	vault   *Vault
	purpose Purpose
}

// Seal is Vault.Seal for the purpose.
func (v PurposeVault) Seal(plain []byte, context string) []byte {
	return v.vault.Seal(v.purpose, plain, context)
}

// SealDeterministic is Vault.SealDeterministic for the purpose.
func (v PurposeVault) SealDeterministic(plain []byte, context string) []byte {
	return v.vault.SealDeterministic(v.purpose, plain, context)
}

// Open is Vault.Open for the purpose.
func (v PurposeVault) Open(sealed []byte, context string) ([]byte, error) {
	return v.vault.Open(v.purpose, sealed, context)
}

// MAC is Vault.MAC for the purpose.
func (v PurposeVault) MAC(parts ...[]byte) []byte { return v.vault.MAC(v.purpose, parts...) }
