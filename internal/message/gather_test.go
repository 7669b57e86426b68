package message_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
)

func TestGatherStep(t *testing.T) {
	t.Parallel()
	const gatherFor = 2 * time.Minute
	for name, tt := range map[string]struct {
		d    message.Delivery
		per  time.Duration
		want message.GatherStep
	}{
		"new":                        {message.Delivery{ID: "1", CoachID: "c"}, gatherFor, message.OpenWindow},
		"new, gathering is off":      {message.Delivery{ID: "1", CoachID: "c"}, 0, message.LeaveAlone},
		"coach has closed account":   {message.Delivery{ID: "1"}, gatherFor, message.LeaveAlone},
		"held by a limit":            {message.Delivery{ID: "1", CoachID: "c", Held: true}, gatherFor, message.LeaveAlone},
		"admitted and tried again":   {message.Delivery{ID: "1", CoachID: "c", Counted: true}, gatherFor, message.LeaveAlone},
		"waited for the window":      {message.Delivery{ID: "1", CoachID: "c", Gathers: true}, gatherFor, message.EndWindow},
		"waited, gathering is off":   {message.Delivery{ID: "1", CoachID: "c", Gathers: true}, 0, message.EndWindow},
		"carrier tried again":        {message.Delivery{ID: "1", CoachID: "c", Counted: true, GatheredBy: "1"}, gatherFor, message.CarryAgain},
		"carrier, gathering is off":  {message.Delivery{ID: "1", CoachID: "c", Counted: true, GatheredBy: "1"}, 0, message.CarryAgain},
		"carried by another request": {message.Delivery{ID: "2", CoachID: "c", Counted: true, GatheredBy: "1"}, gatherFor, message.FollowCarrier},
		"carried and marked to wait": {message.Delivery{ID: "2", CoachID: "c", Gathers: true, GatheredBy: "1"}, gatherFor, message.FollowCarrier},
	} {
		if got := tt.d.GatherStep(tt.per); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}
