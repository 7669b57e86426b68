package approval_test

import (
	"testing"

	"github.com/touchline/touchline/internal/message"

	"github.com/touchline/touchline/internal/platform/phone"
)

func TestRouteToNumber(t *testing.T) {
	const served, unserved, test, unservedTest = "+919800000001", "+61400000001", "+919900000001", "+61490000001"
	route := message.RouteToNumber(
		func(n phone.Number) bool { return n == served || n == test },
		func(n phone.Number) bool { return n == test || n == unservedTest },
	)
	for _, tt := range []struct {
		number        phone.Number
		state, reason string
	}{
		{served, "queued", ""},
		{unserved, "failed", "destination_blocked"},
		{test, "sent", "test_number"},
		{unservedTest, "failed", "destination_blocked"},
	} {
		want := message.Destination{Address: string(tt.number), State: tt.state, Reason: tt.reason}
		if got := route(message.Addresses{Number: tt.number}); got != want {
			t.Errorf("%s: got %+v, want %+v", tt.number, got, want)
		}
	}
	if got := message.RouteInApp(message.Addresses{Number: served}); got != (message.Destination{State: "delivered"}) {
		t.Errorf("RouteInApp = %+v, want delivered without an address", got)
	}
}
