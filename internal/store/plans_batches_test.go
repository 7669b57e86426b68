package store_test

import (
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/batch"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/training"
)

// batches returns the service of batches on the database of p.
func (p *fixture) batches() *batch.Service {
	return &batch.Service{DB: p.db, Consent: p.Access(), CheckFeature: anyFeature, Upcoming: training.Upcoming}
}

func anyFeature(string, string) error { return nil }

// batch adds a batch that trains on Mondays.
func (p *fixture) batch(by actor.Actor, name string) *team.Batch {
	p.Helper()
	b, err := p.batches().Add(bg, by, batch.Patch{Name: &name, Schedule: &team.Schedule{{Weekday: time.Monday, Start: 17 * 60, End: 18 * 60}}})
	ok(p, err)
	return b
}

// attendance returns the service of attendance on the database of p.
func (p *fixture) attendance() *attendance.Service {
	return &attendance.Service{DB: p.db, Consent: p.Access(), CheckFeature: anyFeature, CannotCome: training.CannotCome}
}

// attendanceStatements runs the statements of attendance with a player who is in the batch.
func (p *fixture) attendanceStatements(by actor.Actor, batchID, playerID string) {
	p.Helper()
	const day team.Date = "2026-03-02"
	s := p.attendance()
	_, err := s.Replace(bg, by, batchID, day, []attendance.NewMark{{PlayerID: playerID, Mark: team.Late, Note: ptr("Flat tyre")}}, attendance.Precondition{})
	ok(p, err)
	_, err = s.Merge(bg, by, batchID, day, []attendance.NewMark{{PlayerID: playerID, Mark: team.Present}}, attendance.Precondition{})
	ok(p, err)
	_, players, err := s.Sheet(bg, by, batchID, day)
	if err != nil || len(players) == 0 {
		p.Fatal(players, err)
	}
	_, err = s.Taken(bg, by)
	ok(p, err)
	_, err = s.Superseded(bg, by, batchID, day)
	ok(p, err)
	_, err = s.Sheets(bg, by, batchID, attendance.Period{}, "", 5)
	ok(p, err)
	_, _, err = s.Share(bg, by, playerID)
	ok(p, err)
	_, err = s.OfPlayer(bg, by, playerID, attendance.Period{}, attendance.Attended{}, 5)
	ok(p, err)
	_, _, err = s.Today(bg, by)
	ok(p, err)
	ok(p, s.Each(bg, by, func(attendance.Attended) error { return nil }))
	_, err = s.Replace(bg, by, batchID, day, nil, attendance.Precondition{Given: true, Any: true})
	ok(p, err)
}

// batchStatements runs the statements on batches and attendance.
func (p *fixture) batchStatements() {
	p.Helper()
	by, s := p.coach(95), p.batches()
	b := p.batch(by, "U12")
	_, err := s.AddOnce(bg, by, b.ID, batch.Patch{Name: &b.Name, Schedule: &b.Schedule})
	ok(p, err)
	a := p.add(by, "Asha Rao", number(96), number(97))
	ok(p, s.Join(bg, by, b.ID, a.ID))
	ok(p, s.Leave(bg, by, b.ID, a.ID))
	ok(p, s.Join(bg, by, b.ID, a.ID))
	_, err = p.Add(bg, by, child("Bela Rao", ""), mother(number(96)), b.ID)
	ok(p, err)
	_, err = p.Players(bg, by, approval.Filter{BatchID: b.ID}, approval.Page{Limit: 5})
	ok(p, err)
	_, err = s.Players(bg, by, b.ID)
	ok(p, err)
	_, err = s.Edit(bg, by, b.ID, batch.Patch{Venue: ptr("North ground")})
	ok(p, err)
	for _, party := range []actor.Actor{p.as(actor.Guardian, number(96)), p.as(actor.Student, number(97))} {
		ok(p, p.decide(party, a.ID, approval.Approve))
		_, _, err := s.Schedule(bg, party, a.ID)
		ok(p, err)
	}
	p.attendanceStatements(by, b.ID, a.ID)
	_, err = player.RequestsAbout(bg, p.db, by.AccountID, []string{a.ID})
	ok(p, err)
	_, err = player.DecisionsAbout(bg, p.db, by.AccountID, []string{a.ID})
	ok(p, err)
	ok(p, p.Remove(bg, by, a.ID))
	ok(p, s.Archive(bg, by, b.ID))
	for _, archived := range []bool{false, true} {
		_, err = s.List(bg, by, archived, "", 5)
		ok(p, err)
	}
}
