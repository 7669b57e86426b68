package message

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

const (
	// newCoachFor is how long a coach counts as new after the first sign-in.
	newCoachFor = 7 * 24 * time.Hour
	// Each number that approved raises the limit of a new coach.
	raiseByApproval, raisedMax = 10, 200
	// blockDigits are the last digits of a number that vary within a block of 10,000.
	blockDigits = 4
)

// Limits are the settings that limit messages, in SMS segments; 0 is no
// limit.
type Limits struct {
	TotalHour, TotalDay                                                     int
	PerAddress, PerBlock, NewCoach, PerCoach, PerNumberFromCoach, PerNumber int
	// Budget limits the cost of all messages in any 24 h, except calls, and CallBudget the cost of
	// calls. A fifth of each is kept for OTPs to numbers that hold their role.
	Budget, CallBudget int64
}

// Counted is a message that is counted against the limits.
type Counted struct {
	// CoachID is empty after the coach has closed the account.
	CoachID string
	To      string
	// Network is where the coach asked for the message, or empty.
	Network  string
	Segments int64
	Cost     int64
	// Line is the budget line of Cost; empty is SMSCosts.
	Line CostLine
	// NewCoach is true in the first days of a coach (see NewCoach).
	NewCoach bool
	// Trusted is true for a coach whom an operator verified.
	Trusted bool
	// Approvals is how many numbers have approved a player of the coach.
	Approvals int
	// NeverSignedIn is true if the recipient's number never signed in.
	NeverSignedIn bool
	// OTP is true for an OTP: only its cost counts. HoldsRole is true if its number holds
	// the role.
	OTP, HoldsRole bool
	// Reserved is true for an OTP whose cost was counted when it was requested.
	Reserved bool
	// Team is true for a message that the coach wrote: the limits of approval messages do
	// not count it. The limit of the tier has counted it before it was accepted.
	Team bool
	// Training is true for the copy of a notification about a training. It goes to parties that have
	// approved, and a batch may have more of them than PerCoach. So it has a counter of the number and the
	// coach apart from the cost of approval messages.
	Training bool
}

// NewCoach reports whether a coach who registered at the given time counts as new.
func NewCoach(registered, now time.Time) bool { return now.Sub(registered) < newCoachFor }

// Count is the amount that a message adds to a counter.
type Count struct {
	Counter string
	Size    int64
}

// Counters of all messages. The other counters name a number, a coach or a network.
const (
	countAll   = "all"
	countOfNew = "all/new"
)

// CostLine is a budget line, and the counter of its costs. Calls have their own, so that a flood of
// calls stops no SMS, and a flood of SMS no call.
type CostLine string

// The budget lines.
const (
	SMSCosts  CostLine = "cost"
	CallCosts CostLine = "call_cost"
)

// CostLine returns the budget line of the messages on c.
func (c Channel) CostLine() CostLine {
	if c == Voice {
		return CallCosts
	}
	return SMSCosts
}

// CostWindow is the window of the budget.
const CostWindow = 24 * time.Hour

// Counts returns the amount that m adds to each counter, whether or not a limit uses it.
func (m Counted) Counts() []Count {
	var costs []Count
	if m.Cost > 0 && !m.Reserved {
		costs = []Count{{string(cmp.Or(m.Line, SMSCosts)), m.Cost}}
	}
	if m.OTP {
		return costs
	}
	counts := []Count{{countAll, m.Segments}}
	if !m.Team {
		counts = append(counts, Count{"number/" + m.recipient(), m.Segments})
	}
	switch {
	case m.Team || m.CoachID == "":
	case m.Training:
		counts = append(counts, Count{trainingCounter(m.CoachID, m.recipient()), m.Segments})
	default:
		counts = append(counts, Count{coachCounter(m.CoachID), m.Segments}, Count{"coach/" + m.CoachID + "/" + m.recipient(), m.Segments})
	}
	if m.fromNewCoach() {
		counts = append(counts, Count{countOfNew, m.Segments}, Count{newCoachCounter(m.CoachID), m.Segments})
		if m.Network != "" {
			counts = append(counts, Count{"network/" + m.Network, m.Segments})
		}
		if m.NeverSignedIn {
			counts = append(counts, Count{"block/" + Block(m.To), m.Segments})
		}
	}
	return append(counts, costs...)
}

// recipient names the number or address in counters. Mail servers ignore the case of an address, so its spellings count together. SQL that
// deletes counters finds them by the recipient of the delivery or its lower(), which on SQLite is for ASCII letters only: an address with
// other capital letters stays as it is.
func (m Counted) recipient() string {
	lower := strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, m.To)
	if strings.ToLower(lower) != lower {
		return m.To
	}
	return lower
}

// trainingCounter returns the counter of the messages about trainings of a coach to a number.
func trainingCounter(coachID, to string) string { return "training/" + coachID + "/" + to }

// coachCounter returns the counter of the approval messages of a coach.
func coachCounter(coachID string) string { return "coach/" + coachID }

// TeamCounter returns the counter of the messages that a coach wrote. A message counts when it
// is accepted.
func TeamCounter(coachID string) string { return "team/" + coachID }

// newCoachCounter returns the counter of all messages of a new coach.
func newCoachCounter(coachID string) string { return "new_coach/" + coachID }

func (m Counted) fromNewCoach() bool { return m.CoachID != "" && m.NewCoach }

// Limit is one limit that a message counts against.
type Limit struct {
	// Key names the limit and the number, coach, network or block that it limits. Messages that
	// wait for one key leave in order.
	Key string
	// Counter is the counter that the limit reads. The message adds Size to it.
	Counter string
	Size    int64
	Max     int64
	Window  time.Duration
	// Strict refuses a message that is larger than Max. Otherwise it is admitted alone.
	Strict bool
}

// WindowCount is the sum of a counter in a window that ends now. Oldest is when the oldest
// message in the window was counted.
type WindowCount struct {
	Size   int64
	Oldest time.Time
}

// Wait returns how long l holds its message back, given the sum in the window, or 0 if l
// admits it now.
func (l Limit) Wait(counted WindowCount, now time.Time) time.Duration {
	if l.Strict && l.Size > l.Max {
		return l.Window
	}
	if counted.Size == 0 || counted.Size+l.Size <= l.Max {
		return 0
	}
	return max(counted.Oldest.Add(l.Window).Sub(now), time.Microsecond)
}

// For returns the limits of m.
func (l Limits) For(m Counted) []Limit {
	sizes := make(map[string]int64)
	for _, c := range m.Counts() {
		sizes[c.Counter] = c.Size
	}
	var limits []Limit
	add := func(key, counter string, maximum int64, window time.Duration) {
		if size, counts := sizes[counter]; counts && maximum > 0 {
			limits = append(limits, Limit{Key: key, Counter: counter, Size: size, Max: maximum, Window: window})
		}
	}
	to := m.recipient()
	number, coach := "number/"+to, coachCounter(m.CoachID)
	add(number, number, int64(l.PerNumber), 24*time.Hour)
	add(coach+"/"+to, coach+"/"+to, int64(l.PerNumberFromCoach), 24*time.Hour)
	training := trainingCounter(m.CoachID, to)
	add(training, training, int64(l.PerNumberFromCoach), 24*time.Hour)
	add(coach, coach, int64(l.PerCoach), 24*time.Hour)
	if l.NewCoach > 0 && m.fromNewCoach() && !m.Trusted {
		raised := max(l.NewCoach, min(l.NewCoach+raiseByApproval*m.Approvals, raisedMax))
		add("new_coach/"+m.CoachID, newCoachCounter(m.CoachID), int64(raised), 24*time.Hour)
	}
	add("network/"+m.Network, "network/"+m.Network, int64(l.PerAddress), 24*time.Hour)
	add("block/"+Block(m.To), "block/"+Block(m.To), int64(l.PerBlock), 24*time.Hour)
	// Half of the totals is kept for coaches who are not new.
	add("total_hour/new", countOfNew, int64((l.TotalHour+1)/2), time.Hour)
	add("total_day/new", countOfNew, int64((l.TotalDay+1)/2), 24*time.Hour)
	add("total_hour", countAll, int64(l.TotalHour), time.Hour)
	add("total_day", countAll, int64(l.TotalDay), 24*time.Hour)
	if l.BudgetOf(m.Line) > 0 && m.Cost > 0 && !m.Reserved {
		limits = append(limits, l.budgetFor(m))
	}
	return limits
}

// BudgetKey is the key of messages that wait for the budget, and OverBudgetKey the key of messages
// that cost more than all of it. These wait alone: others do not wait behind them.
const (
	BudgetKey     = "budget"
	OverBudgetKey = BudgetKey + overBudget
	// Those of the budget for calls.
	CallBudgetKey     = "call_budget"
	CallOverBudgetKey = CallBudgetKey + overBudget

	overBudget = "/over"
)

// Hold says what a held message waits for. Its values are in the texts of pages.
type Hold string

// The values of Hold. Coach and Service reveal nothing about other coaches.
const (
	// HoldNumber: too many messages went to the number.
	HoldNumber Hold = "number"
	// HoldCoach: the coach has sent too many messages.
	HoldCoach Hold = "coach"
	// HoldService: a limit of the whole service, or of a network or block of numbers.
	HoldService Hold = "service"
	// HoldBudget: the service has spent its budget for SMS. HoldOverBudget: the message alone
	// costs more than all of it.
	HoldBudget     Hold = "budget"
	HoldOverBudget Hold = "over_budget"
	// HoldResend: the party got the question a short time ago. It waits for Rules.ResendAfter
	// and for no limit.
	HoldResend Hold = "resend"
)

// HoldOf returns what a held message waits for, from the key of its Limit, or "" if it
// has none.
func HoldOf(key string) Hold {
	kind, rest, _ := strings.Cut(key, "/")
	switch {
	case key == "":
		return HoldResend
	case kind == "number", kind == "coach" && strings.Contains(rest, "/"):
		return HoldNumber
	case kind == "coach", kind == "new_coach":
		return HoldCoach
	case key == OverBudgetKey, key == CallOverBudgetKey:
		return HoldOverBudget
	case kind == BudgetKey:
		return HoldBudget
	}
	return HoldService
}

// budgetFor returns the limit for the cost of m. No message exceeds it.
func (l Limits) budgetFor(m Counted) Limit {
	line, key := cmp.Or(m.Line, SMSCosts), BudgetKey
	if line == CallCosts {
		key = CallBudgetKey
	}
	limit := Limit{Key: key, Counter: string(line), Size: m.Cost, Max: l.sharedBudget(line), Window: CostWindow, Strict: true}
	switch {
	case m.OTP && m.HoldsRole:
		limit.Key, limit.Max = key+"/otp", l.BudgetOf(line)
	case m.OTP:
		limit.Key = key + "/new_otp"
	case m.Cost > limit.Max:
		limit.Key = key + overBudget
	}
	return limit
}

// BudgetOf returns the budget of a line; 0 is no limit.
func (l Limits) BudgetOf(line CostLine) int64 {
	if line == CallCosts {
		return l.CallBudget
	}
	return l.Budget
}

// sharedBudget is the part of the budget that is not kept for OTPs to numbers that hold
// their role.
func (l Limits) sharedBudget(line CostLine) int64 { return (l.BudgetOf(line)*8 + 9) / 10 }

// BudgetShort reports whether only OTPs to numbers that hold their role are sent, because
// the rest of the budget is spent.
func (l Limits) BudgetShort(line CostLine, spent int64) bool {
	return l.BudgetOf(line) > 0 && spent >= l.sharedBudget(line)
}

// Block returns the prefix that a number shares with the 10,000 numbers beside it.
func Block(number string) string { return number[:max(0, len(number)-blockDigits)] }

// CostShards is how many counters the costs of OTPs have, besides the counter of their line.
const CostShards = 8

// Shard returns the counter of a shard.
func (l CostLine) Shard(shard int) string { return string(l) + "/otp/" + strconv.Itoa(shard) }
