package training

import (
	"time"

	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/claims"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// New is a single training that a coach adds. Each value except the day and the times has been
// validated.
type New struct {
	ID         string
	Date       team.Date
	Start, End team.TimeOfDay
	Kind       Kind

	Title, Venue, Opponent string
}

// check returns the faults of the day and the times.
func (n New) check(b *team.Batch, now time.Time) error {
	t := &Training{Batch: b, Date: n.Date, Start: n.Start, End: n.End}
	return fault.Validation(t.faults(now))
}

// faults returns what is wrong with the day and the times of t.
func (t *Training) faults(now time.Time) []fault.Field {
	today := team.DateOf(now, t.zone())
	switch {
	case t.End <= t.Start:
		return []fault.Field{{Pointer: "/end", Code: "ends_before_start", Detail: "The end must be after the start on the same day."}}
	case t.Date > today.AddDays(MaxDaysAhead):
		return []fault.Field{{Pointer: "/date", Code: "out_of_range", Detail: "This day is more than a year ahead."}}
	case t.Over(now):
		return []fault.Field{{Pointer: "/date", Code: "in_past", Detail: "This time is over."}}
	}
	return nil
}

func (n New) record(batchID string, now time.Time) record {
	return record{
		id: n.ID, batchID: batchID, version: 1, date: n.Date, start: &n.Start, end: &n.End, kind: n.Kind, title: n.Title, venue: n.Venue, opponent: n.Opponent,
		createdAt: now, updatedAt: now,
	}
}

// equals reports whether t was added by the same form.
func (n New) equals(t *Training) bool {
	r := t.stored
	return r.version > 1 || r.date == n.Date && *r.start == n.Start && *r.end == n.End && r.kind == n.Kind && r.title == n.Title && r.venue == n.Venue && r.opponent == n.Opponent
}

// Patch changes a training: nil keeps a field, a pointer to the zero value clears it. Each value except
// the day and the times has been validated.
type Patch struct {
	Date                   *team.Date
	Start, End             *team.TimeOfDay
	Kind                   *Kind
	Title, Venue, Opponent *string
	State                  *State
	Reason                 *string
	// ResetTimes sets the times of the schedule again.
	ResetStart, ResetEnd bool
}

// change says what a coach did to a training.
type change string

const (
	unchanged change = ""
	added     change = "added"
	edited    change = "changed"
	cancelled change = "cancelled"
	restored  change = "restored"
	// askedToAnswer: the coach asked those without an answer.
	askedToAnswer change = "asked"
)

// edit applies a patch to t and its row at now, and returns what it did.
func (t *Training) edit(p Patch, now time.Time) (change, error) {
	before := *t
	r := t.row(now)
	scheduled := t.Slot > 0
	set(&r.date, p.Date)
	set(&r.kind, p.Kind)
	set(&r.title, p.Title)
	set(&r.venue, p.Venue)
	set(&r.opponent, p.Opponent)
	if p.Start != nil {
		r.start = p.Start
	}
	if p.End != nil {
		r.end = p.End
	}
	if scheduled && p.ResetStart {
		r.start = nil
	}
	if scheduled && p.ResetEnd {
		r.end = nil
	}
	if p.State != nil && *p.State == Planned {
		r.cancelledAt, r.reason = time.Time{}, ""
	}
	if p.State != nil && *p.State == Cancelled && r.cancelledAt.IsZero() {
		r.cancelledAt, r.reason = now, ""
	}
	if p.Reason != nil && !r.cancelledAt.IsZero() {
		r.reason = *p.Reason
	}
	after := before
	if scheduled { // the times of the schedule, which the row may change
		for i, slot := range t.Batch.Schedule.On(t.Date) {
			if i+1 == t.Slot {
				after.Start, after.End = slot.Start, slot.End
			}
		}
	}
	after.apply(r)
	what := before.compare(&after)
	if what == unchanged {
		return unchanged, nil
	}
	if err := before.CheckChange(now); err != nil {
		return unchanged, err
	}
	if before.State() == Cancelled && after.State() == Cancelled && what != cancelled {
		return unchanged, errCancelled()
	}
	if scheduled && r.date != before.Date {
		return unchanged, fault.Validation([]fault.Field{{Pointer: "/date", Code: "invalid_value", Detail: "A training of the schedule stays on its day. Cancel it, and add a single one."}})
	}
	if what != cancelled {
		if err := fault.Validation(after.faults(now)); err != nil {
			return unchanged, err
		}
	}
	r.version++
	r.updatedAt = now
	after.apply(r)
	*t = after
	return what, nil
}

// compare returns what the coach did to t to get after.
func (t *Training) compare(after *Training) change {
	switch {
	case t.State() != after.State() && after.State() == Cancelled, t.State() == Cancelled && after.State() == Cancelled && t.Reason != after.Reason:
		return cancelled
	case t.State() != after.State():
		return restored
	case t.Date != after.Date || t.Start != after.Start || t.End != after.End || t.Kind != after.Kind || t.Title != after.Title || t.Venue != after.Venue || t.Opponent != after.Opponent:
		return edited
	}
	return unchanged
}

// checkTitle returns a fault if a title claims to be another: it opens messages to families.
func (s *Service) checkTitle(title *string) error {
	if title != nil && s.Consent.Claims.Group(*title) {
		return fault.Validation([]fault.Field{claims.Fault("/title")})
	}
	return nil
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// request is the TrainingRequest of openapi.yaml.
type request struct {
	Date     string           `json:"date" rule:"required"`
	Start    string           `json:"start" rule:"required"`
	End      string           `json:"end" rule:"required"`
	Kind     wire.Opt[string] `json:"kind" rule:"oneof=training|match|other"`
	Title    wire.Opt[string] `json:"title" rule:"name,min=1,max=100"`
	Venue    wire.Opt[string] `json:"venue" rule:"name,min=1,max=200"`
	Opponent wire.Opt[string] `json:"opponent" rule:"name,min=1,max=100"`
}

func (in request) read(f *wire.Faults) New {
	n := New{Kind: Kind(in.Kind.Value), Title: in.Title.Value, Venue: in.Venue.Value, Opponent: in.Opponent.Value}
	if n.Kind == "" {
		n.Kind = Practice
	}
	if !f.Has("/date") {
		n.Date = readDate("/date", in.Date, f)
	}
	n.Start, n.End = *readTime("/start", in.Start, f), *readTime("/end", in.End, f)
	return n
}

func readDate(at, text string, f *wire.Faults) team.Date {
	d, err := team.ParseDate(text)
	if err != nil {
		f.Add(at, "invalid_date", "Write a day of this century as YYYY-MM-DD.")
	}
	return d
}

func readTime(at, text string, f *wire.Faults) *team.TimeOfDay {
	t, err := team.ParseTimeOfDay(text)
	if err != nil && !f.Has(at) {
		f.Add(at, "invalid_time", "Write the time as HH:MM, such as 17:30.")
	}
	return &t
}

// patchRequest is the TrainingPatch of openapi.yaml. null sets a value of the schedule or the batch again.
type patchRequest struct {
	Date     *string          `json:"date" rule:"notnull"`
	Start    wire.Opt[string] `json:"start"`
	End      wire.Opt[string] `json:"end"`
	Kind     *string          `json:"kind" rule:"notnull,oneof=training|match|other"`
	Title    wire.Opt[string] `json:"title" rule:"name,min=1,max=100"`
	Venue    wire.Opt[string] `json:"venue" rule:"name,min=1,max=200"`
	Opponent wire.Opt[string] `json:"opponent" rule:"name,min=1,max=100"`
	State    *string          `json:"state" rule:"notnull,oneof=planned|cancelled"`
	Reason   wire.Opt[string] `json:"reason" rule:"name,max=500"`
}

func (in patchRequest) read(f *wire.Faults) Patch {
	p := Patch{
		Kind: (*Kind)(in.Kind), State: (*State)(in.State), Title: input.Value(in.Title), Venue: input.Value(in.Venue), Opponent: input.Value(in.Opponent),
		Reason: input.Value(in.Reason),
	}
	if in.Date != nil {
		date := readDate("/date", *in.Date, f)
		p.Date = &date
	}
	p.Start, p.ResetStart = readOptTime("/start", in.Start, f)
	p.End, p.ResetEnd = readOptTime("/end", in.End, f)
	return p
}

// readOptTime reads a time; null resets it.
func readOptTime(at string, in wire.Opt[string], f *wire.Faults) (t *team.TimeOfDay, reset bool) {
	text := in.Some()
	if text == nil {
		return nil, in.Set
	}
	return readTime(at, *text, f), false
}

// cancelRequest is the CancelTraining of openapi.yaml.
type cancelRequest struct {
	Reason wire.Opt[string] `json:"reason" rule:"name,max=500"`
}

// answerRequest is the AttendingRequest of openapi.yaml.
type answerRequest struct {
	Attending bool             `json:"attending" rule:"required"`
	Reason    wire.Opt[string] `json:"reason" rule:"name,lines,max=500"`
}
