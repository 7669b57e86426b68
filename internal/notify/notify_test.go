package notify_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/notify"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// facts are every fact about every party that can be told, and those with names
// once more where nothing of a name is fit to be sent.
func facts() []event.Event {
	all := partyFacts("Meera Nair", "Asha Rao", "Ravi Rao")
	for _, others := range [][]string{{"Bela Rao"}, {"Bela Rao", "Chetan Rao"}, {"Bela Rao", "Chetan Rao", "Divya Rao"}} {
		all = append(all, left("http://evil.example", "Asha Rao", others...))
	}
	all = append(all,
		event.Event{Type: event.PendingLong, CoachID: "coach-id", Count: 1, Waited: 72 * time.Hour},
		event.Event{Type: event.PendingLong, CoachID: "coach-id", Count: 12, Waited: 72 * time.Hour},
		event.Event{Type: event.CertificateExpiring, CoachID: "coach-id", DocumentID: "document-id", Title: "First aid, level 2", Day: "2027-01-31"},
		event.Event{Type: event.KYCVerified, CoachID: "coach-id"},
		event.Event{Type: event.KYCRejected, CoachID: "coach-id", Reason: "The passport is not readable"},
		event.Event{Type: event.TokenReused, Party: actor.Guardian, PartyID: "party-id", SessionID: "session-id"},
		event.Event{Type: event.NumberChanged, Party: actor.Coach, PartyID: "coach-id", SessionID: "session-id"},
	)
	all = append(all, partyFacts("http://evil.example", "@", "")...)
	return append(all, left("", "", "@"), left("", "", "Bela Rao"), left("", "Asha Rao", "@", "Chetan Rao", "Divya Rao"))
}

// left is that a coach closed the account.
func left(coach, student string, others ...string) event.Event {
	return event.Event{
		Type: event.CoachLeft, Party: actor.Guardian, CoachID: "coach-id", PartyID: "party-id",
		CoachName: coach, StudentName: student, OtherStudents: others,
	}
}

// partyFacts are the facts about one party of a player.
func partyFacts(coach, student, guardian string) []event.Event {
	var all []event.Event
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		for _, t := range []event.Type{
			event.Requested, event.Reminded, event.Approved, event.Rejected, event.Revoked,
			event.Disputed, event.Changed, event.Unlinked, event.Removed, event.CoachLeft, event.DeliveryFailed,
		} {
			all = append(all, event.Event{
				Type: t, Party: party, CoachID: "coach-id", PlayerID: "player-id", RequestID: "request-id", PartyID: "party-id",
				CoachName: coach, StudentName: student, GuardianName: guardian,
			})
		}
	}
	return all
}

// TestWording holds every notification and message as people read it.
func TestWording(t *testing.T) {
	var b strings.Builder
	for _, e := range facts() {
		notes := notify.Plan(e)
		if len(notes) == 0 {
			t.Errorf("nobody is told of %s by %s", e.Type, e.Party)
		}
		for _, n := range notes {
			fmt.Fprintf(&b, "%s %s -> %s %s: %s%s\n\t%s\n\t%s\n\t%+v\n", e.Type, e.Party, n.To, n.AccountID, n.Type, map[bool]string{true: ", by SMS too"}[n.BySMS], n.Title, n.Body, n.Data)
		}
	}
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		for _, reminder := range []bool{false, true} {
			for _, names := range [][2]string{{"Meera Nair", "Asha Rao"}, {"http://evil.example", "@"}} {
				fmt.Fprintf(&b, "SMS %s reminder=%v\n\t%s\n", party, reminder,
					notify.RequestText(party, names[0], names[1], "https://t.example/a/AbCdEfGhIjKlMnOpQrStUv", reminder))
			}
		}
	}
	fmt.Fprintf(&b, "SMS otp\n\t%s\n", notify.OTPText("123456", 5*time.Minute))
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
		t.Errorf("the words have changed; read them, then run with -update:\n%s", diff)
	}
}

func TestOTPTextCountsMinutes(t *testing.T) {
	for validity, want := range map[time.Duration]string{
		5 * time.Minute: "works for 5 minutes.", 90 * time.Second: "works for 2 minutes.",
		time.Minute: "works for 1 minute.", 4 * time.Second: "works for 1 minute.",
	} {
		if text := notify.OTPText("123456", validity); !strings.Contains(text, want) {
			t.Errorf("%s: %s", validity, text)
		}
	}
}

// TestPendingLong: the digest says the time that is set, not always three days.
func TestPendingLong(t *testing.T) {
	for waited, want := range map[time.Duration]string{
		72 * time.Hour:          "3 days",
		24 * time.Hour:          "1 day",
		36 * time.Hour:          "36 hours",
		time.Hour:               "1 hour",
		90 * time.Minute:        "90 minutes",
		2 * time.Second:         "2 seconds",
		1500 * time.Millisecond: "1.5s",
	} {
		note := notify.Plan(event.Event{Type: event.PendingLong, CoachID: "coach-id", Count: 2, Waited: waited})[0]
		if text := "2 approval requests have been pending for more than " + want + "."; note.Body != text {
			t.Errorf("after %s: %q, want %q", waited, note.Body, text)
		}
	}
}

// TestSMSLength: a request to people with names of a usual length fits into two
// SMS of 153 septets, a code into one of 160.
func TestSMSLength(t *testing.T) {
	if n := len(notify.OTPText("123456", 5*time.Minute)); n > 160 {
		t.Errorf("the text of a code has %d characters", n)
	}
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		text := notify.RequestText(party, "Venkataraman Subramanian", "Lakshmi Narayanan Iyer", "https://touchline.example/a/AbCdEfGhIjKlMnOpQrStUv", true)
		if len(text) > 306 {
			t.Errorf("the text to a %s has %d characters: %s", party, len(text), text)
		}
	}
}

func TestName(t *testing.T) {
	tests := []struct{ in, want string }{
		{"Asha Rao", "Asha Rao"},
		{"  Asha \t Rao\n", "Asha Rao"},
		{"A.P.J. Abdul Kalam", "A.P.J. Abdul Kalam"},
		{"O'Brien-Smith", "O'Brien-Smith"},
		{"अशा राव", "अशा राव"},
		{"Asha http://evil.example/x Rao", "Asha Rao"},
		{"Asha evil.example", "Asha evil example"},
		{"evil。example", "evil example"},
		{"call +919812345678 now", "call now"},
		{"Ring 9876 5432 10 now", "Ring now"},
		{"Ring 98-76 54-32 A1 now", "Ring now"},
		{"९८७६ ५४३२", "someone"},
		{"Asha Rao 2014 B2", "Asha Rao 2014 B2"},
		{"Asha\u202eoaR", "AshaoaR"},
		{"Asha\x00Rao", "Asha Rao"},
		{"a@b.example", "someone"},
		{"<script>", "someone"},
		{"\u200b\u200b", "someone"},
		{"", "someone"},
		{strings.Repeat("x", 60), strings.Repeat("x", 39) + "…"},
	}
	for _, tt := range tests {
		if got := notify.Name(tt.in, "someone"); got != tt.want {
			t.Errorf("Name(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add("Asha Rao")
	f.Add("http://evil.example\u202e\n")
	f.Fuzz(func(t *testing.T, s string) {
		name := notify.Name(s, "someone")
		if name == "" || len([]rune(name)) > 40 || strings.ContainsAny(name, "/\\@:<>\n\r\t") {
			t.Fatalf("Name(%q) = %q", s, name)
		}
		digits := 0
		for _, r := range name {
			if unicode.IsControl(r) {
				t.Fatalf("Name(%q) = %q holds %U", s, name, r)
			}
			if unicode.IsDigit(r) {
				digits++
			}
		}
		if digits > 6 {
			t.Fatalf("Name(%q) = %q can be rung", s, name)
		}
	})
}
