package notify

import (
	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
)

// recipients is the type of notification that the coach and the party get for an
// event. An empty Type is no notification.
type recipients struct{ coach, guardian, student Type }

// plan is the table of the spec's section 6. ofGuardian is for events about a
// guardian's consent, ofStudent for events about a student's.
var plan = map[event.Type]struct{ ofGuardian, ofStudent recipients }{
	event.Requested: {
		ofGuardian: recipients{guardian: GuardianRequest},
		ofStudent:  recipients{student: StudentRequest},
	},
	event.Reminded: {
		ofGuardian: recipients{guardian: RequestReminder},
		ofStudent:  recipients{student: RequestReminder},
	},
	event.Approved: {
		ofGuardian: recipients{coach: GuardianApproved, guardian: GuardianApprovalConfirmed},
		ofStudent:  recipients{coach: StudentApproved, student: StudentApprovalConfirmed},
	},
	event.Rejected: {
		ofGuardian: recipients{coach: GuardianRejected, guardian: GuardianRejectConfirmed},
		ofStudent:  recipients{coach: StudentRejected, student: StudentRejectConfirmed},
	},
	event.Revoked: {
		ofGuardian: recipients{coach: GuardianRevoked, guardian: GuardianRevoked},
		ofStudent:  recipients{coach: StudentRevoked, student: StudentRevoked},
	},
	event.Disputed: {
		ofGuardian: recipients{coach: RequestDisputed},
		ofStudent:  recipients{coach: RequestDisputed},
	},
	event.DeliveryFailed: {
		ofGuardian: recipients{coach: DeliveryFailed},
		ofStudent:  recipients{coach: DeliveryFailed},
	},
	event.Changed: {
		ofGuardian: recipients{guardian: PlayerChanged},
		ofStudent:  recipients{student: PlayerChanged},
	},
	event.Unlinked: {
		ofGuardian: recipients{guardian: PlayerRemoved},
		ofStudent:  recipients{student: PlayerRemoved},
	},
	event.Removed: {
		ofGuardian: recipients{guardian: PlayerRemoved},
		ofStudent:  recipients{student: PlayerRemoved},
	},
	event.CoachLeft: {
		ofGuardian: recipients{guardian: CoachLeft},
		ofStudent:  recipients{student: CoachLeft},
	},
}

// Plan returns the drafts of the notifications for e.
func Plan(e event.Event) []Draft {
	switch e.Type {
	case event.PendingLong:
		return []Draft{write(actor.Coach, e.CoachID, PendingReminder, e)}
	case event.CertificateExpiring:
		return []Draft{write(actor.Coach, e.CoachID, CertificateExpiring, e)}
	case event.KYCVerified:
		return []Draft{write(actor.Coach, e.CoachID, KYCVerified, e)}
	case event.KYCRejected:
		return []Draft{write(actor.Coach, e.CoachID, KYCRejected, e)}
	case event.TokenReused, event.NumberChanged:
		return []Draft{write(e.Party, e.PartyID, SecurityNotice, e)}
	}
	to := plan[e.Type].ofStudent
	if e.Party == actor.Guardian {
		to = plan[e.Type].ofGuardian
	}
	var drafts []Draft
	if to.coach != "" {
		drafts = append(drafts, write(actor.Coach, e.CoachID, to.coach, e))
	}
	if to.guardian != "" {
		drafts = append(drafts, write(actor.Guardian, e.PartyID, to.guardian, e))
	}
	if to.student != "" {
		drafts = append(drafts, write(actor.Student, e.PartyID, to.student, e))
	}
	return drafts
}

// write returns the draft of type t for e.
func write(to actor.Role, accountID string, t Type, e event.Event) Draft {
	d := Draft{To: to, AccountID: accountID, Type: t, Data: Data{
		PlayerID: e.PlayerID, RequestID: e.RequestID, CoachID: e.CoachID, SessionID: e.SessionID, Count: e.Count, DocumentID: e.DocumentID,
	}}
	if t == PlayerRemoved || t == CoachLeft {
		// The recipient is no longer linked and must not see the player.
		d.Data = Data{CoachID: e.CoachID}
	}
	if e.Type == event.Removed || e.Type == event.CoachLeft {
		d.Channels = []Channel{SMS}
	}
	d.Title, d.Body = words(to, t, e)
	return d
}
