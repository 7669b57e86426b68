package conversation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/team"
)

func TestCheckText(t *testing.T) {
	for text, want := range map[string]string{
		"Training at 5": "",
		"👍":             "",
		"प्रशिक्षण 5 बजे":             "",
		strings.Repeat("é", 1000):     "",
		strings.Repeat("é", 1001):     "too_long",
		"":                            "invalid_characters",
		" \u200b\u2060\u3164\ufe0f\n": "invalid_characters",
		"\u2800":                      "invalid_characters",
	} {
		if code, _ := checkText(text); code != want {
			t.Errorf("%.20q: code %q, want %q", text, code, want)
		}
	}
}

// rules are the rules of the tests: chat is not configured, numbers of +44 are not reachable, and
// a restricted text loses the word "link" and ends with the language.
func rules(copyGuardian bool) Rules {
	return Rules{
		CopyGuardian: copyGuardian,
		Reachable:    func(_ Channel, n phone.Number) bool { return !strings.HasPrefix(string(n), "+44") },
		Render: func(l message.TeamMessage) string {
			if l.Restricted {
				return strings.ReplaceAll(l.Text, "link", "") + l.Language
			}
			return l.Text
		},
		Price:     func(phone.Number) Cost { return 3 },
		ChatPrice: func(phone.Number) Cost { return 2 },
	}
}

func TestPlan(t *testing.T) {
	party := func(n string, app team.Access) partyFacts {
		return partyFacts{Exists: true, AccountID: "account of " + n, Number: phone.Number(n), App: app, EverApproved: app == team.Granted}
	}
	minor := func() playerFacts {
		return playerFacts{PlayerID: "p", StudentName: "Asha", Guardian: party("+911", team.Granted), Student: party("+912", team.Granted)}
	}
	with := func(change func(*playerFacts)) playerFacts {
		p := minor()
		change(&p)
		return p
	}
	none := func(p *playerFacts) { p.Guardian = partyFacts{App: team.NotLinked} }
	all := []Channel{Chat, SMS, InApp}
	tests := []struct {
		name     string
		player   playerFacts
		audience Audience
		channels []Channel
		text     string
		noCopy   bool
		want     string // recipients as party[*] channel=reason…
	}{
		{"both", minor(), ToBoth, []Channel{SMS}, "", false, "guardian sms=; student sms="},
		{"copy of a message to a minor", minor(), ToStudents, []Channel{InApp, SMS}, "", false, "student sms= in_app=; guardian* sms= in_app="},
		{"copies are off", minor(), ToStudents, []Channel{SMS}, "", true, "student sms="},
		{"no copy to the guardian of an adult", with(func(p *playerFacts) { p.Adult = true }), ToStudents, []Channel{SMS}, "", false, "student sms="},
		{"copy on the channel that reaches the student", with(func(p *playerFacts) { p.Student.App = team.ApprovalPending }), ToStudents, []Channel{InApp, SMS}, "", false, "student sms= in_app=not_approved; guardian* sms="},
		{"nothing to copy", with(func(p *playerFacts) { p.Student = partyFacts{Exists: true} }), ToStudents, []Channel{SMS}, "", false, "student sms=no_number"},
		{"chat alone", minor(), ToGuardians, []Channel{Chat}, "", false, "guardian chat=chat_not_configured"},
		{"chat and SMS", minor(), ToGuardians, []Channel{Chat, SMS}, "", false, "guardian sms= chat=chat_not_configured"},
		{"one number for both", with(func(p *playerFacts) { p.Student.Number = "+911" }), ToBoth, all, "", false, "guardian sms= chat=chat_not_configured in_app=; student sms=same_number chat=chat_not_configured in_app="},
		{"adult without a guardian", with(none), ToGuardians, []Channel{SMS}, "", false, "guardian sms=no_guardian"},
		{"tier without the app", with(func(p *playerFacts) { p.Guardian.App = team.NotInTier }), ToGuardians, []Channel{InApp}, "", false, "guardian in_app=tier"},
		{"refused", with(func(p *playerFacts) { p.Guardian.App = team.ApprovalRequired }), ToGuardians, []Channel{InApp}, "", false, "guardian in_app=not_approved"},
		{"disputed", with(func(p *playerFacts) { p.Guardian.Disputed = true }), ToGuardians, []Channel{SMS}, "", false, "guardian sms=disputed"},
		{"stopped: the app goes on", with(func(p *playerFacts) { p.Guardian.Stopped = true }), ToGuardians, []Channel{SMS, InApp}, "", false, "guardian sms=stopped in_app="},
		{"country", with(func(p *playerFacts) { p.Guardian.Number = "+447" }), ToGuardians, []Channel{SMS}, "", false, "guardian sms=number_not_allowed"},
		{"third in a week", with(func(p *playerFacts) { p.Guardian.EverApproved, p.Guardian.SentInWeek = false, 2 }), ToGuardians, []Channel{SMS}, "", false, "guardian sms=weekly_limit"},
		{"third in a week after a yes", with(func(p *playerFacts) { p.Guardian.SentInWeek = 200 }), ToGuardians, []Channel{SMS}, "", false, "guardian sms="},
		{"nothing but a link", with(func(p *playerFacts) { p.Guardian.EverApproved = false }), ToBoth, []Channel{SMS}, "link", false, "guardian sms=only_links; student sms="},
		{"sent before", with(func(p *playerFacts) { p.Guardian.HasMessage = []Channel{SMS} }), ToGuardians, []Channel{SMS}, "", false, "guardian sms=same_number"},
		{"removed", playerFacts{PlayerID: "p", Removed: true}, ToBoth, all, "", false, "guardian sms=player_removed chat=player_removed in_app=player_removed; student sms=player_removed chat=player_removed in_app=player_removed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.text == "" {
				tt.text = "Hi"
			}
			plan := rules(!tt.noCopy).newPlan("Meera", Draft{Audience: tt.audience, Text: tt.text, Channels: tt.channels})
			plan.add(tt.player)
			var got []string
			segments := 0
			for _, r := range plan.Recipients {
				s := string(r.Party)
				if r.Copy {
					s += "*"
				}
				for _, send := range r.Sends {
					s += fmt.Sprintf(" %s=%s", send.Channel, send.Reason)
					segments += send.Segments
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Error(diff)
			}
			if totals := plan.Totals(); totals.Segments != segments || totals.Cost != Cost(3*segments) {
				t.Errorf("totals = %+v of %d segments", totals, segments)
			}
		})
	}
}

// TestPlanWithChat: the chat goes before SMS where both were chosen, also for the copy to the guardian, and a
// number gets one of them.
func TestPlanWithChat(t *testing.T) {
	party := func(n string) partyFacts {
		return partyFacts{Exists: true, AccountID: "account of " + n, Number: phone.Number(n), App: team.Granted, EverApproved: true}
	}
	r := rules(true)
	r.HasChat = true
	for _, tt := range []struct {
		name             string
		guardian, number string // of the student
		channels         []Channel
		had              []Channel // of the guardian
		audience         Audience
		want             string
	}{
		{"chat alone", "+911", "+912", []Channel{Chat}, nil, ToGuardians, "guardian chat= stays"},
		{"chat and SMS", "+911", "+912", []Channel{SMS, Chat}, nil, ToGuardians, "guardian chat="},
		{"the copy", "+911", "+912", []Channel{SMS, Chat, InApp}, nil, ToStudents, "student chat= in_app=; guardian* chat= in_app="},
		{"the copy of chat alone", "+911", "+912", []Channel{Chat}, nil, ToStudents, "student chat= stays; guardian* chat= stays"},
		{"one number", "+911", "+911", []Channel{SMS, Chat}, nil, ToBoth, "guardian chat=; student sms=same_number chat=same_number"},
		{"moved to SMS before", "+911", "+912", []Channel{SMS, Chat}, []Channel{SMS}, ToGuardians, "guardian sms=same_number chat=same_number"},
		{"no such country", "+441", "+912", []Channel{SMS, Chat}, nil, ToGuardians, "guardian sms=number_not_allowed chat=number_not_allowed"},
	} {
		p := playerFacts{PlayerID: "p", StudentName: "Asha", Guardian: party(tt.guardian), Student: party(tt.number)}
		p.Guardian.HasMessage = tt.had
		plan := r.newPlan("Meera", Draft{Audience: tt.audience, Text: "Hi", Channels: tt.channels})
		plan.add(p)
		var got []string
		for _, r := range plan.Recipients {
			s := string(r.Party)
			if r.Copy {
				s += "*"
			}
			for _, send := range r.Sends {
				s += fmt.Sprintf(" %s=%s", send.Channel, send.Reason)
				if send.Stays {
					s += " stays"
				}
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	long := "It’s on" + strings.Repeat(" hi", 30)
	for _, tt := range []struct {
		channels []Channel
		audience Audience
		inWindow bool
		text     string
		want     Totals // without the people
		shorter  int
	}{
		{[]Channel{SMS, Chat}, ToGuardians, true, "Hi", Totals{Segments: 1, MostSMS: 1, Cost: 0, MostCost: 3}, 0},
		{[]Channel{SMS, Chat}, ToGuardians, false, "Hi", Totals{Segments: 1, MostSMS: 1, Cost: 2, MostCost: 3}, 0},
		{[]Channel{SMS, Chat}, ToGuardians, false, long, Totals{Segments: 2, MostSMS: 2, Cost: 2, MostCost: 6}, 1},
		{[]Channel{SMS, Chat}, ToStudents, false, long, Totals{Segments: 4, MostSMS: 4, Cost: 4, MostCost: 12}, 2},
		{[]Channel{SMS}, ToStudents, false, long, Totals{Segments: 4, MostSMS: 4, Cost: 12, MostCost: 12}, 2},
		// No SMS leaves. The tier counts a message by WhatsApp as an SMS.
		{[]Channel{Chat}, ToGuardians, false, long, Totals{Segments: 2, Cost: 2, MostCost: 2}, 0},
		{[]Channel{Chat, InApp}, ToStudents, true, long, Totals{Segments: 4, Cost: 2, MostCost: 2}, 0},
		{[]Channel{InApp}, ToBoth, false, long, Totals{}, 0},
	} {
		p := playerFacts{PlayerID: "p", StudentName: "Asha", Guardian: party("+911"), Student: party("+912")}
		p.Guardian.InWindow = tt.inWindow
		plan := r.newPlan("Meera", Draft{Audience: tt.audience, Text: tt.text, Channels: tt.channels})
		plan.add(p)
		got := plan.Totals()
		tt.want.Recipients, tt.want.People, tt.want.Priced = got.Recipients, got.People, true
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v to %s, in the window %t: totals %s", tt.channels, tt.audience, tt.inWindow, diff)
		}
		if long := plan.Long(); long.Segments != tt.shorter || (long.Text != "") != (tt.shorter > 0) || (len(long.Characters) > 0) != (tt.shorter > 0) {
			t.Errorf("%v to %s: long = %+v, want %d SMS without the characters", tt.channels, tt.audience, long, tt.shorter)
		}
	}
	for _, tt := range []struct {
		channels []Channel
		inWindow bool
		want     []OtherLanguage
	}{
		{[]Channel{SMS, Chat, InApp}, false, []OtherLanguage{{"as", "en", 1}, {"or", "hi", 2}}},
		{[]Channel{Chat}, true, nil}, // a text without a template is in any language
		{[]Channel{SMS, InApp}, false, nil},
	} {
		plan := r.newPlan("Meera", Draft{Audience: ToGuardians, Text: "Hi", Channels: tt.channels})
		for number, read := range map[string]string{"+911": "or", "+912": "as", "+913": "", "+914": "ta", "+915": "mni", "+916": "or", "+441": "or"} {
			p := playerFacts{PlayerID: number, StudentName: "Asha", Guardian: party(number)}
			p.Guardian.Language, p.Guardian.InWindow = read, tt.inWindow
			plan.add(p)
			plan.add(p) // the number gets it once
		}
		if diff := cmp.Diff(tt.want, plan.OtherLanguages()); diff != "" {
			t.Errorf("%v, in the window %t: %s", tt.channels, tt.inWindow, diff)
		}
	}
}

// Texts of two languages are one variant if they are equal.
func TestVariants(t *testing.T) {
	plan := rules(true).newPlan("Meera", Draft{Audience: ToGuardians, Text: "Hi", Channels: []Channel{SMS, InApp}})
	for n, language := range []string{"", "hi", "hi", "", "hi", "hi"} {
		plan.add(playerFacts{Guardian: partyFacts{
			Exists: true, AccountID: fmt.Sprint(n), Number: phone.Number(fmt.Sprint("+91", n)), App: team.Granted, EverApproved: n < 3, Language: language,
		}})
	}
	want := []Variant{
		{Text: "Hi", Segments: 1, Messages: 3, People: 3}, {Text: "Hi", Restricted: true, Segments: 1, Messages: 1, People: 1}, {Text: "Hihi", Restricted: true, Segments: 1, Messages: 2, People: 2},
	}
	if diff := cmp.Diff(want, plan.Variants()); diff != "" {
		t.Error(diff)
	}
}

// TestTierLimit checks the limit of a tier at its edge, and the wait.
func TestTierLimit(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		perDay, sent int
		allowed      any // nil if the message is accepted
		wait         time.Duration
	}{
		{0, 1_000_000, nil, 0},
		{10, 9, nil, 0},
		{10, 10, 0, 4 * time.Hour},
		{10, 12, 0, 4 * time.Hour},
		{1, 0, 1, 24 * time.Hour}, // never allowed
	} {
		plan := rules(true).newPlan("Meera", Draft{Audience: ToGuardians, Text: "Hi", Channels: []Channel{SMS}})
		plan.add(playerFacts{PlayerID: "p", Guardian: partyFacts{Exists: true, AccountID: "a", Number: "+911"}})
		if tt.perDay == 1 {
			plan.add(playerFacts{PlayerID: "q", Guardian: partyFacts{Exists: true, AccountID: "b", Number: "+912"}})
		}
		s := &Service{PerDay: func(string) int { return tt.perDay }, Now: func() time.Time { return now }}
		err := s.checkLimit(Sending{Sent: tt.sent, Oldest: now.Add(-20 * time.Hour)}, plan.Totals().Segments)
		if tt.allowed == nil {
			if err != nil {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		f, is := err.(*fault.Error)
		if !is || f.Code != "message_limit" || f.Extra["allowed_now"] != tt.allowed || f.RetryAfter != tt.wait {
			t.Errorf("%+v: %+v", tt, err)
		}
	}
}

func TestCost(t *testing.T) {
	for c, want := range map[Cost]string{0: "0", 1: "0.0001", 1200: "0.12", 3600: "0.36", 40_000: "4", 1_234_500: "123.45"} {
		if got := c.String(); got != want {
			t.Errorf("%d is %s, want %s", c, got, want)
		}
	}
}

func TestTarget(t *testing.T) {
	for _, tt := range []struct {
		to Target
		ok bool
	}{
		{Target{}, false},
		{Target{All: true}, true},
		{Target{BatchID: "b"}, true},
		{Target{PlayerIDs: []string{"p"}}, true},
		{Target{PlayerIDs: []string{"p"}, All: true}, false},
	} {
		if err := tt.to.checkTarget(); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt.to, err)
		}
	}
}

func TestBest(t *testing.T) {
	r := RecipientState{Channels: []SendState{{Channel: SMS, State: Failed}, {Channel: Chat, State: LeftOut}, {Channel: InApp, State: Delivered}}}
	if best := r.Best(); best.Channel != InApp {
		t.Errorf("best = %+v", best)
	}
	r.Channels = r.Channels[:2]
	if best := r.Best(); best.Channel != SMS {
		t.Errorf("best = %+v", best)
	}
}
