package store_test

import (
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/training"
)

// trainings returns the service of trainings on the database of p.
func (p *fixture) trainings() *training.Service {
	return &training.Service{DB: p.db, Consent: p.Access(), CheckFeature: anyFeature}
}

// trainingOf adds a match of a batch on the day after today, and returns its id.
func (p *fixture) trainingOf(by actor.Actor, batchID string) string {
	p.Helper()
	t, err := p.trainings().Add(bg, by, batchID, training.New{
		Date: team.DateOf(p.clock.Now().Add(24*time.Hour), time.UTC), Start: 9 * 60, End: 10 * 60, Kind: training.Match, Opponent: "Tigers",
	})
	ok(p, err)
	return t.ID
}

// trainingStatements runs the statements on trainings.
func (p *fixture) trainingStatements() {
	p.Helper()
	by, s := p.coach(198), p.trainings()
	b := p.batch(by, "U12")
	a := p.add(by, "Asha Rao", number(199), number(200))
	ok(p, p.batches().Join(bg, by, b.ID, a.ID))
	guardian := p.as(actor.Guardian, number(199))
	ok(p, p.decide(guardian, a.ID, approval.Approve))
	id := p.trainingOf(by, b.ID)
	venue := "Hall"
	_, _, err := s.Edit(bg, by, id, training.Patch{Venue: &venue})
	ok(p, err)
	_, asked, err := s.Ask(bg, by, id)
	if err != nil || asked != 1 {
		p.Fatal(asked, err)
	}
	if told, err := s.Telling(bg, by, id); err != nil || told.People != 1 || len(told.Rest) != 1 || told.Rest[0].StudentName == "" {
		p.Fatal(told, err)
	}
	link, err := s.LinkURL(bg, message.Copy{Type: message.TrainingAsked, AccountID: guardian.AccountID, Data: message.Data{PlayerID: a.ID, TrainingID: id}})
	ok(p, err)
	_, err = s.ByLink(bg, strings.TrimPrefix(link, "/t/"))
	ok(p, err)
	_, err = s.Answer(bg, guardian, a.ID, id, true, "")
	ok(p, err)
	_, err = s.OfPlayer(bg, guardian, a.ID, id)
	ok(p, err)
	today := team.DateOf(p.clock.Now(), time.UTC)
	_, err = s.List(bg, by, b.ID, training.Period{From: today, To: today.AddDays(7)})
	ok(p, err)
	_, _, err = s.Training(bg, by, id)
	ok(p, err)
	open, _, err := p.attendance().Today(bg, by)
	ok(p, err)
	_, err = s.Today(bg, by, open)
	ok(p, err)
	_, err = s.Next(bg, guardian, []string{a.ID})
	ok(p, err)
	_, err = s.OfFamily(bg, guardian, a.ID)
	ok(p, err)
	ok(p, s.EachChanged(bg, by, func(*training.Training) error { return nil }))
	_, err = s.AllAnswers(bg, by, training.ExportedAnswer{}, 5)
	ok(p, err)
	for _, user := range []struct {
		by     actor.Actor
		player string
	}{{by, ""}, {guardian, a.ID}} {
		c, err := s.NewCalendar(bg, user.by, user.player)
		ok(p, err)
		_, err = s.CalendarOf(bg, user.by, user.player)
		ok(p, err)
		_, err = s.Feed(bg, strings.TrimSuffix(strings.TrimPrefix(c.URL, "/calendars/"), ".ics"))
		ok(p, err)
		ok(p, s.EndCalendar(bg, user.by, user.player))
	}
	ok(p, p.Remove(bg, by, a.ID))
}
