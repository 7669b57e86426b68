package fee

import (
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

const (
	// maxDueYears is how many years from today a fee may be due.
	maxDueYears = 5
	// maxMonthsMissed is how many months ago a repeated fee may begin.
	maxMonthsMissed = 12
	// makeFeeDaysAhead is how many days before its due date a repeated fee is made.
	makeFeeDaysAhead = 7
)

// Order describes the fees that a coach asks for: one of a player, or one of each of
// several players or of a batch.
type Order struct {
	// One of PlayerID, PlayerIDs and BatchID is set.
	PlayerID, BatchID string
	// PlayerIDs are several players, of whom each gets a fee that does not repeat.
	PlayerIDs []string
	Title     string
	Amount    int64
	Currency  string
	DueOn     team.Date
	// Repeat makes a fee each month, until Until if that is set.
	Repeat bool
	Until  team.Date
}

// Check returns the faults of the order's dates. today is the date in the coach's time zone.
func (o Order) Check(today team.Date) error {
	var faults []fault.Field
	if o.DueOn < today.AddYears(-maxDueYears) || o.DueOn > today.AddYears(maxDueYears) {
		faults = append(faults, fault.Field{Pointer: "/due_on", Code: "unlikely_date", Detail: "This is more than five years from today. Check the year."})
	} else if o.Repeat && o.DueOn < today.AddMonths(-maxMonthsMissed) {
		faults = append(faults, fault.Field{Pointer: "/due_on", Code: "unlikely_date", Detail: "A repeated fee can begin at most twelve months ago."})
	}
	if o.Until != "" && o.Until < o.DueOn {
		faults = append(faults, fault.Field{Pointer: "/repeat/until", Code: "before_due_on", Detail: "This is before the first fee is due."})
	}
	return fault.Validation(faults)
}

// Repeat makes the fees of an order for each month.
type Repeat struct {
	// ID is the SeriesID of its fees.
	ID      string
	CoachID string
	Order
	// StudentName and BatchName name the player or the batch.
	StudentName, BatchName string
	// Made counts the months whose fees were made.
	Made int
	// NextAt is when the fees of the next month are made; zero after the last one.
	NextAt    time.Time
	EndedAt   time.Time
	CreatedAt time.Time
	Version   int64
}

// DueOf returns when the fees of a period are due: the day of the first one in each
// month, or the last day of a shorter month.
func (r *Repeat) DueOf(period int) team.Date { return r.DueOn.AddMonths(period) }

// Advance counts a month as made and sets when the next one follows: a week before it is
// due, so that reminders reach the families in time. zone is the coach's time zone.
func (r *Repeat) Advance(zone *time.Location, now time.Time) {
	r.Made++
	next := r.DueOf(r.Made)
	if r.Until != "" && next > r.Until {
		r.End(now)
		return
	}
	r.NextAt = next.AddDays(-makeFeeDaysAhead).At(0, zone).UTC()
}

// Make returns the fees of the next month for the players and counts the month as made.
func (r *Repeat) Make(payers []Payer, zone *time.Location, now time.Time, newID func() string) []*Fee {
	fees := r.FeesFor(r.CoachID, r.ID, r.Made, payers, zone, now, newID)
	r.Advance(zone, now)
	return fees
}

// EndedBy reports whether err, from reading the payers of a repeat, ends the repeat: the coach
// removed the player or archived the batch.
func EndedBy(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.NotFound || kind == fault.Conflict
}

// End stops the repeat. Fees that were made stay.
func (r *Repeat) End(now time.Time) {
	r.NextAt, r.EndedAt = time.Time{}, now
}

// Payer is a player who gets a fee.
type Payer struct{ PlayerID, StudentName string }

// FeesFor returns the fees of a period, one for each player. seriesID is "" for the fee of
// one player that does not repeat.
func (o Order) FeesFor(coachID, seriesID string, period int, payers []Payer, zone *time.Location, now time.Time, newID func() string) []*Fee {
	fees := make([]*Fee, len(payers))
	due := o.DueOn.AddMonths(period)
	for i, p := range payers {
		fees[i] = &Fee{
			ID: newID(), CoachID: coachID, PlayerID: p.PlayerID, StudentName: p.StudentName, BatchID: o.BatchID, SeriesID: seriesID, Period: period, Zone: zone,
			Title: o.Title, Amount: o.Amount, Currency: o.Currency, DueOn: due, Status: StatusOpen, CreatedAt: now, Version: 1,
			RemindAt: FirstReminder(due, zone, now),
		}
	}
	return fees
}
