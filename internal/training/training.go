// Package training owns trainings and who comes to them: their rules, SQL, JSON, pages, templates and
// texts. A training is a day of the schedule of a batch, or a single one such as a match.
package training

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// Kind is the kind of a training.
type Kind string

// The kinds.
const (
	Practice Kind = "training"
	Match    Kind = "match"
	Other    Kind = "other"
)

// Kinds lists every kind.
var Kinds = []Kind{Practice, Match, Other}

// State says whether a training takes place.
type State string

// The states.
const (
	Planned   State = "planned"
	Cancelled State = "cancelled"
)

// Limits of trainings.
const (
	// MaxDays is the number of days of a list.
	MaxDays = 93
	// MaxDaysAhead is how many days after today a training can be.
	MaxDaysAhead = 366
	// MaxPerDay limits the single trainings of a batch on a day.
	MaxPerDay = 10
)

// Counts are the answers of the players of a batch.
type Counts struct{ Comes, CannotCome, NoAnswer int }

// Training is one training of a batch.
type Training struct {
	// ID is a UUID for a single training. That of a day of the schedule names the batch, the day and,
	// from the second slot of the day, its number: see slotID. So it stays the same if the time changes.
	ID    string
	Batch *team.Batch
	Date  team.Date
	// Slot is the number of the slot of the schedule on Date from 1; 0 for a single training.
	Slot       int
	Start, End team.TimeOfDay
	Kind       Kind
	// Title, Venue and Opponent may be empty. Venue is the batch's if the training has none.
	Title, Venue, Opponent string
	// CancelledAt is zero for a planned training. Reason is why it was cancelled, or empty.
	CancelledAt time.Time
	Reason      string
	// UpdatedAt is zero for a day of the schedule as it is.
	UpdatedAt time.Time
	Counts    Counts

	stored record
}

// record is the row of a training. A day of the schedule that was never changed has version 0.
type record struct {
	id       string
	batchID  string
	version  int64
	date     team.Date
	start    *team.TimeOfDay
	end      *team.TimeOfDay
	kind     Kind
	title    string
	venue    string
	opponent string

	cancelledAt, createdAt, updatedAt time.Time
	reason                            string
	// askedAt is when the coach last asked the families without an answer.
	askedAt time.Time
}

// row returns the row of t; a new one for a day of the schedule that was never changed.
func (t *Training) row(now time.Time) record {
	if t.stored.version > 0 {
		return t.stored
	}
	return record{id: t.ID, batchID: t.Batch.ID, date: t.Date, kind: t.Kind, createdAt: now, updatedAt: now}
}

// slotID returns the id of the slot with a number from 1 on a day of the schedule.
func slotID(batchID string, date team.Date, slot int) string {
	id := batchID + "." + string(date)
	if slot > 1 {
		id += "." + strconv.Itoa(slot)
	}
	return id
}

// parseSlotID reads an id that slotID returned.
func parseSlotID(id string) (batchID string, date team.Date, slot int, ok bool) {
	parts := strings.Split(id, ".")
	if len(parts) < 2 || len(parts) > 3 || !endpoint.IsID(parts[0]) {
		return "", "", 0, false
	}
	date, err := team.ParseDate(parts[1])
	if err != nil {
		return "", "", 0, false
	}
	slot = 1
	if len(parts) == 3 {
		if slot, err = strconv.Atoi(parts[2]); err != nil || slot < 2 || slot > team.MaxSlots || parts[2] != strconv.Itoa(slot) {
			return "", "", 0, false
		}
	}
	return parts[0], date, slot, true
}

// State returns whether the training takes place.
func (t *Training) State() State {
	if t.CancelledAt.IsZero() {
		return Planned
	}
	return Cancelled
}

// StartsAt returns when the training starts. A time that daylight saving skips is later.
func (t *Training) StartsAt() time.Time { return t.Date.At(t.Start, t.zone()).UTC() }

// EndsAt returns when the training ends. One whose start daylight saving skips keeps its length; any other ends at its time on the clock.
func (t *Training) EndsAt() time.Time {
	starts := t.StartsAt()
	if clock := starts.In(t.zone()); clock.Hour()*60+clock.Minute() != int(t.Start) {
		return starts.Add(time.Duration(t.End-t.Start) * time.Minute)
	}
	return t.Date.At(t.End, t.zone()).UTC()
}

func (t *Training) zone() *time.Location { return team.Zone(t.Batch.TimeZone) }

// CheckAnswer returns training_cancelled or training_begun if no party can answer any more.
func (t *Training) CheckAnswer(now time.Time) error {
	if t.State() == Cancelled {
		return errCancelled()
	}
	if !now.Before(t.StartsAt()) {
		return fault.New(fault.Conflict, "training_begun", "This training has begun. Tell the coach directly.")
	}
	return nil
}

// CanAnswer reports whether a party can still answer.
func (t *Training) CanAnswer(now time.Time) bool { return t.CheckAnswer(now) == nil }

func errCancelled() error {
	return fault.New(fault.Conflict, "training_cancelled", "This training is cancelled.")
}

// CheckChange returns training_begun if the training is over, or batch_archived.
func (t *Training) CheckChange(now time.Time) error {
	if err := t.Batch.CheckOpen(); err != nil {
		return err
	}
	if t.Over(now) {
		return fault.New(fault.Conflict, "training_begun", "This training is over. It can no longer be changed.")
	}
	return nil
}

// Over reports whether the training has ended.
func (t *Training) Over(now time.Time) bool { return !now.Before(t.EndsAt()) }

// newSlot returns a slot of the schedule, with what its row, if any, changes.
func newSlot(b *team.Batch, date team.Date, number int, slot team.Slot) *Training {
	return &Training{
		ID: slotID(b.ID, date, number), Batch: b, Date: date, Slot: number, Start: slot.Start, End: slot.End, Kind: Practice, Venue: b.Venue,
	}
}

// apply puts what the row of t says into t.
func (t *Training) apply(r record) {
	t.stored = r
	t.Date, t.Kind, t.Title, t.Opponent = r.date, r.kind, r.title, r.opponent
	t.Reason, t.CancelledAt, t.UpdatedAt = r.reason, r.cancelledAt, r.updatedAt
	if r.start != nil {
		t.Start = *r.start
	}
	if r.end != nil {
		t.End = *r.end
	}
	t.Venue = t.Batch.Venue
	if r.venue != "" {
		t.Venue = r.venue
	}
}

// plan returns the trainings of batches on the days from from to to, earliest first: the dates of the
// schedules, as records change them, and the single ones. An archived batch has none after its end, and
// none has one before it was added.
func plan(batches []*team.Batch, records []record, from, to team.Date) []*Training {
	var all []*Training
	byID := map[string]record{}
	single := map[string][]record{}
	for _, r := range records {
		byID[r.id] = r
		if endpoint.IsID(r.id) {
			single[r.batchID] = append(single[r.batchID], r)
		}
	}
	for _, b := range batches {
		zone := team.Zone(b.TimeZone)
		first, last := max(from, team.DateOf(b.CreatedAt, zone)), to
		if !b.ArchivedAt.IsZero() {
			last = min(last, team.DateOf(b.ArchivedAt, zone))
		}
		for date := first; date <= last; date = date.AddDays(1) {
			for i, slot := range b.Schedule.On(date) {
				t := newSlot(b, date, i+1, slot)
				if r, found := byID[t.ID]; found {
					t.apply(r)
				}
				all = append(all, t)
			}
		}
		for _, r := range single[b.ID] {
			t := &Training{ID: r.id, Batch: b}
			t.apply(r)
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b *Training) int {
		if n := a.StartsAt().Compare(b.StartsAt()); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all
}

// Answer is whether a player comes.
type Answer struct {
	TrainingID, PlayerID string
	Attending            bool
	// Reason is why the player cannot come, or empty. The coach and the party who wrote it read it.
	Reason string
	// Party answered at AnsweredAt, with the account AccountID.
	Party      actor.Role
	AccountID  string
	AnsweredAt time.Time
}

// seenBy returns the answer as a party reads it: without a reason that another party wrote.
func (a *Answer) seenBy(by actor.Actor) *Answer {
	if a == nil || a.AccountID == by.AccountID {
		return a
	}
	seen := *a
	seen.Reason = ""
	return &seen
}

// PlayerAnswer is a player of the batch of a training. Answer is nil without an answer.
type PlayerAnswer struct {
	PlayerID, StudentName string
	Answer                *Answer
}

// OfPlayer is a training as a party of a player sees it. Answer is nil without an answer.
type OfPlayer struct {
	*Training
	Answer *Answer
}
