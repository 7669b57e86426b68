package team

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// Mark says whether a player was at a training.
type Mark string

// The marks.
const (
	Present Mark = "present"
	Absent  Mark = "absent"
	Late    Mark = "late"
	Excused Mark = "excused"
)

// Marks lists every mark.
var Marks = []Mark{Present, Absent, Late, Excused}

// MaxMarkNote is the number of characters of a note about a mark.
const MaxMarkNote = 500

// PlayerMark is the mark of one player on a sheet.
type PlayerMark struct {
	PlayerID string
	// StudentName is empty in a mark that is about to be saved.
	StudentName string
	Mark        Mark
	// Note is for the coach alone.
	Note string
	// MarkedAt is when the coach made the mark, perhaps long before the phone sent it.
	MarkedAt time.Time
	// RecordedAt is when the service saved it. Account and Session sent it.
	RecordedAt       time.Time
	Account, Session string
}

// Sheet is the attendance of a batch on a day.
type Sheet struct {
	Batch *Batch
	Date  Date
	// Version is 0 until attendance is taken, and increases with each change.
	Version int64
	// OutsideSchedule is true if the batch had a schedule, and no training that day, when
	// attendance was taken.
	OutsideSchedule bool
	TakenAt         time.Time
	UpdatedAt       time.Time
	// Marks are in the order of the player ids.
	Marks []PlayerMark
}

// Counts are the number of marks of each kind.
type Counts map[Mark]int

// Total is the number of all marks.
func (c Counts) Total() int {
	total := 0
	for _, n := range c {
		total += n
	}
	return total
}

// Counts counts the marks.
func (s *Sheet) Counts() Counts {
	counts := Counts{}
	for _, m := range s.Marks {
		counts[m.Mark]++
	}
	return counts
}

// SheetChange has the changes of a sheet to save. The zero SheetChange saves nothing.
type SheetChange struct {
	// Set has the marks to save: new ones, and ones that replace another.
	Set []PlayerMark
	// Removed are the players whose marks are removed.
	Removed []string
	// Superseded are marks that no longer count: they were replaced or removed, or a later
	// mark had arrived before them.
	Superseded []PlayerMark
}

// Saves reports whether there is something to save.
func (c SheetChange) Saves() bool { return len(c.Set)+len(c.Removed)+len(c.Superseded) > 0 }

// changesSheet reports whether the marks that count change.
func (c SheetChange) changesSheet() bool { return len(c.Set)+len(c.Removed) > 0 }

// SortMarks orders the marks by player.
func (s *Sheet) SortMarks() {
	slices.SortFunc(s.Marks, func(a, b PlayerMark) int { return strings.Compare(a.PlayerID, b.PlayerID) })
}

// find returns the mark of a player, or nil.
func (s *Sheet) find(playerID string) *PlayerMark {
	i, found := slices.BinarySearchFunc(s.Marks, playerID, func(m PlayerMark, id string) int { return strings.Compare(m.PlayerID, id) })
	if !found {
		return nil
	}
	return &s.Marks[i]
}

// apply makes a change that is saved at now.
func (s *Sheet) apply(c SheetChange, now time.Time) {
	if !c.changesSheet() {
		return
	}
	marks := map[string]PlayerMark{}
	for _, m := range s.Marks {
		marks[m.PlayerID] = m
	}
	for _, m := range c.Set {
		m.StudentName = marks[m.PlayerID].StudentName
		marks[m.PlayerID] = m
	}
	for _, id := range c.Removed {
		delete(marks, id)
	}
	s.Marks = slices.Collect(maps.Values(marks))
	s.SortMarks()
	if s.Version == 0 {
		s.TakenAt, s.OutsideSchedule = now, s.Batch.Schedule.Outside(s.Date)
	}
	s.Version++
	s.UpdatedAt = now
}

// MaxDaysAhead is how many days after today attendance can be noted, such as an excused absence in
// advance.
const MaxDaysAhead = 366

// checkDate returns a fault for a day that is too far ahead.
func (s *Sheet) checkDate(now time.Time) error {
	if s.Date <= DateOf(now, Zone(s.Batch.TimeZone)).AddDays(MaxDaysAhead) {
		return nil
	}
	return fault.Validation([]fault.Field{{Pointer: "/date", Code: "out_of_range", Detail: "This day is more than a year ahead."}})
}
