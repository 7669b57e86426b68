package auth

import (
	"context"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/phone"
)

// NumberChange gives a coach another number, once both are proved.
type NumberChange struct {
	By actor.Actor
	To phone.Number
	// Current and New are the guesses at the codes of both numbers; a right one is
	// used up only together with the other.
	Current, New Try
}

// NumberChanged is what became of a NumberChange: it is done where both verdicts
// are RightCode. New is not judged before Current is right.
type NumberChanged struct {
	Current, New Tried
	// Ended counts the sessions elsewhere that ended.
	Ended int
}

// ChangeNumber gives the coach by another number. otp is the code of the present
// number, newOTP that of the new one, both in the role coach. A wrong code counts
// as a try, as ever, and uses nothing up. This session goes on; those elsewhere
// end. Errors name which number is meant, where it is one of the otp_* problems;
// beside them validation_failed, destination_blocked, number_in_use,
// contact_conflict.
func (s *Service) ChangeNumber(ctx context.Context, by actor.Actor, deviceToken, otp string, to phone.Number, newOTP string) (actor.Actor, int, error) {
	if err := s.mayMove(by, to); err != nil {
		return by, 0, err
	}
	now := s.Now()
	current, _, err := s.guess(ctx, Slot{Number: by.Number, Role: by.Role}, otp, deviceToken, now)
	if err != nil {
		return by, 0, err
	}
	// No device has proved the new number yet.
	fresh, _, err := s.guess(ctx, Slot{Number: to, Role: by.Role}, newOTP, "", now)
	if err != nil {
		return by, 0, err
	}
	changed, err := s.Store.ChangeNumber(ctx, NumberChange{By: by, To: to, Current: current, New: fresh})
	if err != nil {
		return by, 0, err
	}
	if err := s.judge(changed.Current, now); err != nil {
		return by, 0, err.With("number", "current")
	}
	if err := s.judge(changed.New, now); err != nil {
		return by, 0, err.With("number", "new")
	}
	by.Number = to
	return by, changed.Ended, nil
}

// mayMove says what can be said against a number before anything is proved.
func (s *Service) mayMove(by actor.Actor, to phone.Number) error {
	if to == by.Number {
		return fault.Validation([]fault.Field{{Pointer: "/new_mobile_number", Code: "same_number", Detail: "This is your number already."}})
	}
	if !s.Settings.Reachable(to) {
		return errDestination()
	}
	now := s.Now()
	if (s.Settings.TestCode(to, now) != "") != (s.Settings.TestCode(by.Number, now) != "") {
		return ErrContact("test_number", "Test numbers can be linked with one another alone.")
	}
	return nil
}

// ErrContact says that a coach cannot have the new number.
func ErrContact(code, detail string) error {
	f := fault.New(fault.Invalid, "contact_conflict", "%s", detail)
	f.Fields = []fault.Field{{Pointer: "/new_mobile_number", Code: code, Detail: detail}}
	return f
}

// ErrInUse says that the new number has an account as coach already. Only who has
// proved the number hears it.
func ErrInUse() error {
	return fault.New(fault.Conflict, "number_in_use", "A coach with this number is registered already. Sign in with it, or close that account first.")
}

// ErrEnded says that the session in which something was asked has ended meanwhile.
func ErrEnded() error { return errRevoked() }
