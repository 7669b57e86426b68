package approval

import "time"

// Immediate lists the services that work at once, whatever anybody answered
// (spec section 3, rule 1).
var Immediate = []string{"chat", "sms", "roster", "attendance", "manual_fees"}

// AppServices lists the services that work for a party only after that party
// approved (spec section 1, clause 7).
var AppServices = []string{
	"in_app_notifications", "performance_reports", "fee_reminders",
	"team_communications", "digital_payments", "progress_tracking",
}

// Standing is the little of a player that decides what is switched on.
type ConsentStatus struct {
	PlayerID    string
	Guardian    State
	Student     State
	DateOfBirth Date
}

// Standing returns where p stands.
func (p *Player) ConsentStatus() ConsentStatus {
	return ConsentStatus{p.ID, p.GuardianApprover.Consent.State, p.StudentApprover.Consent.State, p.Student.DateOfBirth}
}

// Availability is what is switched on for whom (spec section 2.4). Chat and SMS
// are always on and have no field.
type Availability struct {
	PlayerID    string
	GuardianApp bool
	StudentApp  bool
}

// Availability derives what is switched on from the two consents.
func (s ConsentStatus) Availability(rules Rules, now time.Time) Availability {
	a := Availability{
		PlayerID:    s.PlayerID,
		GuardianApp: s.Guardian == Approved,
		StudentApp:  s.Student == Approved,
	}
	if rules.RequireGuardianForMinors && s.DateOfBirth.AgeOn(now) < AdultAge {
		a.StudentApp = a.StudentApp && a.GuardianApp
	}
	return a
}
