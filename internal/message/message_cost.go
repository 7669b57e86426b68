package message

import (
	"time"
)

// MessageCostsKept is how long the costs of a day are kept.
const MessageCostsKept = 800 * 24 * time.Hour

// MessageCost is the number and cost of a coach's messages on one channel on one day.
type MessageCost struct {
	Day time.Time // its start, UTC
	// CoachID is "" for OTPs, and for messages of coaches who have left.
	CoachID  string
	Channel  Channel
	Messages int64
	Segments int64 // SMS segments; those that the text would take on other channels
	// Cost is in 1/10,000 of the unit of SMS_PRICES.
	Cost int64
}

// Units returns the cost in the unit of SMS_PRICES.
func (c MessageCost) Units() float64 { return float64(c.Cost) / 10_000 }

// MessageCostSearch selects costs of the days from From to To, both included, of all coaches or
// of one.
type MessageCostSearch struct {
	From, To time.Time // any time of the day, UTC
	CoachID  string
	After    MessageCostCursor
}

// MessageCostCursor is a position in the list of costs.
type MessageCostCursor struct {
	Day     time.Time
	CoachID string
	Channel Channel
}
