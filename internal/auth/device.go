package auth

import (
	"bytes"
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/vault"
)

// Proof shows that a request comes from the owner of the number. It has a separate
// challenge and separate limits, so that strangers cannot lock the owner out.
type Proof struct {
	// DeviceToken is the token of an earlier sign-in, or "".
	DeviceToken string
	// LinkHash is the hash of the token in the link of an SMS to the number (see HashLink),
	// or nil. It counts only for the role that the link asks, and if DeviceToken is not
	// the token of a device of the number.
	LinkHash []byte
	// OtherTokens are device tokens that the same browser got for other roles. They prove nothing
	// about the number, but say who else signs in on this device.
	OtherTokens []string
	// ByEmail says that the code goes, or went, to the confirmed address of the number.
	ByEmail bool
}

// otherDevices returns the hashes of the tokens of p except own.
func (p Proof) otherDevices(own []byte) [][]byte {
	var others [][]byte
	for _, token := range append([]string{p.DeviceToken}, p.OtherTokens...) {
		if hash := vault.HashToken(token); token != "" && !bytes.Equal(hash, own) {
			others = append(others, hash)
		}
	}
	return others
}

// knownDevice is the device that a Proof identifies. The zero value is an unknown device.
type knownDevice struct {
	// id is the DeviceID of its challenges.
	id string
	// byLink is true for the link in an SMS, which is not a device that a session can have.
	byLink bool
	// maySend reports whether its challenge may be opened.
	maySend bool
}

// linkDeviceID returns the DeviceID of challenges that were requested with the link of a request.
func linkDeviceID(requestID string) string { return "link/" + requestID }

// device returns the known device that p identifies for the number and role of key. The link
// of a request that has been closed still verifies a code that was sent before.
func (s *Service) device(ctx context.Context, key ChallengeKey, p Proof, now time.Time) (knownDevice, error) {
	if p.DeviceToken != "" {
		id, err := s.Store.Device(ctx, vault.HashToken(p.DeviceToken), key.Number, now)
		if err != nil || id != "" {
			return knownDevice{id: id, maySend: true}, err
		}
	}
	if p.LinkHash == nil || s.LinkedRequest == nil {
		return knownDevice{}, nil
	}
	requestID, open, err := s.LinkedRequest(ctx, p.LinkHash, key.Number, key.Role, now)
	if err != nil || requestID == "" {
		return knownDevice{}, err
	}
	return knownDevice{id: linkDeviceID(requestID), byLink: true, maySend: open}, nil
}
