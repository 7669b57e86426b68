package team

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Period is a range of days. The zero Period has every day.
type Period struct{ From, To Date }

// bounds returns p with both bounds set.
func (p Period) bounds() Period {
	if p.From == "" {
		p.From = FirstDate
	}
	if p.To == "" {
		p.To = LastDate.AddDays(MaxDaysAhead)
	}
	return p
}

// Check returns a fault if p ends before it begins.
func (p Period) Check() error {
	if p.From == "" || p.To == "" || p.From <= p.To {
		return nil
	}
	return fault.Validation([]fault.Field{{Pointer: "/to", Code: "invalid_value", Detail: "This must not be before the first day."}})
}

// AttendanceMark is a mark of a player, with its batch and day.
type AttendanceMark struct {
	BatchID   string
	BatchName string
	Date      Date
	PlayerMark
	OutsideSchedule bool
}

// AttendanceKey is the position of an AttendanceMark in a list, newest day first. The zero
// AttendanceKey is the start.
type AttendanceKey struct {
	Date    Date
	BatchID string
}

// MonthCounts are the marks of a player in a month, YYYY-MM.
type MonthCounts struct {
	Month  string
	Counts Counts
}

// PlayerAttendance is a page of the marks of a player, with the totals of the whole period.
type PlayerAttendance struct {
	Marks []AttendanceMark
	// Months are newest first.
	Months []MonthCounts
}

// SortMonths orders the months, the newest first.
func (a *PlayerAttendance) SortMonths() {
	slices.SortFunc(a.Months, func(m, n MonthCounts) int { return strings.Compare(n.Month, m.Month) })
}

// Counts returns the totals of the period.
func (a *PlayerAttendance) Counts() Counts {
	all := Counts{}
	for _, m := range a.Months {
		for mark, n := range m.Counts {
			all[mark] += n
		}
	}
	return all
}

// Attended is the number of players who were present or late.
func (c Counts) Attended() int { return c[Present] + c[Late] }

// SheetSummary is a sheet without its marks.
type SheetSummary struct {
	Date            Date
	Version         int64
	OutsideSchedule bool
	Counts          Counts
	UpdatedAt       time.Time
}

// Today is a batch on the current day of its time zone, with a training or a sheet.
type Today struct {
	Batch *Batch
	Date  Date
	Slots Schedule
	// Sheet is nil while attendance is missing.
	Sheet *SheetSummary
}

// AttendanceStore stores attendance; package store implements it. Every call of a coach
// returns not_found for a batch or player of another coach.
type AttendanceStore interface {
	// Sheet reads a sheet and the players of its batch, by name. A sheet that was not taken
	// has version 0.
	Sheet(ctx context.Context, coachID, batchID string, date Date) (*Sheet, []Membership, error)
	// UpdateSheet loads a sheet and the members of playerIDs, lets fn change it, and saves
	// the change. fn may run more than once. If it fails, the sheet is not saved.
	UpdateSheet(ctx context.Context, coachID, batchID string, date Date, playerIDs []string, fn func(*Sheet, map[string]Membership, Coach) (SheetChange, error)) error
	// Superseded lists the marks of a sheet that no longer count, oldest first.
	Superseded(ctx context.Context, coachID, batchID string, date Date) ([]PlayerMark, error)
	// Sheets lists the sheets of a batch on days before after, newest day first.
	Sheets(ctx context.Context, coachID, batchID string, p Period, after Date, limit int) ([]SheetSummary, error)
	// PlayerAttendance lists the marks of a player. The caller is the player's coach, or a
	// linked guardian or student who has the app.
	PlayerAttendance(ctx context.Context, by actor.Actor, playerID string, p Period, after AttendanceKey, limit int) (*PlayerAttendance, error)
	// Today lists the open batches of a coach, and the sheets of those that dates names.
	Today(ctx context.Context, coachID string, dates func([]*Batch) map[string]Date) ([]*Batch, map[string]SheetSummary, error)
	// CoachAttendance lists the marks of all batches of a coach, by batch and day.
	CoachAttendance(ctx context.Context, coachID string, after CoachAttendanceKey, limit int) ([]AttendanceMark, error)
}

// CoachAttendanceKey is the position of an AttendanceMark in AttendanceStore.CoachAttendance.
type CoachAttendanceKey struct {
	AttendanceKey
	PlayerID string
}

// Attendance is the attendance of batches.
type Attendance struct {
	Store        AttendanceStore
	CheckFeature CheckFeature
	Now          func() time.Time
}

func (s *Attendance) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

// Sheet returns a sheet of the calling coach, and the players of its batch who have a mark or may
// get one, by name.
func (s *Attendance) Sheet(ctx context.Context, by actor.Actor, batchID string, date Date) (*Sheet, []Membership, error) {
	sheet, players, err := s.Store.Sheet(ctx, by.AccountID, batchID, date)
	if err != nil {
		return nil, nil, err
	}
	if sheet.Version == 0 {
		sheet.OutsideSchedule = sheet.Batch.Schedule.Outside(date)
	}
	zone := Zone(sheet.Batch.TimeZone)
	players = slices.DeleteFunc(players, func(m Membership) bool {
		return sheet.find(m.PlayerID) == nil && !m.mayMark(date, zone, time.Time{})
	})
	return sheet, players, nil
}

// Replace replaces the marks of a sheet: see Sheet.Replace. With an error of the
// precondition it also returns the current sheet.
func (s *Attendance) Replace(ctx context.Context, by actor.Actor, batchID string, date Date, marks []NewMark, match Precondition) (*Sheet, error) {
	return s.update(ctx, by, batchID, date, marks, match, (*Sheet).Replace)
}

// Merge sets marks of a sheet: see Sheet.Merge. With an error of the precondition it also
// returns the current sheet.
func (s *Attendance) Merge(ctx context.Context, by actor.Actor, batchID string, date Date, marks []NewMark, match Precondition) (*Sheet, error) {
	return s.update(ctx, by, batchID, date, marks, match, (*Sheet).Merge)
}

func (s *Attendance) update(ctx context.Context, by actor.Actor, batchID string, date Date, marks []NewMark, match Precondition,
	change func(*Sheet, SheetUpdate) (SheetChange, error),
) (*Sheet, error) {
	ids := make([]string, len(marks))
	for i, m := range marks {
		ids[i] = m.PlayerID
	}
	var sheet *Sheet
	err := s.Store.UpdateSheet(ctx, by.AccountID, batchID, date, ids, func(stored *Sheet, members map[string]Membership, c Coach) (SheetChange, error) {
		sheet = stored
		if err := s.CheckFeature(c.Tier, AttendanceFeature); err != nil {
			return SheetChange{}, err
		}
		return change(stored, SheetUpdate{By: by, Now: s.now(), Marks: marks, IfMatch: match, Members: members})
	})
	if err != nil && !isPrecondition(err) {
		return nil, err
	}
	return sheet, err
}

// ChangeSheet is the type of Attendance.Replace and Attendance.Merge.
type ChangeSheet func(ctx context.Context, by actor.Actor, batchID string, date Date, marks []NewMark, match Precondition) (*Sheet, error)

func isPrecondition(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && (f.Kind == fault.PreconditionFailed || f.Kind == fault.PreconditionRequired)
}

// Superseded lists the marks of a sheet of the calling coach that no longer count.
func (s *Attendance) Superseded(ctx context.Context, by actor.Actor, batchID string, date Date) ([]PlayerMark, error) {
	return s.Store.Superseded(ctx, by.AccountID, batchID, date)
}

// Sheets lists the sheets of a batch of the calling coach, newest day first.
func (s *Attendance) Sheets(ctx context.Context, by actor.Actor, batchID string, p Period, after Date, limit int) ([]SheetSummary, error) {
	return s.Store.Sheets(ctx, by.AccountID, batchID, p.bounds(), after, limit)
}

// OfPlayer lists the marks of a player, newest day first. A guardian or student reads
// no notes. Error: see Access.
func (s *Attendance) OfPlayer(ctx context.Context, by actor.Actor, playerID string, p Period, after AttendanceKey, limit int) (*PlayerAttendance, error) {
	a, err := s.Store.PlayerAttendance(ctx, by, playerID, p.bounds(), after, limit)
	if err != nil {
		return nil, err
	}
	if by.Role != actor.Coach {
		for i := range a.Marks {
			a.Marks[i].Note = ""
		}
	}
	return a, nil
}

// EachOfPlayer calls fn with all marks of a player in a period, newest day first.
func (s *Attendance) EachOfPlayer(ctx context.Context, by actor.Actor, playerID string, p Period, fn func(AttendanceMark) error) error {
	for after := (AttendanceKey{}); ; {
		page, err := s.OfPlayer(ctx, by, playerID, p, after, eachPage)
		if err != nil {
			return err
		}
		for _, m := range page.Marks {
			if err := fn(m); err != nil {
				return err
			}
			after = AttendanceKey{m.Date, m.BatchID}
		}
		if len(page.Marks) < eachPage {
			return nil
		}
	}
}

// EachSheet calls fn with all sheets of a batch in a period, newest day first.
func (s *Attendance) EachSheet(ctx context.Context, by actor.Actor, batchID string, p Period, fn func(SheetSummary) error) error {
	for after := Date(""); ; {
		page, err := s.Sheets(ctx, by, batchID, p, after, eachPage)
		if err != nil {
			return err
		}
		for _, sheet := range page {
			if err := fn(sheet); err != nil {
				return err
			}
			after = sheet.Date
		}
		if len(page) < eachPage {
			return nil
		}
	}
}

// Each calls fn with all marks of the calling coach, by batch and day.
func (s *Attendance) Each(ctx context.Context, by actor.Actor, fn func(AttendanceMark) error) error {
	for after := (CoachAttendanceKey{}); ; {
		page, err := s.Store.CoachAttendance(ctx, by.AccountID, after, eachPage)
		if err != nil {
			return err
		}
		for _, m := range page {
			if err := fn(m); err != nil {
				return err
			}
			after = CoachAttendanceKey{AttendanceKey{m.Date, m.BatchID}, m.PlayerID}
		}
		if len(page) < eachPage {
			return nil
		}
	}
}

// Today returns the open batches of the calling coach, newest first. today has the batches with
// a training or a sheet on this day, in the order of the trainings.
func (s *Attendance) Today(ctx context.Context, by actor.Actor) (open []*Batch, today []Today, err error) {
	now := s.now()
	dates := map[string]Date{}
	open, sheets, err := s.Store.Today(ctx, by.AccountID, func(batches []*Batch) map[string]Date {
		for _, b := range batches {
			dates[b.ID] = DateOf(now, Zone(b.TimeZone))
		}
		return dates
	})
	if err != nil {
		return nil, nil, err
	}
	for _, b := range open {
		t := Today{Batch: b, Date: dates[b.ID], Slots: b.Schedule.On(dates[b.ID])}
		if sheet, taken := sheets[b.ID]; taken {
			t.Sheet = &sheet
		}
		if t.Sheet != nil || len(t.Slots) > 0 {
			today = append(today, t)
		}
	}
	slices.SortStableFunc(today, func(a, b Today) int { return a.start().Compare(b.start()) })
	return open, today, nil
}

// start returns when the first training of the day starts; without one, the end of the day.
func (t Today) start() time.Time {
	zone := Zone(t.Batch.TimeZone)
	if len(t.Slots) == 0 {
		return t.Date.End(zone)
	}
	return t.Date.At(t.Slots[0].Start, zone)
}
