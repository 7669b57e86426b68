package approval_test

import (
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

func TestLiftOutdated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		state          approval.RequestState
		coachClosed    bool
		lifted, notify bool
	}{
		{approval.RequestDisputed, false, true, true},
		{approval.RequestDisputed, true, true, false},
		{approval.RequestCancelled, false, false, false},
		{approval.RequestCancelled, true, false, false},
	} {
		lifted, events := new(approval.Player).LiftOutdated(new(approval.Player).Party(actor.Guardian), tt.state, tt.coachClosed)
		if lifted != tt.lifted || len(events) == 1 != tt.notify {
			t.Errorf("%s, coach closed %t: lifted %t, events %+v", tt.state, tt.coachClosed, lifted, events)
		}
	}
}
