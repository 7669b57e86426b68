package message

import "time"

// GatherStep says how a claimed request leaves.
type GatherStep string

const (
	// LeaveAlone: it leaves in one message without others.
	LeaveAlone GatherStep = "leave_alone"
	// OpenWindow: it leaves alone if no window of its coach and number is open, and opens one.
	// Otherwise it waits for the end of the window.
	OpenWindow GatherStep = "open_window"
	// EndWindow: its window has ended. It leaves in one message with all that waited.
	EndWindow GatherStep = "end_window"
	// CarryAgain: its message left with several requests before. It carries them again.
	CarryAgain GatherStep = "carry_again"
	// FollowCarrier: another request carries it. It waits for that one, or leaves alone if
	// that one is complete.
	FollowCarrier GatherStep = "follow_carrier"
)

// GatherStep returns how the delivery leaves if requests gather for the given time. A
// delivery that a limit has held leaves alone.
func (d Delivery) GatherStep(gatherFor time.Duration) GatherStep {
	switch {
	case d.GatheredBy == "" && d.Gathers:
		return EndWindow
	case d.GatheredBy == "" && (d.Counted || d.Held || d.CoachID == "" || gatherFor == 0):
		return LeaveAlone
	case d.GatheredBy == "":
		return OpenWindow
	case d.GatheredBy == d.ID:
		return CarryAgain
	}
	return FollowCarrier
}
