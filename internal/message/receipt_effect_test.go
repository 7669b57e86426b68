package message_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/message"
)

func TestReportTargets(t *testing.T) {
	// A message carried first and second: two attempts since it was queued, five in total.
	delivery := func(id, gatheredBy string, attempts, total int) message.ReceiptTarget {
		return message.ReceiptTarget{
			Delivery: message.Delivery{ID: id, GatheredBy: gatheredBy, Attempts: attempts, TotalAttempts: total},
			Status:   message.DeliveryStatus{Attempts: attempts, TotalAttempts: total},
		}
	}
	type attempts map[string][2]int
	for _, tt := range []struct {
		name       string
		gatheredBy string // of first
		attempt    int
		want       attempts
	}{
		{"carried by its own message", "first", 5, attempts{"first": {2, 5}, "second": {2, 5}}},
		{"carried by its own message, newest attempt", "first", message.NewestAttempt, attempts{"first": {2, 5}, "second": {2, 5}}},
		{"sent again alone, report of an attempt before", "", 3, attempts{"first": {2, 5}, "second": {3, 3}}},
		{"sent again alone, report of an attempt since", "", 4, attempts{"first": {2, 5}}},
		{"sent again alone, newest attempt", "", message.NewestAttempt, attempts{"first": {2, 5}}},
		{"carried by another message now", "other", 3, attempts{"first": {2, 5}}},
	} {
		found := []message.ReceiptTarget{delivery("second", "first", 1, 1), delivery("first", tt.gatheredBy, 2, 5)}
		got := attempts{}
		for _, d := range (message.Report{MessageID: "first", Attempt: tt.attempt}).Targets(found) {
			got[d.ID] = [2]int{d.Status.Attempts, d.Status.TotalAttempts}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: attempts (-want +got):\n%s", tt.name, diff)
		}
		if found[0].Status.Attempts != 1 {
			t.Errorf("%s: Targets changed its argument", tt.name)
		}
	}
	if got := (message.Report{MessageID: "first"}).Targets([]message.ReceiptTarget{delivery("second", "first", 1, 1)}); got != nil {
		t.Errorf("the first delivery was deleted: got %+v, want none", got)
	}
}

func TestReceiptEffect(t *testing.T) {
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	endsAt := now.Add(time.Minute)
	fallbacks := map[message.Channel]message.Channel{message.Chat: message.SMS}
	status := func(state, reason string) message.DeliveryStatus {
		return message.DeliveryStatus{State: state, Reason: reason, Attempts: 1, TotalAttempts: 1}
	}
	sent, unreachable := status(message.SentState, ""), status(message.FailedState, message.ReasonUnreachable)
	refused, delivered := status(message.FailedState, message.ReasonRefused), status(message.DeliveredState, "")
	for _, tt := range []struct {
		name    string
		kind    message.Kind
		channel message.Channel
		from    message.DeliveryStatus
		receipt message.Receipt
		want    message.ReceiptEffect // zero if nothing changes
	}{
		{"delivered", message.Request, message.SMS, sent, message.ReceiptDelivered, message.ReceiptEffect{Status: delivered}},
		{"delivered after a failure", message.Request, message.SMS, refused, message.ReceiptDelivered, message.ReceiptEffect{Status: delivered, ReachesRequest: true}},
		{"a reminder has no mark", message.Reminder, message.SMS, refused, message.ReceiptDelivered, message.ReceiptEffect{Status: delivered}},
		{"undeliverable", message.Request, message.SMS, sent, message.ReceiptUndeliverable, message.ReceiptEffect{Status: refused, FailsRequest: true}},
		{"undeliverable reminder", message.Reminder, message.SMS, sent, message.ReceiptUndeliverable, message.ReceiptEffect{Status: refused}},
		{"unreachable", message.Request, message.SMS, sent, message.ReceiptUnreachable, message.ReceiptEffect{Status: unreachable}},
		{"the same again", message.Request, message.SMS, delivered, message.ReceiptDelivered, message.ReceiptEffect{}},
		{"delivered by a channel with a fallback", message.Request, message.Chat, sent, message.ReceiptDelivered, message.ReceiptEffect{Status: delivered}},
		{"undeliverable, with a fallback", message.Request, message.Chat, sent, message.ReceiptUndeliverable, message.ReceiptEffect{FallBack: message.SMS, GivesUpAt: now.Add(message.MessageLifetime)}},
		{"unreachable, with a fallback", message.Reminder, message.Chat, sent, message.ReceiptUnreachable, message.ReceiptEffect{FallBack: message.SMS, GivesUpAt: now.Add(message.MessageLifetime)}},
		{"an OTP ends with its validity", message.OTP, message.Chat, sent, message.ReceiptUndeliverable, message.ReceiptEffect{FallBack: message.SMS, GivesUpAt: endsAt}},
	} {
		d := message.ReceiptTarget{
			Delivery: message.Delivery{Lane: message.Lane{Channel: tt.channel, Kind: tt.kind}, GivesUpAt: endsAt},
			Status:   tt.from,
		}
		got, changed := d.Effect(message.Report{Attempt: 1, Receipt: tt.receipt}, fallbacks, now)
		if diff := cmp.Diff(tt.want, got); diff != "" || changed != (tt.want != message.ReceiptEffect{}) {
			t.Errorf("%s: changed = %t, effect (-want +got):\n%s", tt.name, changed, diff)
		}
	}
}
