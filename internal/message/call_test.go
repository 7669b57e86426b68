package message_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// TestCallTexts: what a call says in both languages. It names no link.
func TestCallTexts(t *testing.T) {
	asked := message.CallSure{AskedAt: time.Unix(1_772_000_000, 0), Token: "t"}
	for language, want := range map[string]string{
		"en": "Hello! Coach Meera added Asha Rao to U12. May Touchline, a sports app, send you news about it? | Press 1 for yes, 2 for no, 3 if this is not you, 9 to hear it again.",
		"hi": "नमस्ते! कोच Meera ने Asha Rao को U12 में जोड़ा। क्या खेल ऐप Touchline आपको इसकी खबरें भेजे? | हाँ के लिए 1 दबाएँ, ना के लिए 2, अगर यह आप नहीं हैं तो 3, फिर से सुनने के लिए 9।",
		"fr": "Hello! Coach Meera added Asha Rao to U12. May Touchline, a sports app, send you news about it? | Press 1 for yes, 2 for no, 3 if this is not you, 9 to hear it again.",
	} {
		q := message.CallQuestion{
			RequestDetails: message.RequestDetails{Party: actor.Guardian, CoachName: "Meera", StudentName: "Asha Rao", BatchNames: []string{"U12"}, ShortCode: "KTMWXR", Repeated: true},
			Language:       language, Brand: "Touchline",
		}
		if got := strings.Join(q.Ask().Lines, " | "); got != want {
			t.Errorf("%s: %s, want %s", language, got, want)
		}
		q.CoachName, q.StudentName, q.BatchNames = "Is it free? https://x.example", "Asha? Yes!", nil
		for name, p := range map[string]message.CallPrompt{
			"ask": q.Ask(), "check": q.Check(asked), "too late": q.TooLate(), "yes": q.Done(message.ChatSure), "no": q.Done(message.ChatNo), "not me": q.Done(message.ChatNotMe),
			"was yes": q.Stands("approved"), "was no": q.Stands("rejected"), "was not me": q.Stands("disputed"), "closed": q.Stands("cancelled"),
			"silent": q.Silent(), "over": q.Over(), "stopped": q.Stopped(), "not asked": message.NotAsked(),
		} {
			text := strings.Join(p.Lines, " ")
			if text == "" || strings.ContainsAny(text, "{}%") || strings.Contains(text, "://") || (p.Keys == "") != (p.State == "") || p.Language == "fr" {
				t.Errorf("%s %s: %+v", language, name, p)
			}
		}
	}
}

func TestParseCallSure(t *testing.T) {
	at := time.Unix(1_772_000_000, 0)
	s := message.CallSure{AskedAt: at, Token: "abc"}
	if got, ok := message.ParseCallSure(s.String()); !ok || !got.AskedAt.Equal(at) || got.Token != "abc" {
		t.Errorf("%q: got %+v, %t", s, got, ok)
	}
	for _, state := range []string{"", "ask", "sure", "sure:", "sure:1", "sure::abc", "sure:01:abc", "sure:-1:abc", "sure:1 :abc", "1:abc", "sure:sure:1:abc", "sure:99999999999999999999:abc"} {
		if got, ok := message.ParseCallSure(state); ok {
			t.Errorf("%q: got %+v", state, got)
		}
	}
}

// TestCallAt: a call rings from 9 to 20 o'clock in the time zone of its recipient, outside of quiet hours, also
// on days on which the clocks change.
func TestCallAt(t *testing.T) {
	india, emirates, newYork := phone.Number("+919812300001"), phone.Number("+971501234567"), phone.Number("+12125550123")
	zone := func(name string) message.Recipient {
		return message.Recipient{Number: india, Preferences: message.Preferences{TimeZone: name}}
	}
	quiet := func(start, end message.TimeOfDay) message.Recipient {
		r := zone("UTC")
		r.Preferences.QuietHours = message.QuietHours{Start: start, End: end}
		return r
	}
	for name, tt := range map[string]struct {
		to         message.Recipient
		now        string
		at, before string // empty: never
	}{
		"now":                       {zone("UTC"), "2026-03-02T09:00:00Z", "2026-03-02T09:00:00Z", "2026-03-02T20:00:00Z"},
		"the last moment":           {zone("UTC"), "2026-03-02T19:59:59Z", "2026-03-02T19:59:59Z", "2026-03-02T20:00:00Z"},
		"evening":                   {zone("UTC"), "2026-03-02T20:00:00Z", "2026-03-03T09:00:00Z", "2026-03-03T20:00:00Z"},
		"early":                     {zone("UTC"), "2026-03-02T08:59:59Z", "2026-03-02T09:00:00Z", "2026-03-02T20:00:00Z"},
		"India by number":           {message.Recipient{Number: india}, "2026-03-02T14:30:00Z", "2026-03-03T03:30:00Z", "2026-03-03T14:30:00Z"},
		"Emirates by number":        {message.Recipient{Number: emirates, CoachNumber: india, CoachZone: "Asia/Kolkata"}, "2026-03-02T04:00:00Z", "2026-03-02T05:00:00Z", "2026-03-02T16:00:00Z"},
		"chosen before number":      {zone("Asia/Tokyo"), "2026-03-02T11:00:00Z", "2026-03-03T00:00:00Z", "2026-03-03T11:00:00Z"},
		"the coach of this country": {message.Recipient{Number: newYork, CoachNumber: "+12135550123", CoachZone: "America/Los_Angeles"}, "2026-03-02T14:00:00Z", "2026-03-02T17:00:00Z", "2026-03-03T04:00:00Z"},
		"clocks forward":            {zone("America/New_York"), "2026-03-08T12:59:00Z", "2026-03-08T13:00:00Z", "2026-03-09T00:00:00Z"},
		"the night before":          {zone("America/New_York"), "2026-03-08T01:00:00Z", "2026-03-08T13:00:00Z", "2026-03-09T00:00:00Z"},
		"clocks back":               {zone("America/New_York"), "2026-11-01T13:00:00Z", "2026-11-01T14:00:00Z", "2026-11-02T01:00:00Z"},
		"quiet until ten":           {quiet(21*60, 10*60), "2026-03-02T09:30:00Z", "2026-03-02T10:00:00Z", "2026-03-02T20:00:00Z"},
		"quiet from noon":           {quiet(12*60, 22*60), "2026-03-02T12:00:00Z", "2026-03-03T09:00:00Z", "2026-03-03T12:00:00Z"},
		"quiet later":               {quiet(18*60, 22*60), "2026-03-02T12:00:00Z", "2026-03-02T12:00:00Z", "2026-03-02T18:00:00Z"},
		"quiet all day":             {quiet(9*60, 20*60), "2026-03-02T12:00:00Z", "", ""},
	} {
		now, err := time.Parse(time.RFC3339, tt.now)
		if err != nil {
			t.Fatal(err)
		}
		at, before, ok := tt.to.CallAt(now)
		if ok != (tt.at != "") || ok && (at.Format(time.RFC3339) != tt.at || before.Format(time.RFC3339) != tt.before) {
			t.Errorf("%s: got %s to %s, %t; want %s to %s", name, at, before, ok, tt.at, tt.before)
		}
	}
}
