package message_test

import (
	"flag"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// allEvents returns every event for every party that causes a notification. Events
// with names are repeated with names that are not safe to send.
func allEvents() []event.Event {
	all := partyEvents("Meera Nair", "Asha Rao", "Ravi Rao")
	for _, others := range [][]string{{"Bela Rao"}, {"Bela Rao", "Chetan Rao"}, {"Bela Rao", "Chetan Rao", "Divya Rao"}} {
		all = append(all, coachLeft("http://evil.example", "Asha Rao", others...))
	}
	for _, party := range []actor.Role{actor.Guardian, actor.Student} { // another picture
		all = append(all, event.Event{Type: event.CoachChanged, Party: party, CoachID: "coach-id", PlayerID: "player-id", PartyID: "party-id", CoachName: "Meera Nair", FormerCoach: "Meera Nair", StudentName: "Asha Rao"})
	}
	all = append(all,
		event.Event{Type: event.PendingLong, CoachID: "coach-id", Count: 1, Waited: 72 * time.Hour},
		event.Event{Type: event.PendingLong, CoachID: "coach-id", Count: 12, Waited: 72 * time.Hour},
		event.Event{Type: event.CertificateExpiring, CoachID: "coach-id", DocumentID: "document-id", Title: "First aid, level 2", Day: "2027-01-31"},
		event.Event{Type: event.KYCVerified, CoachID: "coach-id"},
		event.Event{Type: event.KYCRejected, CoachID: "coach-id", Reason: "The passport is not readable"},
		event.Event{Type: event.NameConfirmed, CoachID: "coach-id"},
		event.Event{Type: event.NameRefused, CoachID: "coach-id", Title: "Visit evil.example", Reason: "Families would not know who this is"},
		event.Event{Type: event.TierApproved, CoachID: "coach-id", Title: "Pro"},
		event.Event{Type: event.TierRefused, CoachID: "coach-id", Title: "Academy", Reason: "Tell us first how many players you have"},
		event.Event{Type: event.TierRefused, CoachID: "coach-id", Title: "Academy"},
		event.Event{Type: event.UPIChanged, CoachID: "coach-id", SessionID: "session-id"},
		event.Event{
			Type: event.FeeReminded, Party: actor.Guardian, CoachID: "coach-id", PlayerID: "player-id", PartyID: "party-id", FeeID: "fee-id",
			CoachName: "Meera Nair", StudentName: "Asha Rao", Title: "Training in March", Day: "2026-03-05",
		},
		event.Event{
			Type: event.FeeReminded, Party: actor.Student, CoachID: "coach-id", PlayerID: "player-id", PartyID: "party-id", FeeID: "fee-id",
			Title: "Pay to http://evil.example", Day: "2026-03-05",
		},
		trainingEvent(event.TrainingAdded, actor.Guardian, event.Training{Kind: "match", Opponent: "Tigers", Venue: "City stadium"}),
		trainingEvent(event.TrainingAdded, actor.Student, event.Training{Kind: "other", Title: "Summer camp"}),
		trainingEvent(event.TrainingChanged, actor.Guardian, event.Training{Kind: "training", Venue: "North ground"}),
		trainingEvent(event.TrainingRestored, actor.Guardian, event.Training{Kind: "match"}),
		trainingEvent(event.TrainingCancelled, actor.Guardian, event.Training{Kind: "training", Reason: "The ground is under water"}),
		trainingEvent(event.TrainingCancelled, actor.Student, event.Training{Kind: "match", Opponent: "http://evil.example", Reason: "pay at evil.example"}),
		trainingEvent(event.TrainingAsked, actor.Guardian, event.Training{Kind: "other"}),
		event.Event{Type: event.TokenReused, Party: actor.Guardian, PartyID: "party-id", SessionID: "session-id"},
		event.Event{Type: event.DeliveryFailed, Party: actor.Guardian, CoachID: "coach-id", GuardianName: "Ravi Rao", StudentName: "Asha Rao", Channel: "email"},
		event.Event{Type: event.PasskeyAdded, Party: actor.Student, PartyID: "student-id", SessionID: "session-id"},
		event.Event{Type: event.NumberChanged, Party: actor.Coach, PartyID: "coach-id", SessionID: "session-id"},
	)
	for _, day := range []string{"2026-03-05", ""} {
		for _, party := range []actor.Role{actor.Guardian, actor.Student} {
			for _, kind := range []event.Type{event.TurningAdult, event.TurnedAdult} {
				if kind == event.TurnedAdult || party == actor.Student || day != "" {
					all = append(all, event.Event{Type: kind, Party: party, CoachID: "coach-id", PlayerID: "player-id", PartyID: "party-id", CoachName: "Meera Nair", StudentName: "Asha Rao", Day: day})
				}
			}
		}
	}
	all = append(all,
		event.Event{Type: event.TurnedAdult, Party: actor.Student, CoachID: "coach-id", PlayerID: "player-id", PartyID: "party-id", CoachName: "Meera Nair", StudentName: "Asha Rao", AppOnly: true},
		event.Event{Type: event.AdultUnanswered, CoachID: "coach-id", PlayerID: "player-id", StudentName: "Asha Rao", Day: "2026-03-05"},
		event.Event{Type: event.UnansweredEnding, CoachID: "coach-id", PlayerID: "player-id", StudentName: "Asha Rao", Count: 1, Day: "2026-03-05"},
		event.Event{Type: event.UnansweredEnding, CoachID: "coach-id", Count: 12, Day: "2026-03-05"},
		event.Event{Type: event.GuardianViewEnded, CoachID: "coach-id", PlayerID: "player-id", StudentName: "Asha Rao"},
		event.Event{Type: event.GuardianAdded, Party: actor.Guardian, PartyID: "party-id", CoachID: "coach-id", PlayerID: "player-id", CoachName: "Meera Nair", StudentName: "Asha Rao", OtherName: "Ravi", OtherRelationship: "father"},
		event.Event{Type: event.GuardianAdded, Party: actor.Student, PartyID: "party-id", CoachID: "coach-id", PlayerID: "player-id", CoachName: "Meera Nair", StudentName: "Asha Rao", OtherName: "Ravi", OtherRelationship: "father"},
		event.Event{Type: event.GuardianRemoved, Party: actor.Guardian, PartyID: "party-id", CoachID: "coach-id", PlayerID: "player-id", CoachName: "Meera Nair", StudentName: "Asha Rao", OtherName: "http://evil.example", OtherRelationship: "father"},
		event.Event{Type: event.GuardianRemoved, Party: actor.Guardian, PartyID: "party-id", CoachID: "coach-id", PlayerID: "player-id", CoachName: "Meera Nair", StudentName: "Asha Rao", OtherName: "Ravi", OtherRelationship: "father", Reason: event.NowFirst},
		event.Event{Type: event.GuardiansDisagree, CoachID: "coach-id", PlayerID: "player-id", StudentName: "Asha Rao", Yes: []string{"Ravi"}, No: []string{"Anita"}},
		event.Event{Type: event.GuardiansDisagree, CoachID: "coach-id", PlayerID: "player-id", StudentName: "Asha Rao", Yes: []string{"Ravi", "Meena"}, No: []string{"Anita"}},
		event.Event{Type: event.Left, Party: actor.Guardian, CoachID: "coach-id", PlayerID: "player-id", StudentName: "Asha Rao"},
		event.Event{Type: event.Left, Party: actor.Student, CoachID: "coach-id", PlayerID: "player-id", StudentName: "Asha Rao"},
		event.Event{Type: event.PlayerErased, CoachID: "coach-id", PlayerID: "player-id", StudentName: "Asha Rao"},
	)
	all = append(all, partyEvents("http://evil.example", "@", "")...)
	return append(all, coachLeft("", "", "@"), coachLeft("", "", "Bela Rao"), coachLeft("", "Asha Rao", "@", "Chetan Rao", "Divya Rao"))
}

// coachLeft is the event that a coach closed the account.
func coachLeft(coach, student string, others ...string) event.Event {
	return event.Event{
		Type: event.CoachLeft, Party: actor.Guardian, CoachID: "coach-id", PartyID: "party-id",
		CoachName: coach, StudentName: student, OtherStudents: others,
	}
}

// changesOf are changes that are told to a party.
var changesOf = map[event.Type]map[actor.Role][]event.Change{event.Changed: {
	actor.Guardian: {event.NameChanged, event.StudentNumberChanged},
	actor.Student:  {event.BirthDateChanged, event.GuardianNumberChanged},
}}

// formerCoach is the former name of the coach.
var formerCoach = map[event.Type]string{event.CoachChanged: "Mira Nair", event.CoachRenaming: "Mira Nair"}

// partyEvents returns the events about one party of a player.
func partyEvents(coach, student, guardian string) []event.Event {
	var all []event.Event
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		for _, t := range []event.Type{
			event.Requested, event.Reminded, event.Approved, event.Rejected, event.Revoked,
			event.Disputed, event.DisputeLifted, event.Changed, event.Unlinked, event.Removed, event.CoachLeft, event.CoachChanged, event.CoachRenaming, event.DeliveryFailed,
			event.TeamMessage, event.TeamReply, event.ProgressAdded, event.ReportAdded, event.FeeTold,
		} {
			all = append(all, event.Event{
				Type: t, Party: party, CoachID: "coach-id", PlayerID: "player-id", RequestID: "request-id", PartyID: "party-id",
				CoachName: coach, StudentName: student, GuardianName: guardian, Channel: "sms",
				Changes: changesOf[t][party], FormerCoach: formerCoach[t],
			})
			switch e := &all[len(all)-1]; t {
			case event.CoachRenaming:
				e.Day = "2026-12-05"
			case event.TeamMessage, event.TeamReply:
				e.RequestID, e.MessageID = "", "message-id"
			case event.FeeTold:
				e.RequestID, e.FeeID, e.Title = "", "fee-id", "Training in May"
			case event.ProgressAdded, event.ReportAdded:
				e.RequestID, e.RecordID = "", "record-id"
			}
		}
	}
	return all
}

// trainingEvent is an event of a training on a Thursday.
func trainingEvent(t event.Type, party actor.Role, training event.Training) event.Event {
	training.ID, training.Day, training.Start = "training-id", "2026-03-05", "17:30"
	return event.Event{
		Type: t, Party: party, CoachID: "coach-id", PlayerID: "player-id", PartyID: "party-id", CoachName: "Meera Nair", StudentName: "Asha Rao", Training: training,
	}
}
