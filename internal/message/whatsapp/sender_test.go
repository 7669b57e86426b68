package whatsapp_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/message/whatsapp/whatsapptest"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

const number = "+919876543210"

// start returns a Cloud API with all templates, and a Sender.
func start(t *testing.T) (*whatsapptest.Cloud, *whatsapp.Sender) {
	t.Helper()
	cloud := whatsapptest.New(t)
	for _, template := range whatsapp.NewTemplates("Touchline", "https://t.example") {
		body, err := json.Marshal(template)
		if err != nil {
			t.Fatal(err)
		}
		cloud.Create(t, body)
	}
	s, err := whatsapp.NewSender(whatsapp.Config{API: cloud.API(), PhoneID: cloud.PhoneID, Token: cloud.Token, TestNumber: func(n phone.Number) bool { return n == "+911" }})
	if err != nil {
		t.Fatal(err)
	}
	return cloud, s
}

// TestSend sends every message that has a template, in both languages.
func TestSend(t *testing.T) {
	t.Parallel()
	cloud, s := start(t)
	question := func(party actor.Role, student string, repeated bool) message.RequestDetails {
		return message.RequestDetails{Party: party, CoachName: "Meera Nair", StudentName: student, BatchNames: []string{"U12"}, ShortCode: "ABCDEF", Repeated: repeated}
	}
	guardian, student := question(actor.Guardian, "Asha Rao", false), question(actor.Student, "Asha Rao", false)
	more := func(r message.RequestDetails) []message.Question {
		r.StudentName = "Bela Rao"
		return []message.Question{{RequestDetails: r, Link: "https://t.example/a/second"}}
	}
	for _, language := range []string{"", "hi"} {
		for _, m := range []message.Message{
			{Kind: message.OTP, Role: actor.Coach, Code: "493817", ValidFor: 5 * time.Minute},
			{Kind: message.Request, Request: guardian},
			{Kind: message.Request, Request: student},
			{Kind: message.Request, Request: question(actor.Guardian, "Asha Rao", true)},
			{Kind: message.Request, Request: question(actor.Student, "", true)},
			{Kind: message.Reminder, Request: guardian},
			{Kind: message.Reminder, Request: student},
			{Kind: message.Request, Request: guardian, More: more(guardian)},
			{Kind: message.Request, Request: student, More: more(student)},
			{Kind: message.Request, Request: guardian, More: more(student)},
		} {
			m.ID, m.Attempt, m.TotalAttempts, m.To, m.Brand, m.Language, m.Link = "id", 1, 2, number, "Touchline", language, "https://t.example/a/first"
			if err := s.Send(t.Context(), m); err != nil {
				t.Errorf("%s %s: %v", m.Kind, language, err)
			}
		}
	}
	sent := cloud.Messages()
	if len(sent) != 20 {
		t.Fatalf("WhatsApp got %d messages, want 20", len(sent))
	}
	for _, tt := range []struct {
		n    int
		want whatsapptest.Sent
	}{
		{0, whatsapptest.Sent{Template: "touchline_otp", Language: "en", Text: "493817"}},
		{1, whatsapptest.Sent{
			Template: "touchline_request_guardian", Language: "en", Links: []string{"https://t.example/a/first"},
			Text:    "Hello! Coach Meera Nair added Asha Rao to U12. May Touchline, a sports app, send you news about it? Tap a button, or answer on the page.",
			Buttons: []string{"yes:id", "no:id", "not_me:id"},
		}},
		{9, whatsapptest.Sent{
			Template: "touchline_questions_both", Language: "en", Links: []string{"https://t.example/a/first", "https://t.example/a/second"},
			Text:    "Hello! Coach Meera Nair asks: may Touchline, a sports app, send you news? Answer here, or on a page: one is for the guardian of Asha Rao, one for Bela Rao to answer.",
			Buttons: []string{"ask:id"},
		}},
		{11, whatsapptest.Sent{
			Template: "touchline_request_guardian", Language: "hi", Links: []string{"https://t.example/a/first"},
			Text:    "नमस्ते! कोच Meera Nair ने Asha Rao को U12 में जोड़ा। क्या खेल ऐप Touchline आपको इसकी खबरें भेजे? बटन दबाएँ, या पेज पर जवाब दें।",
			Buttons: []string{"yes:id:lhi", "no:id:lhi", "not_me:id:lhi"},
		}},
	} {
		tt.want.ID, tt.want.To, tt.want.Ref = sent[tt.n].ID, number, "id.2.whatsapp"
		if diff := cmp.Diff(tt.want, sent[tt.n]); diff != "" {
			t.Errorf("message %d (-want +got):\n%s", tt.n, diff)
		}
	}
	if !s.Suppressed("+911") || s.Suppressed(number) {
		t.Error("messages to test numbers are sent, or those to others are not")
	}
}

// TestSendErrors checks what each refusal means.
func TestSendErrors(t *testing.T) {
	t.Parallel()
	cloud, s := start(t)
	send := func() *message.SendError {
		err := s.Send(t.Context(), message.Message{ID: "id", To: number, Kind: message.OTP, Code: "493817"})
		failed, _ := errors.AsType[*message.SendError](err)
		return failed
	}
	for code, want := range map[int]message.SendError{
		131026: {Permanent: true, Cause: message.CauseNoWhatsApp, Reason: "WhatsApp responded 400, error 131026"},
		132001: {Permanent: true, Cause: message.CauseFiltered, Reason: "WhatsApp responded 400, error 132001"},
		130429: {Outage: true, Reason: "WhatsApp responded 400, error 130429"},
	} {
		cloud.Refuse(number, code)
		if failed := send(); failed == nil || *failed != want {
			t.Errorf("error %d: %+v, want %+v", code, failed, want)
		}
	}
	cloud.Refuse(number, 0)
	if failed := send(); failed != nil {
		t.Errorf("accepted: %+v", failed)
	}
	cloud.SetUnavailable(true)
	if failed := send(); failed == nil || failed.Permanent || !failed.Outage {
		t.Errorf("away: %+v, want a temporary error", failed)
	}
	other, err := whatsapp.NewSender(whatsapp.Config{API: "http://127.0.0.1:1", PhoneID: "1", Token: "S3NT1NEL"})
	if err != nil {
		t.Fatal(err)
	}
	failed, _ := errors.AsType[*message.SendError](other.Send(t.Context(), message.Message{Kind: message.OTP, To: number}))
	if failed == nil || failed.Permanent || failed.Reason != "WhatsApp is unreachable" {
		t.Errorf("no server: %+v", failed)
	}
	failed, _ = errors.AsType[*message.SendError](s.Send(t.Context(), message.Message{Kind: message.NotificationCopy, To: number, Copy: message.Copy{Text: "Hi"}}))
	if failed == nil || !failed.Permanent {
		t.Errorf("a message without a template: %+v, want a permanent error", failed)
	}
}
