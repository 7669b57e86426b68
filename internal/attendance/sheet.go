package attendance

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// MaxMarkNote is the number of characters of a note about a mark.
const MaxMarkNote = 500

// PlayerMark is the mark of one player on a sheet.
type PlayerMark struct {
	PlayerID string
	// StudentName is empty in a mark that is about to be saved.
	StudentName string
	Mark        team.Mark
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
	Batch *team.Batch
	Date  team.Date
	// Version is 0 until attendance is taken, and increases with each change.
	Version int64
	// OutsideSchedule is true if the batch had a schedule, and no training that day, when
	// attendance was taken.
	OutsideSchedule bool
	TakenAt         time.Time
	UpdatedAt       time.Time
	// Marks are in the order of the player ids.
	Marks []PlayerMark
	// CannotCome are the players whose families said that they cannot come. Only Service.Sheet sets it.
	CannotCome map[string]bool
}

// Counts counts the marks.
func (s *Sheet) Counts() team.Counts {
	counts := team.Counts{}
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

// sortMarks orders the marks by player.
func (s *Sheet) sortMarks() {
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

// rowOf is the mark of a player, empty if there is none, and whether the player is in the batch.
type rowOf struct {
	PlayerMark
	inBatch, hasMedical bool
}

// rows lists the players of the batch by name, then those who left it and have a mark.
func (s *Sheet) rows(members []team.Membership) []rowOf {
	rows := make([]rowOf, 0, len(members))
	listed := map[string]bool{}
	for _, m := range members {
		row := rowOf{inBatch: true, hasMedical: m.HasMedical}
		if mark := s.find(m.PlayerID); mark != nil {
			row.PlayerMark = *mark
		}
		row.PlayerID, row.StudentName, listed[m.PlayerID] = m.PlayerID, m.StudentName, true
		rows = append(rows, row)
	}
	for _, m := range s.Marks {
		if !listed[m.PlayerID] {
			rows = append(rows, rowOf{PlayerMark: m})
		}
	}
	return rows
}

// apply makes a change that is saved at now.
func (s *Sheet) apply(c SheetChange, now time.Time) {
	if len(c.Set)+len(c.Removed) == 0 {
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
	s.sortMarks()
	if s.Version == 0 {
		s.TakenAt, s.OutsideSchedule = now, s.Batch.Schedule.Outside(s.Date)
	}
	s.Version++
	s.UpdatedAt = now
}

// MaxDaysAhead is how many days after today attendance can be noted, such as an excused absence in
// advance.
const MaxDaysAhead = 366

// Precondition is an If-Match header (RFC 9110, section 13.1.1).
type Precondition struct {
	// Given is false without the header.
	Given bool
	// Any is "*": any version that exists.
	Any      bool
	Versions []int64
}

// ParsePrecondition reads the values of If-Match: versions, with or without the quotes of
// an ETag. Tags that are not a version match none.
func ParsePrecondition(values []string) Precondition {
	p := Precondition{Given: len(values) > 0}
	for tag := range strings.SplitSeq(strings.Join(values, ","), ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" {
			p.Any = true
		}
		if n, err := strconv.ParseInt(strings.Trim(tag, `"`), 10, 64); err == nil && (tag == VersionTag(n) || tag == strconv.FormatInt(n, 10)) {
			p.Versions = append(p.Versions, n)
		}
	}
	return p
}

// VersionTag returns the ETag of a version.
func VersionTag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// Has reports whether the header names a version.
func (p Precondition) Has(version int64) bool { return slices.Contains(p.Versions, version) }

// check returns precondition_failed unless version is one that the caller has seen, and
// precondition_required if the header is missing although there is a version.
func (p Precondition) check(version int64, required bool) error {
	switch {
	case !p.Given && version > 0 && required:
		return fault.New(fault.PreconditionRequired, "precondition_required", "This sheet exists already. Read it, and send its ETag in If-Match.")
	case !p.Given, p.Any && version > 0, p.Has(version):
		return nil
	}
	return fault.New(fault.PreconditionFailed, "precondition_failed", "This sheet has changed since you read it. Apply your changes to the current one.")
}
