package notify_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/notify"
)

func TestReportTargets(t *testing.T) {
	// A message carried first and second: two attempts since it was queued, five in total.
	delivery := func(id, gatheredBy string, attempts, total int) notify.ReceiptTarget {
		return notify.ReceiptTarget{
			Delivery: notify.Delivery{ID: id, GatheredBy: gatheredBy, Attempts: attempts, TotalAttempts: total},
			Status:   notify.DeliveryStatus{Attempts: attempts, TotalAttempts: total},
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
		{"carried by its own message, newest attempt", "first", notify.NewestAttempt, attempts{"first": {2, 5}, "second": {2, 5}}},
		{"sent again alone, report of an attempt before", "", 3, attempts{"first": {2, 5}, "second": {3, 3}}},
		{"sent again alone, report of an attempt since", "", 4, attempts{"first": {2, 5}}},
		{"sent again alone, newest attempt", "", notify.NewestAttempt, attempts{"first": {2, 5}}},
		{"carried by another message now", "other", 3, attempts{"first": {2, 5}}},
	} {
		found := []notify.ReceiptTarget{delivery("second", "first", 1, 1), delivery("first", tt.gatheredBy, 2, 5)}
		got := attempts{}
		for _, d := range (notify.Report{MessageID: "first", Attempt: tt.attempt}).Targets(found) {
			got[d.ID] = [2]int{d.Status.Attempts, d.Status.TotalAttempts}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: attempts (-want +got):\n%s", tt.name, diff)
		}
		if found[0].Status.Attempts != 1 {
			t.Errorf("%s: Targets changed its argument", tt.name)
		}
	}
	if got := (notify.Report{MessageID: "first"}).Targets([]notify.ReceiptTarget{delivery("second", "first", 1, 1)}); got != nil {
		t.Errorf("the first delivery was deleted: got %+v, want none", got)
	}
}

func TestReceiptEffect(t *testing.T) {
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	endsAt := now.Add(time.Minute)
	fallbacks := map[notify.Channel]notify.Channel{notify.WhatsApp: notify.SMS}
	status := func(state, reason string) notify.DeliveryStatus {
		return notify.DeliveryStatus{State: state, Reason: reason, Attempts: 1, TotalAttempts: 1}
	}
	sent, unreachable := status(notify.SentState, ""), status(notify.FailedState, notify.ReasonUnreachable)
	refused, delivered := status(notify.FailedState, notify.ReasonRefused), status(notify.DeliveredState, "")
	for _, tt := range []struct {
		name    string
		kind    notify.Kind
		channel notify.Channel
		from    notify.DeliveryStatus
		receipt notify.Receipt
		want    notify.ReceiptEffect // zero if nothing changes
	}{
		{"delivered", notify.Request, notify.SMS, sent, notify.ReceiptDelivered, notify.ReceiptEffect{Status: delivered}},
		{"delivered after a failure", notify.Request, notify.SMS, refused, notify.ReceiptDelivered, notify.ReceiptEffect{Status: delivered, ReachesRequest: true}},
		{"a reminder has no mark", notify.Reminder, notify.SMS, refused, notify.ReceiptDelivered, notify.ReceiptEffect{Status: delivered}},
		{"undeliverable", notify.Request, notify.SMS, sent, notify.ReceiptUndeliverable, notify.ReceiptEffect{Status: refused, FailsRequest: true}},
		{"undeliverable reminder", notify.Reminder, notify.SMS, sent, notify.ReceiptUndeliverable, notify.ReceiptEffect{Status: refused}},
		{"unreachable", notify.Request, notify.SMS, sent, notify.ReceiptUnreachable, notify.ReceiptEffect{Status: unreachable}},
		{"the same again", notify.Request, notify.SMS, delivered, notify.ReceiptDelivered, notify.ReceiptEffect{}},
		{"delivered by a channel with a fallback", notify.Request, notify.WhatsApp, sent, notify.ReceiptDelivered, notify.ReceiptEffect{Status: delivered}},
		{"undeliverable, with a fallback", notify.Request, notify.WhatsApp, sent, notify.ReceiptUndeliverable, notify.ReceiptEffect{FallBack: notify.SMS, GivesUpAt: now.Add(notify.MessageLifetime)}},
		{"unreachable, with a fallback", notify.Reminder, notify.WhatsApp, sent, notify.ReceiptUnreachable, notify.ReceiptEffect{FallBack: notify.SMS, GivesUpAt: now.Add(notify.MessageLifetime)}},
		{"an OTP ends with its validity", notify.OTP, notify.WhatsApp, sent, notify.ReceiptUndeliverable, notify.ReceiptEffect{FallBack: notify.SMS, GivesUpAt: endsAt}},
	} {
		d := notify.ReceiptTarget{
			Delivery: notify.Delivery{Lane: notify.Lane{Channel: tt.channel, Kind: tt.kind}, GivesUpAt: endsAt},
			Status:   tt.from,
		}
		got, changed := d.Effect(notify.Report{Attempt: 1, Receipt: tt.receipt}, fallbacks, now)
		if diff := cmp.Diff(tt.want, got); diff != "" || changed != (tt.want != notify.ReceiptEffect{}) {
			t.Errorf("%s: changed = %t, effect (-want +got):\n%s", tt.name, changed, diff)
		}
	}
}
