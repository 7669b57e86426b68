package attendance

import (
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// NewMark is a mark that a coach sends.
type NewMark struct {
	PlayerID string
	Mark     team.Mark
	// Note is nil if the coach sends none: Replace then clears it, and Merge keeps it.
	Note *string
	// MarkedAt is zero for now.
	MarkedAt time.Time
}

// clockTolerance is how far ahead of the service the clock of a phone may be. Phones that
// take their local time for UTC are 14 hours ahead at most.
const clockTolerance = 24 * time.Hour

// SheetUpdate is a request that changes a sheet.
type SheetUpdate struct {
	By    actor.Actor
	Now   time.Time
	Marks []NewMark
	// IfMatch are the versions that the caller has seen.
	IfMatch Precondition
	// Members are the players that Marks names and that are or were in the batch.
	Members map[string]team.Membership
}

// Replace makes the marks of u the only ones of the sheet. Marks that are there already
// change nothing, whatever IfMatch says, so that a phone can repeat a request whose response
// was lost. Otherwise a sheet that exists changes only if the caller has seen it.
func (s *Sheet) Replace(u SheetUpdate) (SheetChange, error) {
	if err := s.check(u); err != nil {
		return SheetChange{}, err
	}
	u.Marks = slices.Clone(u.Marks)
	for i, m := range u.Marks {
		if m.Note == nil {
			u.Marks[i].Note = new(string)
		}
	}
	var c SheetChange
	sent := map[string]bool{}
	for _, m := range u.Marks {
		sent[m.PlayerID] = true
		if old := s.find(m.PlayerID); old == nil || !m.equals(*old) {
			c.set(m, old, u)
		}
	}
	for _, old := range s.Marks {
		if !sent[old.PlayerID] {
			c.Removed, c.Superseded = append(c.Removed, old.PlayerID), append(c.Superseded, old)
		}
	}
	if s.Version > 0 && !c.Saves() {
		return c, nil
	}
	if err := s.admit(u, true); err != nil {
		return SheetChange{}, err
	}
	s.apply(c, u.Now)
	return c, nil
}

// Merge sets the marks of u. Of two marks of a player the later MarkedAt counts, whichever
// arrives first; the other is kept as superseded.
func (s *Sheet) Merge(u SheetUpdate) (SheetChange, error) {
	if err := s.check(u); err != nil {
		return SheetChange{}, err
	}
	if err := s.admit(u, false); err != nil {
		return SheetChange{}, err
	}
	var c SheetChange
	for _, m := range u.Marks {
		old := s.find(m.PlayerID)
		switch {
		case old != nil && m.equals(*old):
		case old != nil && !m.MarkedAt.IsZero() && m.MarkedAt.Before(old.MarkedAt):
			c.Superseded = append(c.Superseded, m.record(old, u))
		default:
			c.set(m, old, u)
		}
	}
	s.apply(c, u.Now)
	return c, nil
}

// set adds a mark that replaces old, or is new if old is nil.
func (c *SheetChange) set(m NewMark, old *PlayerMark, u SheetUpdate) {
	if old != nil {
		c.Superseded = append(c.Superseded, *old)
	}
	c.Set = append(c.Set, m.record(old, u))
}

// record returns m as it is saved. Without a note it keeps the note of old.
func (m NewMark) record(old *PlayerMark, u SheetUpdate) PlayerMark {
	saved := PlayerMark{
		PlayerID: m.PlayerID, Mark: m.Mark, MarkedAt: m.MarkedAt,
		RecordedAt: u.Now, Account: u.By.AccountID, Session: u.By.SessionID,
	}
	switch {
	case m.Note != nil:
		saved.Note = *m.Note
	case old != nil:
		saved.Note = old.Note
	}
	if saved.MarkedAt.IsZero() {
		saved.MarkedAt = u.Now
	}
	return saved
}

// equals reports whether saving m would save old again.
func (m NewMark) equals(old PlayerMark) bool {
	return m.Mark == old.Mark && (m.Note == nil || *m.Note == old.Note) && (m.MarkedAt.IsZero() || m.MarkedAt.Equal(old.MarkedAt))
}

// check returns the faults of u that do not depend on who is in the batch.
func (s *Sheet) check(u SheetUpdate) error {
	if s.Date > team.DateOf(u.Now, team.Zone(s.Batch.TimeZone)).AddDays(MaxDaysAhead) {
		return fault.Validation([]fault.Field{{Pointer: "/date", Code: "out_of_range", Detail: "This day is more than a year ahead."}})
	}
	var faults []fault.Field
	seen := map[string]bool{}
	for i, m := range u.Marks {
		at := fmt.Sprintf("/marks/%d", i)
		if seen[m.PlayerID] {
			faults = append(faults, fault.Field{Pointer: at + "/player_id", Code: "duplicate", Detail: "This player has a mark already."})
		}
		seen[m.PlayerID] = true
		if m.MarkedAt.After(u.Now.Add(clockTolerance)) {
			faults = append(faults, fault.Field{Pointer: at + "/marked_at", Code: "in_future", Detail: "This is in the future. Check the clock of the phone."})
		}
	}
	return fault.Validation(faults)
}

// admit returns a fault for each mark of a player outside of the batch (see mayMark; a mark that is
// there can be corrected), batch_archived, or the error of the precondition.
func (s *Sheet) admit(u SheetUpdate, required bool) error {
	var faults []fault.Field
	zone := team.Zone(s.Batch.TimeZone)
	for i, m := range u.Marks {
		member, found := u.Members[m.PlayerID]
		if s.find(m.PlayerID) == nil && !(found && mayMark(member, s.Date, zone, m.MarkedAt)) {
			faults = append(faults, fault.Field{
				Pointer: fmt.Sprintf("/marks/%d/player_id", i), Code: "not_in_batch", Detail: "This player was not in the batch on this day. Take the mark out.",
			})
		}
	}
	if err := fault.Validation(faults); err != nil {
		return err
	}
	if err := s.Batch.CheckOpen(); err != nil {
		return err
	}
	return u.IfMatch.check(s.Version, required)
}

// mayMark reports whether the player may get a new mark for a day, made at markedAt (zero for
// now). A player who has never left the batch may get one for any day, since coaches also note
// trainings before they added the player. A player who has left, and perhaps joined again, may get
// one for a day of a stay, made before that stay ended.
func mayMark(m team.Membership, date team.Date, zone *time.Location, markedAt time.Time) bool {
	if m.LeftAt.IsZero() && len(m.Earlier) == 0 {
		return true
	}
	starts, ends := date.At(0, zone), date.End(zone)
	marked := ends
	if !markedAt.IsZero() && markedAt.Before(ends) {
		marked = markedAt
	}
	for _, s := range append(slices.Clone(m.Earlier), team.Stay{JoinedAt: m.JoinedAt, LeftAt: m.LeftAt}) {
		open := s.LeftAt.IsZero()
		if s.JoinedAt.Before(ends) && (open || starts.Before(s.LeftAt) && marked.Before(s.LeftAt)) {
			return true
		}
	}
	return false
}
