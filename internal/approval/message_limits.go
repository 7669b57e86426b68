package approval

import (
	"strings"
	"time"
)

const (
	hour = time.Hour
	day  = 24 * time.Hour
	// newCoachFor is how long a coach counts as new after the first sign-in.
	newCoachFor = 7 * day
	// Each number that approved raises the limit of a new coach.
	raiseByApproval, raisedMax = 10, 200
	// blockDigits are the last digits of a number that vary within a block of 10,000.
	blockDigits = 4
)

// MessageLimits are the settings that limit messages, in SMS segments (contract section
// 2a); 0 is no limit.
type MessageLimits struct {
	TotalHour, TotalDay                                                     int
	PerAddress, PerBlock, NewCoach, PerCoach, PerNumberFromCoach, PerNumber int
	// Budget limits the cost of messages in any 24 h.
	Budget int64
}

// OutgoingMessage is a message that is counted against the limits.
type OutgoingMessage struct {
	// CoachID is empty after the coach has closed the account.
	CoachID string
	To      string
	// Network is where the coach asked for the message, or empty.
	Network  string
	Segments int64
	Cost     int64
	// NewCoach is true in the first days of a coach (see NewCoach).
	NewCoach bool
	// Trusted is true for a coach whom an operator verified.
	Trusted bool
	// Approvals is how many numbers have approved a player of the coach.
	Approvals int
	// NeverSignedIn is true if the recipient's number never signed in.
	NeverSignedIn bool
}

// NewCoach reports whether a coach who registered at the given time counts as new.
func NewCoach(registered, now time.Time) bool { return now.Sub(registered) < newCoachFor }

// Counted says which messages a limit counts.
type Counted string

// The messages that limits count.
const (
	AllMessages       Counted = "all"
	OfNewCoaches      Counted = "new_coaches"
	FromNetwork       Counted = "network"
	ToBlock           Counted = "block"
	FromCoach         Counted = "coach"
	FromCoachToNumber Counted = "coach_number"
	ToNumber          Counted = "number"
	CostOfAll         Counted = "cost"
)

// MessageLimit is one limit that a message counts against.
type MessageLimit struct {
	// Key names the limit and whom it concerns. Messages that wait for one key leave in
	// order.
	Key    string
	Counts Counted
	Max    int64
	Window time.Duration
}

// Admits reports whether a message of the given size fits beside what was counted in
// the window. A message that is larger than the limit is admitted alone.
func (l MessageLimit) Admits(counted, size int64) bool { return counted == 0 || counted+size <= l.Max }

// Size returns what m adds to the count of l.
func (l MessageLimit) Size(m OutgoingMessage) int64 {
	if l.Counts == CostOfAll {
		return m.Cost
	}
	return m.Segments
}

// For returns the limits of m.
func (l MessageLimits) For(m OutgoingMessage) []MessageLimit {
	var limits []MessageLimit
	add := func(condition bool, key string, counts Counted, maximum int64, window time.Duration) {
		if condition && maximum > 0 {
			limits = append(limits, MessageLimit{Key: key, Counts: counts, Max: maximum, Window: window})
		}
	}
	coach, fromNew := m.CoachID != "", m.CoachID != "" && m.NewCoach
	add(true, "number/"+m.To, ToNumber, int64(l.PerNumber), day)
	add(coach, "coach/"+m.CoachID+"/"+m.To, FromCoachToNumber, int64(l.PerNumberFromCoach), day)
	add(coach, "coach/"+m.CoachID, FromCoach, int64(l.PerCoach), day)
	if l.NewCoach > 0 {
		raised := max(l.NewCoach, min(l.NewCoach+raiseByApproval*m.Approvals, raisedMax))
		add(fromNew && !m.Trusted, "new_coach/"+m.CoachID, FromCoach, int64(raised), day)
	}
	add(fromNew && m.Network != "", "network/"+m.Network, FromNetwork, int64(l.PerAddress), day)
	add(fromNew && m.NeverSignedIn, "block/"+Block(m.To), ToBlock, int64(l.PerBlock), day)
	// Half of the totals is kept for coaches who are not new.
	add(fromNew, "total_hour/new", OfNewCoaches, int64((l.TotalHour+1)/2), hour)
	add(fromNew, "total_day/new", OfNewCoaches, int64((l.TotalDay+1)/2), day)
	add(true, "total_hour", AllMessages, int64(l.TotalHour), hour)
	add(true, "total_day", AllMessages, int64(l.TotalDay), day)
	// The rest of the budget is for OTPs.
	add(true, "budget", CostOfAll, l.Budget*8/10, day)
	return limits
}

// Block returns what the 10,000 numbers beside a number have in common.
func Block(number string) string { return number[:max(0, len(number)-blockDigits)] }

// BlockRange returns the first and the last number of the block of a number.
func BlockRange(number string) (first, last string) {
	return Block(number) + strings.Repeat("0", blockDigits), Block(number) + strings.Repeat("9", blockDigits)
}
