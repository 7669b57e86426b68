// Package attendance owns the sheets of attendance: their rules, SQL, JSON, pages, templates and
// texts. A sheet has the marks of the players of a batch on a day.
package attendance

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// feature is the feature of a tier without which a coach changes no sheets. Reading needs none, so a
// coach with a smaller tier still sees everything.
const feature = "attendance"

// Service reads and changes sheets. A batch or player of another coach is not_found.
type Service struct {
	DB *store.DB
	// Consent are the rules that decide who has which service of a player.
	Consent      player.Access
	CheckFeature team.CheckFeature
	// CannotCome returns the players of a batch of the coach who cannot come on a day.
	CannotCome func(ctx context.Context, tx *store.Tx, coachID, batchID string, date team.Date) (map[string]bool, error)
}

// Now returns the time of the database.
func (s *Service) Now() time.Time { return s.DB.Now() }

// Sheet returns a sheet of the calling coach, and the players of its batch who have a mark or may
// get one, by name. A sheet that was not taken has version 0.
func (s *Service) Sheet(ctx context.Context, by actor.Actor, batchID string, date team.Date) (sheet *Sheet, players []team.Membership, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		b, err := tx.Batch(ctx, by.AccountID, batchID)
		if err != nil {
			return err
		}
		if sheet, err = read(ctx, tx, b, date); err != nil {
			return err
		}
		if sheet.CannotCome, err = s.CannotCome(ctx, tx, by.AccountID, batchID, date); err != nil {
			return err
		}
		if players, err = tx.BatchPlayers(ctx, by.AccountID, batchID); err != nil {
			return err
		}
		ids := make([]string, len(players))
		for i, m := range players {
			ids[i] = m.PlayerID
		}
		members, err := readMembers(ctx, tx, batchID, ids)
		for i, id := range ids {
			players[i].Earlier = members[id].Earlier
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if sheet.Version == 0 {
		sheet.OutsideSchedule = sheet.Batch.Schedule.Outside(date)
	}
	zone := team.Zone(sheet.Batch.TimeZone)
	players = slices.DeleteFunc(players, func(m team.Membership) bool {
		return sheet.find(m.PlayerID) == nil && !mayMark(m, date, zone, time.Time{})
	})
	return sheet, players, nil
}

// Change is the type of Service.Replace and Service.Merge. With an error of the precondition they also
// return the current sheet.
type Change func(ctx context.Context, by actor.Actor, batchID string, date team.Date, marks []NewMark, match Precondition) (*Sheet, error)

// Replace changes a sheet by Sheet.Replace.
func (s *Service) Replace(ctx context.Context, by actor.Actor, batchID string, date team.Date, marks []NewMark, match Precondition) (*Sheet, error) {
	return s.update(ctx, by, batchID, date, marks, match, (*Sheet).Replace)
}

// Merge changes a sheet by Sheet.Merge.
func (s *Service) Merge(ctx context.Context, by actor.Actor, batchID string, date team.Date, marks []NewMark, match Precondition) (*Sheet, error) {
	return s.update(ctx, by, batchID, date, marks, match, (*Sheet).Merge)
}

// update loads a sheet, lets change change it, and saves it. Concurrent updates of a batch run one
// after the other.
func (s *Service) update(ctx context.Context, by actor.Actor, batchID string, date team.Date, marks []NewMark, match Precondition,
	change func(*Sheet, SheetUpdate) (SheetChange, error),
) (sheet *Sheet, err error) {
	ids := make([]string, len(marks))
	for i, m := range marks {
		ids[i] = m.PlayerID
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		sheet = nil
		b, err := tx.LockBatch(ctx, by.AccountID, batchID)
		if err != nil {
			return err
		}
		c, err := tx.TeamCoach(ctx, by.AccountID)
		if err != nil {
			return err
		}
		stored, err := read(ctx, tx, b, date)
		if err != nil {
			return err
		}
		members, err := readMembers(ctx, tx, batchID, ids)
		if err != nil {
			return err
		}
		if err := s.CheckFeature(c.Tier, feature); err != nil {
			return err
		}
		before := stored.Version
		changed, err := change(stored, SheetUpdate{By: by, Now: s.Now(), Marks: marks, IfMatch: match, Members: members})
		if err == nil && changed.Saves() {
			err = save(ctx, tx, stored, before, changed)
		}
		sheet = stored
		return err
	})
	if kind := fault.KindOf(err); err != nil && kind != fault.PreconditionFailed && kind != fault.PreconditionRequired {
		return nil, err
	}
	return sheet, err
}

// EachOfPlayer calls fn with all marks of a player in a period, newest day first.
func (s *Service) EachOfPlayer(ctx context.Context, by actor.Actor, playerID string, p Period, fn func(Attended) error) error {
	return each(func(last Attended) ([]Attended, error) {
		page, err := s.OfPlayer(ctx, by, playerID, p, last, eachPage)
		if err != nil {
			return nil, err
		}
		return page.Marks, nil
	}, fn)
}

// EachSheet calls fn with all sheets of a batch in a period, newest day first.
func (s *Service) EachSheet(ctx context.Context, by actor.Actor, batchID string, p Period, fn func(team.SheetSummary) error) error {
	return each(func(last team.SheetSummary) ([]team.SheetSummary, error) {
		return s.Sheets(ctx, by, batchID, p, last.Date, eachPage)
	}, fn)
}

// Each calls fn with all marks of the calling coach, by batch, day and player.
func (s *Service) Each(ctx context.Context, by actor.Actor, fn func(Attended) error) error {
	return each(func(last Attended) ([]Attended, error) { return s.marksAfter(ctx, by, last, eachPage) }, fn)
}

// eachPage is how many objects the Each methods load at a time.
const eachPage = 200

// each calls fn with the objects of all pages. page returns those after last, at first the zero value.
func each[T any](page func(last T) ([]T, error), fn func(T) error) error {
	for last := *new(T); ; {
		items, err := page(last)
		if err != nil {
			return err
		}
		for _, item := range items {
			if err := fn(item); err != nil {
				return err
			}
			last = item
		}
		if len(items) < eachPage {
			return nil
		}
	}
}

// Taken reports whether the calling coach has taken attendance, on any day.
func (s *Service) Taken(ctx context.Context, by actor.Actor) (taken bool, err error) {
	return taken, s.DB.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM attendance_sheets WHERE coach_id = $1)`, by.AccountID).Scan(&taken)
}

// Today returns the open batches of the calling coach, newest first. today has the batches with
// a training or a sheet on this day, in the order of the trainings.
func (s *Service) Today(ctx context.Context, by actor.Actor) (open []*team.Batch, today []team.Today, err error) {
	now := s.Now()
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		today = nil
		if open, err = store.BatchesOf(ctx, tx, by.AccountID, false, "", team.MaxBatches); err != nil || len(open) == 0 {
			return err
		}
		rows := make([][]any, len(open))
		today = make([]team.Today, len(open))
		for i, b := range open {
			date := team.DateOf(now, team.Zone(b.TimeZone))
			rows[i], today[i] = []any{b.ID, string(date)}, team.Today{Batch: b, Date: date, Slots: b.Schedule.On(date)}
		}
		sheets, err := sheetsOn(ctx, tx, rows)
		for i, t := range today {
			today[i].Sheet = sheets[t.Batch.ID]
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	today = slices.DeleteFunc(today, func(t team.Today) bool { return t.Sheet == nil && len(t.Slots) == 0 })
	slices.SortStableFunc(today, func(a, b team.Today) int { return a.Start().Compare(b.Start()) })
	return open, today, nil
}
