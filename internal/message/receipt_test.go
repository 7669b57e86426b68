package message_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/fault"
)

// TestReports checks every status against reports of every receipt, of the newest attempt
// and of earlier ones.
func TestReports(t *testing.T) {
	status := func(state, reason string) message.DeliveryStatus {
		return message.DeliveryStatus{State: state, Reason: reason, Attempts: 2, TotalAttempts: 4}
	}
	leased := status("queued", "")
	leased.Leased = true
	notSent := message.DeliveryStatus{State: "queued", TotalAttempts: 4}
	const sent, delivered, undeliverable, unreachable = message.ReceiptSent, message.ReceiptDelivered, message.ReceiptUndeliverable, message.ReceiptUnreachable
	type receipts []message.Receipt
	for _, tt := range []struct {
		name string
		from message.DeliveryStatus
		// What is accepted of the newest attempt (4), of one before it (3), and of one before
		// an operator queued the delivery again (2).
		newest, earlier, before receipts
	}{
		{"sent", status("sent", ""), receipts{delivered, undeliverable, unreachable}, receipts{delivered}, receipts{delivered}},
		{"being sent", leased, receipts{sent, delivered, undeliverable, unreachable}, receipts{delivered, undeliverable}, receipts{delivered}},
		{"waiting for another attempt", status("queued", "retrying"), receipts{sent, delivered, undeliverable}, receipts{delivered, undeliverable}, receipts{delivered}},
		{"unreachable", status("failed", "unreachable"), receipts{delivered, undeliverable}, receipts{delivered}, receipts{delivered}},
		{"refused", status("failed", "refused"), receipts{delivered}, receipts{delivered}, receipts{delivered}},
		{"gave up", status("failed", "gave_up"), receipts{delivered}, receipts{delivered}, receipts{delivered}},
		{"delivered", status("delivered", ""), nil, nil, nil},
		{"not sent since an operator queued it", notSent, nil, nil, nil},
		{"test number", status("sent", "test_number"), nil, nil, nil},
		{"dropped", status("failed", "request_closed"), nil, nil, nil},
		{"blocked", status("failed", "destination_blocked"), nil, nil, nil},
	} {
		for attempt, accepts := range map[int]receipts{4: tt.newest, 3: tt.earlier, 2: tt.before, 5: nil, 0: nil, -1: nil} {
			for _, r := range []message.Receipt{sent, delivered, undeliverable, unreachable, "unknown"} {
				want, accepted := tt.from, false
				for _, a := range accepts {
					if a == r {
						accepted = true
						want = map[message.Receipt]message.DeliveryStatus{
							sent: status("sent", ""), delivered: status("delivered", ""), undeliverable: status("failed", "refused"), unreachable: status("failed", "unreachable"),
						}[r]
						if r != delivered && r != sent {
							want.Cause = message.CauseBlocked
						}
					}
				}
				report := message.Report{Attempt: attempt, Receipt: r, Cause: message.CauseBlocked}
				if got, changed := tt.from.After(report); got != want || changed != accepted {
					t.Errorf("%s, then %s of attempt %d: got %+v, %t; want %+v, %t", tt.name, r, attempt, got, changed, want, accepted)
				}
			}
		}
	}
}

func TestMessageRef(t *testing.T) {
	want := message.MessageRef{MessageID: "0198c0de-0000-7000-8000-000000000001", Attempt: 12, Provider: "kannel"}
	if got, ok := message.ParseMessageRef(want.String()); !ok || got != want {
		t.Errorf("ParseMessageRef(%s) = %+v, %t", want, got, ok)
	}
	for _, s := range []string{"", "id", "id.1", "id.1.kannel.x", "id.+1.kannel", "id.01.kannel", "id.x.kannel", "..", "id..kannel"} {
		if got, ok := message.ParseMessageRef(s); ok {
			t.Errorf("ParseMessageRef(%q) = %+v, want none", s, got)
		}
	}
}

type receiptStore struct{ stored []message.Report }

func (s *receiptStore) StoreReceipt(_ context.Context, r message.Report) (int, error) {
	s.stored = append(s.stored, r)
	return 1, nil
}

// A call is stored only with the secret of its address, and if it is from the provider.
func TestReceive(t *testing.T) {
	store := &receiptStore{}
	genuine, final := true, true
	r := message.Receipts{
		Store: store, Log: slog.New(slog.DiscardHandler),
		Valid: func(ref, secret string) bool { return secret == "secret of "+ref },
		Readers: map[string]message.ReceiptReader{"p": func(message.ProviderCall) (message.Report, bool, bool) {
			return message.Report{Receipt: message.ReceiptUndeliverable, NetworkSays: "no"}, final, genuine
		}},
	}
	call := func(ref, secret, code string) {
		t.Helper()
		if err := r.Receive(t.Context(), ref, secret, message.ProviderCall{}); fault.CodeOf(err) != code {
			t.Errorf("%s with %s: err = %v, want %q", ref, secret, err, code)
		}
	}
	call("id.2.p", "secret of id.2.p", "")
	call("id.2.p", "secret of id.3.p", "token_invalid")
	call("id.2.q", "secret of id.2.q", "token_invalid")
	call("id", "secret of id", "token_invalid")
	genuine = false
	call("id.2.p", "secret of id.2.p", "token_invalid")
	genuine, final = true, false
	call("id.2.p", "secret of id.2.p", "")
	want := message.Report{MessageID: "id", Attempt: 2, Receipt: message.ReceiptUndeliverable, NetworkSays: "no"}
	if len(store.stored) != 1 || store.stored[0] != want {
		t.Errorf("stored %+v, want %+v once", store.stored, want)
	}
}
