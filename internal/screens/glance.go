package screens

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/consent"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/team"
)

// Strip returns the figures at the top of the page of a player, for its coach.
func (s Service) Strip(ctx context.Context, by actor.Actor, playerID string) (consent.Strip, error) {
	var strip consent.Strip
	var err error
	if strip.Attended, strip.Marks, err = s.Attended.Share(ctx, by, playerID); err != nil {
		return strip, err
	}
	owed, err := s.Fees.Owed(ctx, by, []string{playerID})
	if err != nil {
		return strip, err
	}
	strip.Balance, strip.Currency = owed[playerID].Amount, owed[playerID].Currency
	results, err := s.Records.Measurements(ctx, by, playerID, "", progress.Measurement{}, 1)
	if err != nil || len(results) == 0 {
		return strip, err
	}
	strip.Metric, strip.Result = results[0].Metric, results[0].Text()
	return strip, nil
}

// news is what a family sees of a child on its first page.
type news struct {
	// Due is what is still to pay in Currency, and DueOn the first day on which it is due.
	Due      int64
	Currency string
	DueOn    team.Date
	Overdue  bool
	// Report is the title of the newest report; "" without one.
	Report   string
	ReportAt time.Time
	// Message is the newest message of the conversation with the coach, FromCoach says who wrote it; "" without one.
	Message   string
	FromCoach bool
	MessageAt time.Time
	// Metric and Result are from the newest measurement; "" without one.
	Metric, Result string
}

// news returns what is due, and the last message, report and result of players, for the calling guardian or student.
func (s Service) news(ctx context.Context, by actor.Actor, playerIDs []string) (map[string]news, error) {
	owed, err := s.Fees.Owed(ctx, by, playerIDs)
	if err != nil {
		return nil, err
	}
	reports, err := s.Records.NewestReports(ctx, by, playerIDs)
	if err != nil {
		return nil, err
	}
	results, err := s.Records.NewestMeasurements(ctx, by, playerIDs)
	if err != nil {
		return nil, err
	}
	written, err := s.Conversations.NewestEntries(ctx, by, playerIDs)
	if err != nil {
		return nil, err
	}
	all := map[string]news{}
	for _, id := range playerIDs {
		due, report, message := owed[id], reports[id], written[id]
		n := news{
			Due: due.Amount, Currency: due.Currency, DueOn: due.DueOn, Overdue: due.Overdue,
			Report: report.Title, ReportAt: report.CreatedAt, Message: message.Text, FromCoach: message.FromCoach, MessageAt: message.CreatedAt,
		}
		if m, found := results[id]; found {
			n.Metric, n.Result = m.Metric, m.Text()
		}
		all[id] = n
	}
	return all, nil
}
