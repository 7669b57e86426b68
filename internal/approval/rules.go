package approval

import (
	"slices"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/claims"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Rules are the settings of this package (spec section 8).
type Rules struct {
	// ResendAfter is how long an open request waits before it may be sent again.
	ResendAfter time.Duration
	// RemindersPerWindow limits the reminders to one party of a player in any
	// ReminderWindow.
	RemindersPerWindow int
	ReminderWindow     time.Duration
	// Claims are the names that no student and no guardian may have.
	Claims claims.List
	// GuardianBelow is the age in full years below which a student's app services require the
	// guardian's approval too: the student's yes is then an assent. 0 is no age.
	GuardianBelow int
	// ApprovalFreshness is the age of a sign-in up to which the API takes an approval; 0 is any age.
	ApprovalFreshness time.Duration
	// GuardianProof says whether a guardian of a minor proves to be an adult before a yes.
	GuardianProof ProofRule
	// SecondMessage is how long after a guardian's yes a second message repeats it; 0 sends none.
	SecondMessage time.Duration
	// Basis is the basis of a player if the coach declares none; "" is FamilyAsked.
	Basis BasisKind
	// AllowCoachAsContact lets coaches use their own number as a contact.
	AllowCoachAsContact bool
	// Routes are the channels of the service.
	Routes map[message.Channel]message.Route
	// Call is the route of calls that ask a question; nil if the service makes none.
	Call message.Route
	// DefaultChannels are used if the coach names none, those on which the party has an
	// address.
	DefaultChannels []message.Channel
	// HasChat reports whether the service has a transport for the chat.
	HasChat bool
	// TestNumber reports whether n is configured for app-store review.
	TestNumber func(n phone.Number) bool
	// TierHas reports whether a stored tier has an app service; nil is all.
	TierHas func(tier, service string) bool
	// WholeHistory lets a party see what a coach added before the party approved.
	WholeHistory bool
	// LinkValidity is how long the link in a message works.
	LinkValidity time.Duration
	Digest       DigestRules
	// First has, by lane, the channel that is tried before the channel of the lane. It may lack
	// entries.
	First map[message.Lane]message.Channel
	// TrustedCoach reports whether an operator verified a coach with a stored tier and KYC state; nil is no coach.
	TrustedCoach func(tier, kyc string) bool
	// Unproved reports whether the log of consents cannot prove the approvals now: then no party has app services. nil
	// is never.
	Unproved func() bool
	// CheckRoster returns an error if a coach has too many players; nil is no limit.
	CheckRoster func(Roster) error
}

// IsUnproved is Unproved.
func (r Rules) IsUnproved() bool { return r.Unproved != nil && r.Unproved() }

// FirstLane returns the lane in which a delivery of a lane starts.
func (r Rules) FirstLane(lane message.Lane, state string) message.Lane {
	if channel, ok := r.First[lane]; ok && state == message.QueuedState {
		lane.Channel = channel
	}
	return lane
}

// Roster is a coach's number of players and what limits it.
type Roster struct {
	Players int64
	// Tier and KYC are the stored names of the coach's tier and KYC state.
	Tier, KYC string
}

// Operation is the time of one operation and the source of its new ids.
type Operation struct {
	Now   time.Time
	NewID func() string
	// Claims are the names that no student and no guardian may have.
	Claims claims.List
}

// checkName returns a fault if a name claims to be another.
func (op Operation) checkName(pointer, name string) []fault.Field {
	if op.Claims.Person(name) {
		return []fault.Field{claims.Fault(pointer)}
	}
	return nil
}

// pointer returns the field of the ith party in a request: the first guardian is also "guardian".
func (p *Player) pointer(i int) string {
	switch {
	case p.Parties[i].Role == actor.Student:
		return "/student"
	case i == 0:
		return "/guardian"
	}
	return "/guardians/" + strconv.Itoa(i)
}

// numberPointer returns the field of the number of the ith party in a request.
func (p *Player) numberPointer(i int) string {
	if p.Parties[i].Role == actor.Student {
		return "/student/contact_number"
	}
	return p.pointer(i) + "/mobile_number"
}

// checkContacts refuses a contact that is the coach's own number or was it within
// auth.FormerNumbersKept, a mix of test numbers and real numbers, and two guardians with one number.
func (r Rules) checkContacts(p *Player, own phone.Number) error {
	var conflicts []fault.Field
	for i := range p.Parties {
		n, party := p.Parties[i].Number, p.Parties[i].Role
		switch pointer := p.numberPointer(i); {
		case n == "":
		case party == actor.Guardian && slices.ContainsFunc(p.Parties[:i], func(o Party) bool { return o.Role == party && o.Number == n }):
			conflicts = append(conflicts, fault.Field{
				Pointer: pointer, Code: "guardian_twice", Detail: "Another guardian of this student has this number.",
			})
		case n == own && !r.AllowCoachAsContact:
			conflicts = append(conflicts, fault.Field{
				Pointer: pointer, Code: "own_number", Detail: "This is your own number. Enter the number of the " + string(party) + ".",
			})
		case p.CoachHeld != nil && p.CoachHeld(n) && !r.AllowCoachAsContact:
			conflicts = append(conflicts, fault.Field{
				Pointer: pointer, Code: "former_number", Detail: "This was your own number less than a year ago. Enter the number of the " + string(party) + ".",
			})
		case r.TestNumber(n) != r.TestNumber(own):
			conflicts = append(conflicts, fault.Field{
				Pointer: pointer, Code: "test_number", Detail: "A test number can be linked with test numbers only.",
			})
		}
	}
	if len(conflicts) == 0 {
		return nil
	}
	f := fault.New(fault.Invalid, "contact_conflict", "%s", conflicts[0].Detail)
	f.Fields = conflicts
	return f
}

// CheckCoachNumber refuses a new number of a coach that a guardian or student of
// the coach's players has, unless allowed (Rules.AllowCoachAsContact).
func CheckCoachNumber(isContact, allowed bool) error {
	if !isContact || allowed {
		return nil
	}
	const detail = "This is the number of a guardian or student of one of your players."
	f := fault.New(fault.Invalid, "contact_conflict", detail)
	f.Fields = []fault.Field{{Pointer: "/new_mobile_number", Code: "own_contact", Detail: detail}}
	return f
}

// disputed reports whether n refuses requests as party.
func (p *Player) disputed(party actor.Role, n phone.Number) bool {
	for _, c := range p.Disputes {
		if c.Party == party && c.Number == n {
			return true
		}
	}
	return false
}

// CheckDisputes returns contact_disputed if a request about to be saved goes to a
// contact that refuses requests.
func (p *Player) CheckDisputes(opened []*Request) error {
	for _, r := range opened {
		if p.disputed(r.Party, p.Asked(r).Number) {
			return errDisputed(r.Party)
		}
	}
	return nil
}

func errDisputed(party actor.Role) error {
	return fault.New(fault.Conflict, "contact_disputed",
		"The person with this number said that the request was not for them. Enter the right number of the %s, or ask that person to lift the dispute.", party)
}

// NeedsGuardian reports whether the app services of a student born on that date require the guardian's approval.
func (r Rules) NeedsGuardian(born Date, now time.Time) bool { return born.AgeOn(now) < r.GuardianBelow }

// Decide is Player.Decide with the rules of sign-ins and proofs.
func (r Rules) Decide(by actor.Actor, p *Player, d Decision, op Operation) (Change, error) {
	if err := r.checkFresh(by, p, d, op.Now); err != nil {
		return Change{}, err
	}
	c, err := p.Decide(by, by.Role, d, op)
	if err != nil || !c.Save {
		return c, err
	}
	r.noteTextPlus(p, c.History)
	return c, r.checkProof(p, p.PartyOf(by), d, op.Now)
}

// checkFresh returns fresh_otp_required for an approval by the API whose sign-in is too old. Pages ask
// for an OTP themselves, a button or key counts as one, and a repeated approval changes nothing.
func (r Rules) checkFresh(by actor.Actor, p *Player, d Decision, now time.Time) error {
	if r.ApprovalFreshness == 0 || by.Via != actor.ViaAPI || d.Action != Approve || now.Sub(by.SignedInAt) <= r.ApprovalFreshness ||
		!p.VisibleTo(by) || p.PartyOf(by).Consent.State == Approved {
		return nil
	}
	return fault.New(fault.Forbidden, "fresh_otp_required", "Sign in again, with an OTP or a passkey. Then approve within %s.", r.ApprovalFreshness)
}

func errNoOpenRequest() error {
	return fault.New(fault.Conflict, "no_open_request", "There is no open request. Send one first.")
}
