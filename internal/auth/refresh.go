package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/google/uuid"
)

// A refresh token is the session's id, its generation (32 bits) and 256 bits of
// HMAC over both: whoever cannot make one cannot ask the database anything. The
// successor can be derived, so that a lost answer can be repeated; the store
// keeps only a hash.
const refreshBytes = 16 + 4 + 32

// newRefreshToken returns the token of a session's generation.
func (v *Vault) newRefreshToken(sessionID string, generation int64) (string, error) {
	id, err := uuid.Parse(sessionID)
	if err != nil {
		return "", err
	}
	head := binary.BigEndian.AppendUint32(append(make([]byte, 0, refreshBytes), id[:]...), uint32(generation))
	return base64.RawURLEncoding.EncodeToString(append(head, v.MAC(ForRefresh, head)...)), nil
}

// parseRefreshToken returns the session and generation of a token that this
// service made; ok is false for anything else.
func (v *Vault) parseRefreshToken(s string) (sessionID string, generation int64, ok bool) {
	if len(s) != base64.RawURLEncoding.EncodedLen(refreshBytes) {
		return "", 0, false // line ends, too, which the decoder would pass over
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(raw) != refreshBytes {
		return "", 0, false
	}
	if !hmac.Equal(raw[20:], v.MAC(ForRefresh, raw[:20])) {
		return "", 0, false
	}
	return uuid.UUID(raw[:16]).String(), int64(binary.BigEndian.Uint32(raw[16:20])), true
}

// hashToken is what the store keeps of a token.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// deviceToken returns the token of a device, 256 bits that only this service can make.
func (v *Vault) deviceToken(deviceID string) string {
	return base64.RawURLEncoding.EncodeToString(v.MAC(ForDevice, []byte(deviceID)))
}

// LinkToken returns the token of a message's link, 128 bits: short enough for an
// SMS, and derived, so that neither the outbox nor its logs hold it.
func (v *Vault) LinkToken(deliveryID string) string {
	return base64.RawURLEncoding.EncodeToString(v.MAC(ForLink, []byte(deliveryID))[:16])
}

// HashLink is what the store keeps of a link's token.
func HashLink(token string) []byte { return hashToken(token) }
