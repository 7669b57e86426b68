package notify_test

import (
	"testing"

	"github.com/touchline/touchline/internal/notify"
)

// TestReceipts checks every status against every receipt.
func TestReceipts(t *testing.T) {
	status := func(state, reason string) notify.DeliveryStatus {
		return notify.DeliveryStatus{State: state, Reason: reason, Attempts: 1}
	}
	leased := status("queued", "")
	leased.Leased = true
	notSent := notify.DeliveryStatus{State: "queued"}
	all := []notify.Receipt{notify.ReceiptDelivered, notify.ReceiptUndeliverable, notify.ReceiptUnreachable}
	results := map[notify.Receipt]notify.DeliveryStatus{
		notify.ReceiptDelivered:     status("delivered", ""),
		notify.ReceiptUndeliverable: status("failed", "refused"),
		notify.ReceiptUnreachable:   status("failed", "unreachable"),
	}
	for _, tt := range []struct {
		name    string
		from    notify.DeliveryStatus
		accepts []notify.Receipt
	}{
		{"sent", status("sent", ""), all},
		{"being sent", leased, all},
		{"waiting for another attempt", status("queued", "retrying"), all[:2]},
		{"unreachable", status("failed", "unreachable"), all[:2]},
		{"refused", status("failed", "refused"), all[:1]},
		{"gave up", status("failed", "gave_up"), all[:1]},
		{"delivered", status("delivered", ""), nil},
		{"not sent since an operator queued it", notSent, nil},
		{"test number", status("sent", "test_number"), nil},
		{"dropped", status("failed", "request_closed"), nil},
		{"blocked", status("failed", "destination_blocked"), nil},
	} {
		for _, r := range append(all, "unknown") {
			want, accepted := tt.from, false
			for _, a := range tt.accepts {
				if a == r {
					want, accepted = results[r], true
				}
			}
			if got, changed := tt.from.After(r); got != want || changed != accepted {
				t.Errorf("%s, then %s: got %+v, %t; want %+v, %t", tt.name, r, got, changed, want, accepted)
			}
		}
	}
}
