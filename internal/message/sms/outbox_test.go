package sms_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/platform/phone"
)

type fakeProvider struct{ sent []sms.Message }

func (p *fakeProvider) Send(_ context.Context, m sms.Message) error {
	p.sent = append(p.sent, m)
	return nil
}

func TestOutboxSenderRendersMessages(t *testing.T) {
	provider := &fakeProvider{}
	sender := sms.NewOutboxSender(provider, false, func(n phone.Number) bool { return n == "+919900000001" })
	for _, m := range []message.Message{
		{ID: "1", Attempt: 2, TotalAttempts: 3, To: "+919876543210", Kind: message.OTP, Code: "123456", ValidFor: 5 * time.Minute},
		{ID: "2", To: "+919876543210", Kind: message.NotificationCopy, Copy: message.Copy{Text: "copied"}},
		{ID: "3", To: "+919876543210", Kind: message.Reminder, Request: message.RequestDetails{Party: "guardian"}, Link: "https://t.example/a/x"},
	} {
		if err := sender.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	otp := message.SMSOf(message.Message{Kind: message.OTP, Code: "123456", ValidFor: 5 * time.Minute})
	reminder := message.SMSOf(message.Message{Kind: message.Reminder, Request: message.RequestDetails{Party: "guardian"}, Link: "https://t.example/a/x"})
	want := []sms.Message{
		{ID: "1", Attempt: 2, TotalAttempts: 3, To: "+919876543210", Kind: sms.OTP, Text: otp.Body, Template: otp},
		{ID: "2", To: "+919876543210", Kind: sms.Text, Text: "copied", Template: message.Text{Body: "copied"}},
		{ID: "3", To: "+919876543210", Kind: sms.Text, Text: reminder.Body, Template: reminder},
	}
	if diff := cmp.Diff(want, provider.sent); diff != "" {
		t.Errorf("sent other messages:\n%s", diff)
	}
	if !sender.Suppressed("+919900000001") || sender.Suppressed("+919876543210") {
		t.Error("Suppressed is not true for exactly the test number")
	}
}
