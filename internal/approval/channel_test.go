package approval_test

import (
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/phone"
)

func TestRouteToNumber(t *testing.T) {
	const served, unserved, test, unservedTest = "+919800000001", "+61400000001", "+919900000001", "+61490000001"
	route := approval.RouteToNumber(
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
		want := approval.Destination{Address: string(tt.number), State: tt.state, Reason: tt.reason}
		if got := route(approval.Addresses{Number: tt.number}); got != want {
			t.Errorf("%s: got %+v, want %+v", tt.number, got, want)
		}
	}
	if got := approval.RouteInApp(approval.Addresses{Number: served}); got != (approval.Destination{State: "delivered"}) {
		t.Errorf("RouteInApp = %+v, want delivered without an address", got)
	}
}
