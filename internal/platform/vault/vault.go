// Package vault encrypts personal data and derives tokens. Each purpose has its own keys, all of
// one secret.
package vault

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
	ForReceipt   Purpose = "receipt"
	ForWebhook   Purpose = "webhook"
	ForMail      Purpose = "mail"
	ForPush      Purpose = "push"
	ForTLS       Purpose = "tls"
	ForTraining  Purpose = "training"
	ForCall      Purpose = "call"
	ForSigning   Purpose = "signing"
	ForSecret    Purpose = "secret"
	ForVAPID     Purpose = "vapid"
	ForMasterID  Purpose = "master-id"
	ForRecord    Purpose = "record"
	ForLog       Purpose = "log"
	ForDispute   Purpose = "dispute"
	ForIdentity  Purpose = "identity"
)

// SecretBytes is the length of a secret.
const SecretBytes = 32

var purposes = []Purpose{ForOTP, ForRefresh, ForDevice, ForLink, ForResponses, ForCursors, ForMedical, ForKYC, ForClosed, ForPage, ForSignIn, ForReceipt, ForWebhook, ForMail, ForPush, ForTLS, ForTraining, ForRecord, ForLog, ForCall, ForDispute, ForIdentity}

// Vault derives the keys of every purpose from one secret (HKDF, RFC 5869). It is safe for
// concurrent use.
type Vault struct{ purposes map[Purpose]Sealer }

// New derives the keys of every purpose from secret, which has 32 random bytes.
func New(secret []byte) (*Vault, error) { return NewFor(secret, purposes...) }

// NewFor is New for some purposes.
func NewFor(secret []byte, purposes ...Purpose) (*Vault, error) {
	if len(secret) != SecretBytes {
		return nil, fmt.Errorf("the secret has %d bytes, want %d", len(secret), SecretBytes)
	}
	v := &Vault{map[Purpose]Sealer{}}
	for _, p := range purposes {
		mac, err := hkdf.Key(sha256.New, secret, nil, "touchline/mac/"+string(p), SecretBytes)
		if err != nil {
			return nil, err
		}
		enc, err := hkdf.Key(sha256.New, secret, nil, "touchline/seal/"+string(p), SecretBytes)
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
		v.purposes[p] = Sealer{p, mac, aead}
	}
	return v, nil
}

// KeepMAC makes key the MAC key of a purpose: a rotation of the secret keeps keys whose MACs cannot be computed again.
func (v *Vault) KeepMAC(p Purpose, key []byte) {
	s := v.purposes[p]
	s.key = key
	v.purposes[p] = s
}

// For returns the keys of one purpose.
func (v *Vault) For(p Purpose) Sealer { return v.purposes[p] }

// Sealer encrypts and authenticates with the keys of one purpose.
type Sealer struct {
	purpose Purpose
	key     []byte
	aead    cipher.AEAD
}

// MAC returns HMAC-SHA256 over parts. The length precedes each part, so that
// ("ab", "c") and ("a", "bc") differ.
func (v Sealer) MAC(parts ...[]byte) []byte {
	h := hmac.New(sha256.New, v.key)
	var n [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	return h.Sum(nil)
}

// MACKey returns the key of MAC: see KeepMAC.
func (v Sealer) MACKey() []byte { return v.key }

// nonceBytes is the length of the nonce that precedes the ciphertext.
const nonceBytes = 12

// Seal encrypts plain (AES-256-GCM, random nonce) and binds it to context, the
// ID of the row that holds it.
func (v Sealer) Seal(plain []byte, context string) []byte {
	nonce := make([]byte, nonceBytes)
	_, _ = rand.Read(nonce) // never fails (crypto/rand)
	return v.aead.Seal(nonce, nonce, plain, []byte(context))
}

// SealDeterministic is Seal with a nonce that is the MAC of context and plain:
// equal input gives equal output, and two different texts never share a nonce.
func (v Sealer) SealDeterministic(plain []byte, context string) []byte {
	nonce := v.MAC([]byte(context), plain)[:nonceBytes:nonceBytes]
	return v.aead.Seal(nonce, nonce, plain, []byte(context))
}

// Open decrypts what Seal or SealDeterministic returned. It fails if the text,
// its context, its purpose or the secret differs.
func (v Sealer) Open(sealed []byte, context string) ([]byte, error) {
	if len(sealed) < nonceBytes {
		return nil, fmt.Errorf("open %s: %d bytes are too short", v.purpose, len(sealed))
	}
	plain, err := v.aead.Open(nil, sealed[:nonceBytes], sealed[nonceBytes:], []byte(context))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", v.purpose, err)
	}
	return plain, nil
}
