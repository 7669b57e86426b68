package notify

import (
	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
)

// audience says which kind of notification the coach and the party get of a
// fact; an empty Type is none. The rows are the table of the spec's section 6.
type audience struct{ coach, guardian, student Type }

var plan = map[event.Type]struct{ ofGuardian, ofStudent audience }{
	event.Requested: {
		ofGuardian: audience{guardian: GuardianRequest},
		ofStudent:  audience{student: StudentRequest},
	},
	event.Reminded: {
		ofGuardian: audience{guardian: RequestReminder},
		ofStudent:  audience{student: RequestReminder},
	},
	event.Approved: {
		ofGuardian: audience{coach: GuardianApproved, guardian: GuardianApprovalConfirmed},
		ofStudent:  audience{coach: StudentApproved, student: StudentApprovalConfirmed},
	},
	event.Rejected: {
		ofGuardian: audience{coach: GuardianRejected, guardian: GuardianRejectConfirmed},
		ofStudent:  audience{coach: StudentRejected, student: StudentRejectConfirmed},
	},
	event.Revoked: {
		ofGuardian: audience{coach: GuardianRevoked, guardian: GuardianRevoked},
		ofStudent:  audience{coach: StudentRevoked, student: StudentRevoked},
	},
	event.Disputed: {
		ofGuardian: audience{coach: RequestDisputed},
		ofStudent:  audience{coach: RequestDisputed},
	},
	event.DeliveryFailed: {
		ofGuardian: audience{coach: DeliveryFailed},
		ofStudent:  audience{coach: DeliveryFailed},
	},
	event.Changed: {
		ofGuardian: audience{guardian: PlayerChanged},
		ofStudent:  audience{student: PlayerChanged},
	},
	event.Unlinked: {
		ofGuardian: audience{guardian: PlayerRemoved},
		ofStudent:  audience{student: PlayerRemoved},
	},
	event.Removed: {
		ofGuardian: audience{guardian: PlayerRemoved},
		ofStudent:  audience{student: PlayerRemoved},
	},
	event.CoachLeft: {
		ofGuardian: audience{guardian: CoachLeft},
		ofStudent:  audience{student: CoachLeft},
	},
}

// Plan returns who is told what of e, in words.
func Plan(e event.Event) []Note {
	switch e.Type {
	case event.PendingLong:
		return []Note{write(actor.Coach, e.CoachID, PendingReminder, e)}
	case event.CertificateExpiring:
		return []Note{write(actor.Coach, e.CoachID, CertificateExpiring, e)}
	case event.KYCVerified:
		return []Note{write(actor.Coach, e.CoachID, KYCVerified, e)}
	case event.KYCRejected:
		return []Note{write(actor.Coach, e.CoachID, KYCRejected, e)}
	case event.TokenReused, event.NumberChanged:
		return []Note{write(e.Party, e.PartyID, SecurityNotice, e)}
	}
	row := plan[e.Type]
	a := row.ofStudent
	if e.Party == actor.Guardian {
		a = row.ofGuardian
	}
	var notes []Note
	if a.coach != "" {
		notes = append(notes, write(actor.Coach, e.CoachID, a.coach, e))
	}
	if a.guardian != "" {
		notes = append(notes, write(actor.Guardian, e.PartyID, a.guardian, e))
	}
	if a.student != "" {
		notes = append(notes, write(actor.Student, e.PartyID, a.student, e))
	}
	return notes
}

// write puts one notification into words.
func write(to actor.Role, accountID string, t Type, e event.Event) Note {
	n := Note{To: to, AccountID: accountID, Type: t, BySMS: e.Type == event.Removed || e.Type == event.CoachLeft, Data: Data{
		PlayerID: e.PlayerID, RequestID: e.RequestID, CoachID: e.CoachID, SessionID: e.SessionID, Count: e.Count, DocumentID: e.DocumentID,
	}}
	if t == PlayerRemoved || t == CoachLeft {
		// Who is no longer linked must not be led to the player.
		n.Data = Data{CoachID: e.CoachID}
	}
	n.Title, n.Body = words(to, t, e)
	return n
}
