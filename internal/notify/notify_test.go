package notify_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/notify"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// allEvents returns every event for every party that causes a notification. Events
// with names are repeated with names that are not safe to send.
func allEvents() []event.Event {
	all := partyEvents("Meera Nair", "Asha Rao", "Ravi Rao")
	for _, others := range [][]string{{"Bela Rao"}, {"Bela Rao", "Chetan Rao"}, {"Bela Rao", "Chetan Rao", "Divya Rao"}} {
		all = append(all, coachLeft("http://evil.example", "Asha Rao", others...))
	}
	all = append(all,
		event.Event{Type: event.PendingLong, CoachID: "coach-id", Count: 1, Waited: 72 * time.Hour},
		event.Event{Type: event.PendingLong, CoachID: "coach-id", Count: 12, Waited: 72 * time.Hour},
		event.Event{Type: event.CertificateExpiring, CoachID: "coach-id", DocumentID: "document-id", Title: "First aid, level 2", Day: "2027-01-31"},
		event.Event{Type: event.KYCVerified, CoachID: "coach-id"},
		event.Event{Type: event.KYCRejected, CoachID: "coach-id", Reason: "The passport is not readable"},
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
		event.Event{Type: event.TokenReused, Party: actor.Guardian, PartyID: "party-id", SessionID: "session-id"},
		event.Event{Type: event.NumberChanged, Party: actor.Coach, PartyID: "coach-id", SessionID: "session-id"},
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

// partyEvents returns the events about one party of a player.
func partyEvents(coach, student, guardian string) []event.Event {
	var all []event.Event
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		for _, t := range []event.Type{
			event.Requested, event.Reminded, event.Approved, event.Rejected, event.Revoked,
			event.Disputed, event.DisputeLifted, event.Changed, event.Unlinked, event.Removed, event.CoachLeft, event.DeliveryFailed,
			event.TeamMessage, event.TeamReply, event.ProgressAdded, event.ReportAdded,
		} {
			all = append(all, event.Event{
				Type: t, Party: party, CoachID: "coach-id", PlayerID: "player-id", RequestID: "request-id", PartyID: "party-id",
				CoachName: coach, StudentName: student, GuardianName: guardian, Channel: "sms",
			})
			switch e := &all[len(all)-1]; t {
			case event.TeamMessage, event.TeamReply:
				e.RequestID, e.MessageID = "", "message-id"
			case event.ProgressAdded, event.ReportAdded:
				e.RequestID, e.RecordID = "", "record-id"
			}
		}
	}
	return all
}

// TestWording compares every notification and SMS with the golden file.
func TestWording(t *testing.T) {
	var b strings.Builder
	for _, e := range allEvents() {
		plan := notify.Plan(e, "Touchline")
		if len(plan) == 0 {
			t.Errorf("no notification for %s by %s", e.Type, e.Party)
		}
		for _, n := range plan {
			fmt.Fprintf(&b, "%s %s -> %s %s: %s%s\n\t%s\n\t%s\n\t%+v\n", e.Type, e.Party, n.To, n.AccountID, n.Type, map[bool]string{true: ", by SMS too"}[slices.Contains(n.Channels, notify.SMS)], n.Title, n.Body, n.Data)
		}
	}
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		for _, reminder := range []bool{false, true} {
			for _, names := range [][2]string{{"Meera Nair", "Asha Rao"}, {"http://evil.example", "@"}} {
				details := notify.RequestDetails{Party: party, CoachName: names[0], StudentName: names[1]}
				fmt.Fprintf(&b, "SMS %s reminder=%v\n\t%s\n", party, reminder, notify.SMSText(request(details, "https://t.example/a/AbCdEfGhIjKlMnOpQrStUv", reminder)))
			}
		}
	}
	for _, role := range actor.Roles {
		for _, host := range []string{"", "t.example"} {
			fmt.Fprintf(&b, "SMS otp %s %s\n\t%s\n", role, host, notify.OTPText(otp(role, host, 5*time.Minute)))
		}
	}
	for _, m := range severalQuestions() {
		fmt.Fprintf(&b, "SMS of %d questions\n\t%s\n", 1+len(m.More), notify.SMSText(m))
	}
	const golden = "testdata/wording.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the wording changed; check the diff, then run with -update:\n%s", diff)
	}
}

// severalQuestions returns messages that ask several questions.
func severalQuestions() []notify.Message {
	question := func(party actor.Role, coach, student, link string) notify.Question {
		return notify.Question{RequestDetails: notify.RequestDetails{Party: party, CoachName: coach, StudentName: student}, Link: "https://t.example/a/" + link}
	}
	message := func(first notify.Question, more ...notify.Question) notify.Message {
		return notify.Message{Kind: notify.Request, Brand: "Touchline", Request: first.RequestDetails, Link: first.Link, More: more}
	}
	const coach = "Meera Nair"
	asha, bela := question(actor.Guardian, coach, "Asha Rao", "AbCdEfGhIjKlMnOpQrStUv"), question(actor.Guardian, coach, "Bela Rao", "second")
	self := question(actor.Student, coach, "Chetan Rao", "ZyXwVuTsRqPoNmLkJiHgFe")
	return []notify.Message{
		message(asha, bela),
		message(asha, bela, question(actor.Guardian, coach, "Chetan Rao", "third"), question(actor.Guardian, coach, "Divya Rao", "fourth")),
		message(self, question(actor.Student, coach, "Asha Rao", "second")),
		message(asha, self),
		message(self, asha, bela),
		message(question(actor.Guardian, "http://evil.example", "@", "first"), question(actor.Student, "http://evil.example", "@", "second")),
	}
}

func TestOTPTextRoundsToMinutes(t *testing.T) {
	for validity, want := range map[time.Duration]string{
		5 * time.Minute: "works for 5 minutes.", 90 * time.Second: "works for 2 minutes.",
		time.Minute: "works for 1 minute.", 4 * time.Second: "works for 1 minute.",
	} {
		if text := notify.OTPText(otp(actor.Coach, "", validity)); !strings.Contains(text, want) {
			t.Errorf("OTPText for %s = %q, want %q in it", validity, text, want)
		}
	}
}

// The digest names the configured time.
func TestPendingReminderNamesDuration(t *testing.T) {
	for waited, want := range map[time.Duration]string{
		72 * time.Hour:          "3 days",
		24 * time.Hour:          "1 day",
		36 * time.Hour:          "36 hours",
		time.Hour:               "1 hour",
		90 * time.Minute:        "90 minutes",
		2 * time.Second:         "2 seconds",
		1500 * time.Millisecond: "1.5s",
	} {
		draft := notify.Plan(event.Event{Type: event.PendingLong, CoachID: "coach-id", Count: 2, Waited: waited}, "Touchline")[0]
		if text := "2 approval requests have been pending for more than " + want + "."; draft.Body != text {
			t.Errorf("after %s: body = %q, want %q", waited, draft.Body, text)
		}
	}
}

// No text names the service otherwise than the setting does.
func TestBrand(t *testing.T) {
	var texts []string
	for _, e := range allEvents() {
		for _, n := range notify.Plan(e, "Club Yes") {
			texts = append(texts, n.Title, n.Body)
		}
	}
	messages := severalQuestions()
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		messages = append(messages, request(notify.RequestDetails{Party: party}, "", false), request(notify.RequestDetails{Party: party}, "", true))
	}
	for _, role := range actor.Roles {
		messages = append(messages, otp(role, "", time.Minute))
	}
	for _, m := range messages {
		m.Brand = "Club Yes"
		text := notify.SMSText(m)
		texts = append(texts, text)
		if !strings.Contains(text, "Club Yes") {
			t.Errorf("an SMS without the brand: %s", text)
		}
	}
	for _, text := range texts {
		if strings.Contains(text, "Touchline") {
			t.Errorf("a text with another name: %s", text)
		}
	}
}

// request returns the message of an approval request, or of its reminder.
func request(details notify.RequestDetails, link string, reminder bool) notify.Message {
	m := notify.Message{Kind: notify.Request, Brand: "Touchline", Request: details, Link: link}
	if reminder {
		m.Kind = notify.Reminder
	}
	return m
}

// otp returns the message of an OTP.
func otp(role actor.Role, host string, validity time.Duration) notify.Message {
	return notify.Message{Kind: notify.OTP, Brand: "Touchline", Role: role, Code: "123456", ValidFor: validity, Host: host}
}

// With names of a usual length, a request fits into two SMS of 153 septets. An OTP
// fits into one SMS of 160, with the longest brand and any host.
func TestSMSLength(t *testing.T) {
	for _, role := range actor.Roles {
		for _, host := range []string{"", "t.example", strings.Repeat("long.", 30) + "example"} {
			m := otp(role, host, 24*time.Hour)
			m.Brand, m.Code = strings.Repeat("W", 30), "1234567890"
			if n := notify.Segments(notify.OTPText(m)); n != 1 {
				t.Errorf("OTPText for a %s with host %q takes %d SMS, want 1: %s", role, host, n, notify.OTPText(m))
			}
		}
	}
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		details := notify.RequestDetails{Party: party, CoachName: "Venkataraman Subramanian", StudentName: "Lakshmi Narayanan Iyer"}
		text := notify.SMSText(request(details, "https://touchline.example/a/AbCdEfGhIjKlMnOpQrStUv", true))
		if len(text) > 306 {
			t.Errorf("the SMS for a %s has %d characters, want at most 306: %s", party, len(text), text)
		}
	}
}
