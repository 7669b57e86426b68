package auth

import (
	"context"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// NumberChange gives a coach another number, if the codes of both numbers are
// correct.
type NumberChange struct {
	By actor.Actor
	To phone.Number
	// Current and New are the attempts at both codes. A correct code is consumed only
	// together with the other.
	Current, New Attempt
}

// Event returns the event that notifies the coach of the new number.
func (c NumberChange) Event() event.Event {
	return event.Event{Type: event.NumberChanged, Party: c.By.Role, PartyID: c.By.AccountID, SessionID: c.By.SessionID}
}

// NumberChangeResult is the result of a NumberChange. It succeeded if both outcomes
// are CorrectCode. New is not evaluated unless Current is correct.
type NumberChangeResult struct {
	Current, New VerificationResult
	// Ended is the number of other sessions that ended.
	Ended int
}

// ChangeNumber gives the calling coach the number to. otp is a code for the current
// number, newOTP one for the new number, both in the role coach. A wrong code counts
// as an attempt and consumes neither code. The session of by stays; the coach's other
// sessions end.
//
// Errors: as Login, with the member number ("current" or "new"), and
// validation_failed, destination_blocked, number_in_use, contact_conflict.
func (s *Service) ChangeNumber(ctx context.Context, by actor.Actor, deviceToken, otp string, to phone.Number, newOTP string) (actor.Actor, int, error) {
	if err := s.checkNewNumber(by, to); err != nil {
		return by, 0, err
	}
	now := s.Now()
	current, _, err := s.newAttempt(ctx, ChallengeKey{Number: by.Number, Role: by.Role}, otp, Proof{DeviceToken: deviceToken}, now)
	if err != nil {
		return by, 0, err
	}
	// Without a device token: a device is known for one number only.
	replacement, _, err := s.newAttempt(ctx, ChallengeKey{Number: to, Role: by.Role}, newOTP, Proof{}, now)
	if err != nil {
		return by, 0, err
	}
	result, err := s.Store.ChangeNumber(ctx, NumberChange{By: by, To: to, Current: current, New: replacement})
	if err != nil {
		return by, 0, err
	}
	if err := s.resultError(result.Current, now); err != nil {
		return by, 0, err.With("number", "current")
	}
	if err := s.resultError(result.New, now); err != nil {
		return by, 0, err.With("number", "new")
	}
	by.Number = to
	return by, result.Ended, nil
}

// CurrentActor returns by with the number that its session has now.
func (s *Service) CurrentActor(ctx context.Context, by actor.Actor) (actor.Actor, error) {
	session, err := s.Store.Session(ctx, by.SessionID)
	if err != nil {
		return by, err
	}
	if err := session.checkActive(s.Now()); err != nil {
		return by, err
	}
	return session.Actor(), nil
}

// checkNewNumber checks what needs no code.
func (s *Service) checkNewNumber(by actor.Actor, to phone.Number) error {
	if to == by.Number {
		return fault.Validation([]fault.Field{{Pointer: "/new_mobile_number", Code: "same_number", Detail: "This is your number already."}})
	}
	if !s.Settings.Reachable(to) {
		return errDestination()
	}
	now := s.Now()
	if (s.Settings.TestCode(to, now) != "") != (s.Settings.TestCode(by.Number, now) != "") {
		return errContactConflict("test_number", "A test number can be linked with test numbers only.")
	}
	return nil
}

// errContactConflict returns contact_conflict: the coach must not have the new number.
func errContactConflict(code, detail string) error {
	f := fault.New(fault.Invalid, "contact_conflict", "%s", detail)
	f.Fields = []fault.Field{{Pointer: "/new_mobile_number", Code: code, Detail: detail}}
	return f
}

// ErrNumberInUse returns number_in_use: another coach has the new number. Only a
// caller with a correct code for that number gets this error.
func ErrNumberInUse() error {
	return fault.New(fault.Conflict, "number_in_use", "A coach with this number is registered already. Sign in with it, or close that account first.")
}
