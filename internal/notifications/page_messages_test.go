package notifications

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/consent"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/web"
)

// newView returns the View of a page in a language.
func newView(t *testing.T, language string) *web.View {
	t.Helper()
	r, err := web.NewRenderer(Files, consent.Files, fee.Files)
	if err != nil {
		t.Fatal(err)
	}
	site, err := web.New(web.Config{Renderer: r, Settings: httpx.Settings{PublicURL: "https://touchline.example", Now: time.Now}})
	if err != nil {
		t.Fatal(err)
	}
	return site.NewView(&web.Request{Request: httptest.NewRequest("GET", "/", nil), Language: language}, "")
}

// events are the events that notify someone.
var events = []event.Type{
	event.Requested, event.Reminded, event.Approved, event.Rejected, event.Revoked, event.Disputed, event.DisputeLifted, event.DeliveryFailed, event.Changed,
	event.Unlinked, event.Removed, event.CoachLeft, event.TokenReused, event.NumberChanged, event.UPIChanged, event.PendingLong, event.CertificateExpiring,
	event.KYCVerified, event.KYCRejected, event.NameConfirmed, event.NameRefused, event.TierApproved, event.TierRefused, event.FeeReminded, event.FeeTold, event.TeamMessage, event.TeamReply, event.ProgressAdded, event.ReportAdded,
	event.TrainingAdded, event.TrainingChanged, event.TrainingCancelled, event.TrainingRestored, event.TrainingAsked,
}

// TestNotificationsAreWorded words every notification in both languages, for a page whose
// language is not the language of the stored text.
func TestNotificationsAreWorded(t *testing.T) {
	player := &approval.Player{ID: "p", CoachName: "Meera Nair", Student: approval.Child{FullName: "Asha Rao"}, Parties: []approval.Party{{Role: actor.Guardian, Person: approval.Person{Name: "Ravi Rao"}}, {Role: actor.Student}}}
	found := 0
	for _, language := range []string{"en", "hi"} {
		v := newView(t, language)
		for _, kind := range events {
			parties := []actor.Role{actor.Guardian, actor.Student}
			if kind == event.TokenReused || kind == event.NumberChanged {
				parties = append(parties, actor.Coach)
			}
			for _, party := range parties {
				e := event.Event{
					Type: kind, Party: party, PlayerID: "p", Count: 2, Title: "First <b>aid</b>", Day: "2027-05-12", Reason: "The picture is dark.",
					StudentName: "Asha Rao", GuardianName: "Ravi Rao", CoachName: "Meera Nair",
				}
				if strings.HasPrefix(string(kind), "training") {
					e.Training = event.Training{ID: "t", Kind: "match", Day: "2026-03-05", Start: "17:30"}
				}
				for _, d := range message.Plan(e, "Touchline") {
					d.Title, d.Body = "stored", "stored, about Asha Rao and Ravi Rao"
					n := message.Notification{Type: d.Type, Title: d.Title, Body: d.Body, Data: d.Data}
					title, body := "", ""
					if d.To == actor.Coach {
						view := newNotificationView(v, n, player)
						title, body = view.Title, view.Body
					} else if kind != event.NumberChanged { // only a coach changes the number
						view := newMessageView(v, n, player, d.To)
						title, body = view.Title, view.Body
					} else {
						continue
					}
					found++
					if title == "stored" || strings.HasPrefix(body, "stored") || title == "" || strings.Contains(body, "<no value>") || textLanguage(body) != language {
						t.Errorf("%s: %s to a %s is worded %q: %q", language, kind, d.To, title, body)
					}
					if e.Reason != "" && (d.Type == message.KYCRejected || d.Type == message.TierRefused) && !strings.Contains(body, e.Reason) {
						t.Errorf("%s: %s does not give the reason: %q", language, d.Type, body)
					}
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("found %d notifications, want one for each event, party and language", found)
	}
}

// textLanguage returns the language of a text by its script.
func textLanguage(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Devanagari, r) }) {
		return "hi"
	}
	return "en"
}

// TestStoredTextOfRemovedPlayer shows the stored text, which has the names, if it is in the
// language of the page.
func TestStoredTextOfRemovedPlayer(t *testing.T) {
	n := message.Notification{Type: message.GuardianRejected, Title: "Guardian said no", Body: "Ravi Rao said no.", Data: message.Data{PlayerID: "p", Words: message.Words{Language: "en", Event: event.Rejected, Party: actor.Guardian}}}
	for language, want := range map[string]string{"en": "Ravi Rao said no.", "hi": "अभिभावक ने विद्यार्थी के लिए ऐप की मंज़ूरी नहीं दी।"} {
		v := newView(t, language)
		if got := newNotificationView(v, n, nil).Body; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", language, got, want)
		}
	}
}

// TestAnswersKeepTheirNames: an answer of the past is not shown under the name of a guardian or
// student that the coach entered later.
func TestAnswersKeepTheirNames(t *testing.T) {
	t.Parallel()
	then := event.Event{PlayerID: "p", StudentName: "Asha Rao", GuardianName: "Ravi Rao", CoachName: "Meera Nair"}
	now := &approval.Player{ID: "p", CoachName: "Meera Nair", Student: approval.Child{FullName: "Bela Das"}, Parties: []approval.Party{{Role: actor.Guardian, Person: approval.Person{Name: "Uma Das"}}, {Role: actor.Student}}}
	for _, language := range []string{"en", "hi"} {
		v := newView(t, language)
		for _, kind := range []event.Type{event.Approved, event.Rejected, event.Revoked} {
			for _, party := range approval.Parties {
				e := then
				e.Type, e.Party = kind, party
				for _, d := range message.Plan(e, "Touchline") {
					n := message.Notification{Type: d.Type, Title: d.Title, Body: d.Body, Data: d.Data}
					body := newMessageView(v, n, now, party).Body
					if d.To == actor.Coach {
						body = newNotificationView(v, n, now).Body
					}
					if strings.Contains(body, "Bela") || strings.Contains(body, "Uma") || strings.Contains(body, "<no value>") || textLanguage(body) != language {
						t.Errorf("%s: %s of the %s, to the %s: %q", language, kind, party, d.To, body)
					}
				}
			}
		}
	}
}

// TestMessageWithoutNames words what a caller reads about a player that is gone.
func TestMessageWithoutNames(t *testing.T) {
	t.Parallel()
	n := message.Notification{Type: message.GuardianRequest, Title: "stored", Body: "मीरा", Data: message.Data{PlayerID: "p", Words: message.Words{Language: "hi", Event: event.Requested, Party: actor.Guardian}}}
	named := &approval.Player{ID: "p", CoachName: "Meera Nair", Student: approval.Child{FullName: "Asha Rao"}}
	for _, tt := range []struct {
		language string
		player   *approval.Player
		want     string
	}{
		{"en", nil, "A coach added the student to a batch."},
		{"en", named, "Coach Meera Nair added Asha Rao to a batch."},
		{"hi", nil, "मीरा"},
		{"hi", named, "कोच Meera Nair ने Asha Rao को एक बैच में जोड़ा।"},
		{"hi", &approval.Player{ID: "p"}, "एक कोच ने विद्यार्थी को एक बैच में जोड़ा।"},
	} {
		v := newView(t, tt.language)
		if got := newMessageView(v, n, tt.player, actor.Guardian).Body; !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.language, got, tt.want)
		}
	}
}

// TestFailedChannelIsNamed: a coach reads on which channel a question did not arrive.
func TestFailedChannelIsNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		language       string
		channel        message.Channel
		body, step, on string
	}{
		{"en", "", "The request to the guardian could not be sent. Check the number", "Check the number", ""},
		{"en", message.SMS, "could not be sent by SMS. Check the number", "Check the number", "SMS"},
		{"en", message.Chat, "could not be sent by WhatsApp. Check the number", "Check the number", "WhatsApp"},
		{"en", message.Email, "The request to the guardian could not be sent by mail. Check the e-mail address", "Check the email", "Email"},
		{"hi", message.SMS, "SMS से नहीं भेजा जा सका। नंबर जाँचें", "नंबर जाँचें", "SMS"},
		{"hi", message.Email, "मेल से नहीं भेजा जा सका। ईमेल पता जाँचें", "ईमेल जाँचें", "ईमेल"},
	} {
		v := newView(t, tt.language)
		e := event.Event{Type: event.DeliveryFailed, Party: actor.Guardian, PlayerID: "p", StudentName: "Asha Rao", Channel: string(tt.channel)}
		for _, d := range message.Plan(e, "Touchline") {
			n := message.Notification{Type: d.Type, Data: d.Data}
			if got := newNotificationView(v, n, &approval.Player{Student: approval.Child{FullName: "Asha Rao"}}).Body; !strings.Contains(got, tt.body) {
				t.Errorf("%s, %s: got %q, want %q", tt.language, tt.channel, got, tt.body)
			}
		}
		need := coach.Need{Kind: coach.NeedFailed, Channels: strings.Fields(string(tt.channel))}
		if got, err := v.NeedStep(need); got != tt.step || err != nil || v.Channels(need.Channels) != tt.on {
			t.Errorf("%s, %s: the need has %q and %q, %v", tt.language, tt.channel, got, v.Channels(need.Channels), err)
		}
	}
}
