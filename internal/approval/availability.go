package approval

import "time"

// Immediate lists the services that need no approval (spec section 3, rule 1).
var Immediate = []string{"chat", "sms", "roster", "attendance", "manual_fees"}

// AppServices lists the services that a party has only after that party approved
// (spec section 1, clause 7).
var AppServices = []string{
	"in_app_notifications", "performance_reports", "fee_reminders",
	"team_communications", "digital_payments", "progress_tracking",
}

// ConsentStatus is the part of a player that decides the availability of services.
type ConsentStatus struct {
	PlayerID    string
	Guardian    State
	Student     State
	DateOfBirth Date
}

// ConsentStatus returns the consent status of p.
func (p *Player) ConsentStatus() ConsentStatus {
	return ConsentStatus{p.ID, p.GuardianApprover.Consent.State, p.StudentApprover.Consent.State, p.Student.DateOfBirth}
}

// Availability says which parties have the app services (spec section 2.4). Chat
// and SMS are always available and have no field.
type Availability struct {
	PlayerID    string
	GuardianApp bool
	StudentApp  bool
}

// Availability derives the available services from the two consents.
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
