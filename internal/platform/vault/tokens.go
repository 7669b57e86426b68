package vault

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

// NewRefreshToken returns the refresh token of a session's generation.
func (v *Vault) NewRefreshToken(sessionID string, generation int64) (string, error) {
	id, err := uuid.Parse(sessionID)
	if err != nil {
		return "", err
	}
	head := binary.BigEndian.AppendUint32(append(make([]byte, 0, refreshBytes), id[:]...), uint32(generation))
	return base64.RawURLEncoding.EncodeToString(append(head, v.For(ForRefresh).MAC(head)...)), nil
}

// ParseRefreshToken returns the session and generation of a token of this service.
// ok is false for every other string.
func (v *Vault) ParseRefreshToken(s string) (sessionID string, generation int64, ok bool) {
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

// HashToken returns the hash of a token, which the store saves in place of the token.
func HashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// DeviceToken returns the token of a device: an HMAC of 256 bits.
func (v *Vault) DeviceToken(deviceID string) string {
	return base64.RawURLEncoding.EncodeToString(v.For(ForDevice).MAC([]byte(deviceID)))
}

// LinkToken returns the token of the link in a message: an HMAC of 128 bits, short
// enough for an SMS. It is derived, so that the outbox and logs do not contain it.
func (v *Vault) LinkToken(deliveryID string) string {
	return base64.RawURLEncoding.EncodeToString(v.For(ForLink).MAC([]byte(deliveryID))[:16])
}

// CallToken returns the token of the check question that a call asked at a time: an HMAC of 128 bits.
func (v *Vault) CallToken(callID, to, askedAt string) string {
	return base64.RawURLEncoding.EncodeToString(v.For(ForCall).MAC([]byte(callID), []byte(to), []byte(askedAt))[:16])
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

// A page token is the session's ID and an HMAC of it (256 bits). A forged token fails
// before any database query. The store saves only a hash.
const pageTokenBytes = 16 + 32

// PageToken returns the page token of a session.
func (v *Vault) PageToken(sessionID string) (string, error) {
	id, err := uuid.Parse(sessionID)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(id[:], v.For(ForPage).MAC(id[:])...)), nil
}

// ParsePageToken returns the session of a page token. ok is false for every other string.
func (v *Vault) ParsePageToken(token string) (sessionID string, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(pageTokenBytes) {
		return "", false // also for line breaks, which the decoder ignores
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != pageTokenBytes || !hmac.Equal(raw[16:], v.For(ForPage).MAC(raw[:16])) {
		return "", false
	}
	return uuid.UUID(raw[:16]).String(), true
}

// mailTokenContext distinguishes these tokens from other texts sealed for mail.
const mailTokenContext = "stop"

// MailToken returns the token in the unsubscribe link of mails to address. It does not reveal
// the address, and is the same in every mail to it.
func (v *Vault) MailToken(address string) string {
	return base64.RawURLEncoding.EncodeToString(v.For(ForMail).SealDeterministic([]byte(address), mailTokenContext))
}

// MailAddress returns the address of a token, or false if MailToken did not create the token.
func (v *Vault) MailAddress(token string) (string, bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return "", false
	}
	address, err := v.For(ForMail).Open(sealed, mailTokenContext)
	return string(address), err == nil
}
