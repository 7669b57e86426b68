package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/google/uuid"
)

// A refresh token is the session's ID, its generation (32 bits) and an HMAC of both
// (256 bits). A forged token fails before any database query. The successor can be
// derived again, so that a lost response can be repeated. The store saves only a hash.
const refreshBytes = 16 + 4 + 32

// newRefreshToken returns the refresh token of a session's generation.
func (v *Vault) newRefreshToken(sessionID string, generation int64) (string, error) {
	id, err := uuid.Parse(sessionID)
	if err != nil {
		return "", err
	}
	head := binary.BigEndian.AppendUint32(append(make([]byte, 0, refreshBytes), id[:]...), uint32(generation))
	return base64.RawURLEncoding.EncodeToString(append(head, v.For(ForRefresh).MAC(head)...)), nil
}

// parseRefreshToken returns the session and generation of a token of this service.
// ok is false for every other string.
func (v *Vault) parseRefreshToken(s string) (sessionID string, generation int64, ok bool) {
	if len(s) != base64.RawURLEncoding.EncodedLen(refreshBytes) {
		return "", 0, false // also for line breaks, which the decoder ignores
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(raw) != refreshBytes {
		return "", 0, false
	}
	if !hmac.Equal(raw[20:], v.For(ForRefresh).MAC(raw[:20])) {
		return "", 0, false
	}
	return uuid.UUID(raw[:16]).String(), int64(binary.BigEndian.Uint32(raw[16:20])), true
}

// hashToken returns the hash of a token, which the store saves in place of the token.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// deviceToken returns the token of a device: an HMAC of 256 bits.
func (v *Vault) deviceToken(deviceID string) string {
	return base64.RawURLEncoding.EncodeToString(v.For(ForDevice).MAC([]byte(deviceID)))
}

// LinkToken returns the token of the link in a message: an HMAC of 128 bits, short
// enough for an SMS. It is derived, so that the outbox and logs do not contain it.
func (v *Vault) LinkToken(deliveryID string) string {
	return base64.RawURLEncoding.EncodeToString(v.For(ForLink).MAC([]byte(deliveryID))[:16])
}

// ReceiptSecret returns the secret part of the address at which a provider reports what
// became of a message: an HMAC of 128 bits. ref is a notify.MessageRef.
func (v *Vault) ReceiptSecret(ref string) string {
	return base64.RawURLEncoding.EncodeToString(v.For(ForReceipt).MAC([]byte(ref))[:16])
}

// ValidReceiptSecret reports, in constant time, whether secret belongs to a reference.
func (v *Vault) ValidReceiptSecret(ref, secret string) bool {
	return hmac.Equal([]byte(secret), []byte(v.ReceiptSecret(ref)))
}

// HashLink returns the hash of a link's token, which the store saves in place of the token.
func HashLink(token string) []byte { return hashToken(token) }
