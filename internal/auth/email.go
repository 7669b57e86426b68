package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// AddressLifetime is how long a confirmed address stays confirmed after it was confirmed or its
// code was last used. A code by SMS does not extend it: the number may have a new owner by then.
const AddressLifetime = 180 * 24 * time.Hour

// emailChannel is the channel of codes by mail.
const emailChannel = "email"

// voiceChannel is the channel of codes by call.
const voiceChannel = "voice"

// chatChannel is the channel of codes by chat.
const chatChannel = "chat"

// The DeviceIDs of challenges whose codes leave by mail. They have separate limits, so that
// strangers who block the number do not block them.
const (
	emailDevice   = "email/"
	confirmDevice = "confirm/"
)

// emailKey returns the key of the challenge whose code goes to the confirmed address of the number.
func emailKey(n phone.Number, role actor.Role) ChallengeKey {
	return ChallengeKey{Number: n, Role: role, DeviceID: emailDevice + string(role) + "/" + string(n)}
}

// confirmKey returns the key of the challenge whose code confirms an address. It contains a hash of
// the address: the code of one address does not confirm another.
func confirmKey(n phone.Number, role actor.Role, address string) ChallengeKey {
	hash := sha256.Sum256([]byte(message.FoldAddress(address)))
	return ChallengeKey{Number: n, Role: role, DeviceID: confirmDevice + string(role) + "/" + string(n) + "/" + hex.EncodeToString(hash[:16])}
}

// ByEmail reports whether the code of the challenge goes to the confirmed address of the number.
func (k ChallengeKey) ByEmail() bool { return strings.HasPrefix(k.DeviceID, emailDevice) }

// sender returns the DeviceID for the limit of sends. All addresses that a number asks to confirm
// count together.
func (k ChallengeKey) sender() string {
	if _, ok := NumberToConfirm(k.DeviceID); ok {
		return k.DeviceID[:strings.LastIndexByte(k.DeviceID, '/')]
	}
	return k.DeviceID
}

// NumberToConfirm returns the number whose address a challenge with this DeviceID confirms, or false
// for any other challenge.
func NumberToConfirm(deviceID string) (phone.Number, bool) {
	if !strings.HasPrefix(deviceID, confirmDevice) {
		return "", false
	}
	return phone.Number(strings.Split(deviceID, "/")[2]), true
}

// AddressConfirmation confirms an e-mail address for the number and role of By, if the code that was
// sent to the address is correct.
type AddressConfirmation struct {
	By      actor.Actor
	Address string
	Attempt Attempt
}

// ConfirmAddress confirms an address with the code that RequestOTP sent to it. It replaces the
// earlier address. Errors are as in Login.
func (s *Service) ConfirmAddress(ctx context.Context, by actor.Actor, address, otp string) error {
	now := s.Now()
	attempt := s.attempt(confirmKey(by.Number, by.Role, address), otp, now)
	attempt.Consume = true
	result, err := s.Store.ConfirmAddress(ctx, AddressConfirmation{By: by, Address: address, Attempt: attempt})
	if err != nil {
		return err
	}
	if err := s.resultError(result, now); err != nil {
		return err
	}
	return nil
}

func errNoMail() error {
	return fault.Validation([]fault.Field{{Pointer: "/channel", Code: "not_available", Detail: "This service sends no mail. Use sms."}})
}

func errNoVoice() error {
	return fault.Validation([]fault.Field{{Pointer: "/channel", Code: "not_available", Detail: "This service makes no calls. Use sms."}})
}

func errNoChat() error {
	return fault.Validation([]fault.Field{{Pointer: "/channel", Code: "not_available", Detail: "This service sends no chat messages. Use sms."}})
}

func errNoIncoming() error {
	return fault.Validation([]fault.Field{{Pointer: "/channel", Code: "not_available", Detail: "This service takes no messages on this channel. Use sms."}})
}
