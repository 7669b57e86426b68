package approval

import (
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// Immediate lists the services that need no approval (spec section 3, rule 1).
var Immediate = []string{"chat", "sms", "roster", "attendance", "manual_fees"}

// smsService is the immediate service that needs a number.
const smsService = "sms"

// AppServices lists the services that a party has only after that party approved
// (spec section 1, clause 7).
var AppServices = []string{
	"in_app_notifications", "performance_reports", "fee_reminders",
	"team_communications", "digital_payments", "progress_tracking",
}

// ConsentStatus is the part of a player that decides the availability of services.
type ConsentStatus struct {
	PlayerID string
	// Sequence is the number of status changes of the player so far.
	Sequence int64
	// Guardian and HasGuardian are of the first guardian: see As. HasGuardian is false without one.
	Guardian    State
	HasGuardian bool
	Student     State
	DateOfBirth Date
	// Guardians are all guardians in their order, and Rule says whose yes the services of the student need.
	Guardians []GuardianConsent
	Rule      GuardianRule
	// HasStudentNumber reports whether the student has a number.
	HasStudentNumber bool
	// CoachTier is the stored name of the coach's tier.
	CoachTier string
}

// GuardianConsent is the consent of one guardian.
type GuardianConsent struct {
	ID, AccountID string
	State         State
	// Refused is as in Consent.
	Refused bool
}

// As returns s with the consent of the guardian with an id in the place of the first. It returns s for an empty id, and
// no guardian for an unknown one.
func (s ConsentStatus) As(guardianID string) ConsentStatus {
	if guardianID == "" {
		return s
	}
	s.Guardian, s.HasGuardian = Pending, false
	for _, g := range s.Guardians {
		if g.ID == guardianID {
			s.Guardian, s.HasGuardian = g.State, true
		}
	}
	return s
}

// SeenBy returns s as by sees it: a guardian sees its own consent in the place of the first.
func (s ConsentStatus) SeenBy(by actor.Actor) ConsentStatus {
	for _, g := range s.Guardians {
		if by.Role == actor.Guardian && g.AccountID == by.AccountID {
			return s.As(g.ID)
		}
	}
	return s
}

// GuardianApproval returns what the answers of all guardians mean together.
func (s ConsentStatus) GuardianApproval() GuardianApproval {
	if len(s.Guardians) == 0 {
		return guardianApproval(s.Rule, []State{s.Guardian})
	}
	states := make([]State, len(s.Guardians))
	for i, g := range s.Guardians {
		states[i] = Consent{State: g.State, Refused: g.Refused}.standing()
	}
	return guardianApproval(s.Rule, states)
}

// HasParty reports whether the player has a guardian, or a student with a number.
func (s ConsentStatus) HasParty(party actor.Role) bool {
	if party == actor.Guardian {
		return s.HasGuardian
	}
	return s.HasStudentNumber
}

// Approved reports whether party has approved.
func (s ConsentStatus) Approved(party actor.Role) bool {
	if party == actor.Guardian {
		return s.Guardian == Approved
	}
	return s.Student == Approved
}

// ConsentStatus returns the consent status of p.
func (p *Player) ConsentStatus() ConsentStatus {
	s := ConsentStatus{
		PlayerID: p.ID, Guardian: p.Party(actor.Guardian).Consent.State, Student: p.Party(actor.Student).Consent.State, Rule: p.Rule,
		DateOfBirth: p.Student.DateOfBirth, HasGuardian: p.Guardian() != nil, HasStudentNumber: p.Number(actor.Student) != "", CoachTier: p.CoachTier,
	}
	for _, g := range p.Guardians() {
		s.Guardians = append(s.Guardians, GuardianConsent{g.GuardianID, g.AccountID, g.Consent.State, g.Consent.Refused})
	}
	return s
}

// Availability says which parties have which services (spec section 2.4).
type Availability struct {
	PlayerID string
	// Sequence is as in ConsentStatus.
	Sequence    int64
	GuardianApp bool
	StudentApp  bool
	// HasChat is as in Rules: without a transport no chat message reaches a party.
	HasChat bool
	// HasGuardian and HasStudentNumber are as in ConsentStatus.
	HasGuardian      bool
	HasStudentNumber bool
	// Guardians say of each guardian whether it has the app.
	Guardians []GuardianApp
	// NotInTier are the app services that the coach's tier does not have.
	NotInTier []string
}

// GuardianApp says whether a guardian has the app.
type GuardianApp struct {
	GuardianID string `json:"guardian_id"`
	Enabled    bool   `json:"app_enabled"`
}

// GuardianApps returns Guardians as a list of openapi.yaml.
func (a Availability) GuardianApps() []GuardianApp { return append([]GuardianApp{}, a.Guardians...) }

// ServiceAccess is one service and the parties that have it, as the ServiceAccess of openapi.yaml.
type ServiceAccess struct {
	Name     string `json:"service"`
	Guardian bool   `json:"guardian"`
	Student  bool   `json:"student"`
	// Reason says why no party has it, or is empty: the approvals say why.
	Reason string `json:"reason,omitempty"`
}

// ReasonTier says that the tier of the coach does not have the service.
const ReasonTier = "tier"

// Services lists the immediate services, then the app services. A guardian who does
// not exist has none, and a student without a number has no SMS. The immediate services are
// the coach's tools and what arrives by chat and SMS: that they are on does not mean that the
// party may read the roster, attendance or fees in the app, which AppAccess decides.
func (a Availability) Services() []ServiceAccess {
	list := make([]ServiceAccess, 0, len(Immediate)+len(AppServices))
	for _, name := range Immediate {
		list = append(list, ServiceAccess{Name: name, Guardian: a.HasGuardian, Student: name != smsService || a.HasStudentNumber})
	}
	for _, name := range AppServices {
		access := ServiceAccess{Name: name, Guardian: a.GuardianApp, Student: a.StudentApp}
		if slices.Contains(a.NotInTier, name) {
			access = ServiceAccess{Name: name, Reason: ReasonTier}
		}
		list = append(list, access)
	}
	return list
}

// Availability derives the available services from the consents. Of several guardians each has its own; the services of
// the guardian are those of the first: see As.
func (s ConsentStatus) Availability(rules Rules, now time.Time) Availability {
	a := Availability{
		PlayerID:    s.PlayerID,
		Sequence:    s.Sequence,
		GuardianApp: s.Guardian == Approved && !rules.IsUnproved(),
		StudentApp:  s.Student == Approved && !rules.IsUnproved(),
		HasChat:     rules.HasChat,
		HasGuardian: s.HasGuardian, HasStudentNumber: s.HasStudentNumber,
	}
	if rules.NeedsGuardian(s.DateOfBirth, now) {
		a.StudentApp = a.StudentApp && s.GuardianApproval() == GuardiansAgree
	}
	for _, g := range s.Guardians {
		a.Guardians = append(a.Guardians, GuardianApp{g.ID, g.State == Approved && !rules.IsUnproved()})
	}
	for _, name := range AppServices {
		if rules.TierHas != nil && !rules.TierHas(s.CoachTier, name) {
			a.NotInTier = append(a.NotInTier, name)
		}
	}
	return a
}

// SameServices reports whether two stored tiers have the same app services.
func (r Rules) SameServices(tier, other string) bool {
	if r.TierHas == nil {
		return true
	}
	for _, name := range AppServices {
		if r.TierHas(tier, name) != r.TierHas(other, name) {
			return false
		}
	}
	return true
}

// AppAccess says whether a party has a service of the app, and if not, why.
type AppAccess string

// The values of AppAccess.
const (
	AppGranted AppAccess = ""
	// AppPending: the party, or a guardian of a minor if rules want both, has not answered, or its answer cannot be
	// proved now.
	AppPending AppAccess = "pending"
	// AppRefused: that party rejected or revoked.
	AppRefused AppAccess = "required"
	// AppNotInTier: the coach's tier does not have the service.
	AppNotInTier AppAccess = "tier"
)

// AppAccess returns whether party has a service: one of AppServices, or any other name for
// the app itself.
func (s ConsentStatus) AppAccess(party actor.Role, service string, rules Rules, now time.Time) AppAccess {
	a := s.Availability(rules, now)
	on, state := a.GuardianApp, s.Guardian
	if party == actor.Student {
		on, state = a.StudentApp, s.Student
		if state == Approved { // that of a guardian is missing, or they disagree
			state = Rejected
			if s.GuardianApproval() == GuardiansWaiting {
				state = Pending
			}
		}
	}
	switch {
	case !on && (state == Pending || rules.IsUnproved()):
		return AppPending
	case !on:
		return AppRefused
	case slices.Contains(a.NotInTier, service):
		return AppNotInTier
	}
	return AppGranted
}
