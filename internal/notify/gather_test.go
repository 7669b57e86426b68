package notify_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/notify"
)

func TestGatherStep(t *testing.T) {
	t.Parallel()
	const gatherFor = 2 * time.Minute
	for name, tt := range map[string]struct {
		d    notify.Delivery
		per  time.Duration
		want notify.GatherStep
	}{
		"new":                        {notify.Delivery{ID: "1", CoachID: "c"}, gatherFor, notify.OpenWindow},
		"new, gathering is off":      {notify.Delivery{ID: "1", CoachID: "c"}, 0, notify.LeaveAlone},
		"coach has closed account":   {notify.Delivery{ID: "1"}, gatherFor, notify.LeaveAlone},
		"held by a limit":            {notify.Delivery{ID: "1", CoachID: "c", Held: true}, gatherFor, notify.LeaveAlone},
		"admitted and tried again":   {notify.Delivery{ID: "1", CoachID: "c", Counted: true}, gatherFor, notify.LeaveAlone},
		"waited for the window":      {notify.Delivery{ID: "1", CoachID: "c", Gathers: true}, gatherFor, notify.EndWindow},
		"waited, gathering is off":   {notify.Delivery{ID: "1", CoachID: "c", Gathers: true}, 0, notify.EndWindow},
		"carrier tried again":        {notify.Delivery{ID: "1", CoachID: "c", Counted: true, GatheredBy: "1"}, gatherFor, notify.CarryAgain},
		"carrier, gathering is off":  {notify.Delivery{ID: "1", CoachID: "c", Counted: true, GatheredBy: "1"}, 0, notify.CarryAgain},
		"carried by another request": {notify.Delivery{ID: "2", CoachID: "c", Counted: true, GatheredBy: "1"}, gatherFor, notify.FollowCarrier},
		"carried and marked to wait": {notify.Delivery{ID: "2", CoachID: "c", Gathers: true, GatheredBy: "1"}, gatherFor, notify.FollowCarrier},
	} {
		if got := tt.d.GatherStep(tt.per); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}
