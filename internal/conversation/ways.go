package conversation

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

// Ways counts the people whom a message reaches on each channel. One person can have it on a channel that leaves the service and in the app.
type Ways struct {
	Chat, SMS, InApp int
	// ThenSMS are those of Chat who get an SMS if WhatsApp fails.
	ThenSMS int
}

// Ways returns what would leave.
func (p *Plan) Ways() Ways {
	people := map[numberOn]bool{}
	var w Ways
	for _, r := range p.Recipients {
		for _, s := range r.Sends {
			if on := (numberOn{s.Channel, r.number()}); s.Reason == "" && !people[on] {
				people[on] = true
				w.add(s.Channel, s.Stays, 1)
			}
		}
	}
	return w
}

func (w *Ways) add(c Channel, stays bool, n int) {
	switch {
	case c == SMS:
		w.SMS += n
	case c == InApp:
		w.InApp += n
	default:
		w.Chat += n
		if !stays {
			w.ThenSMS += n
		}
	}
}

// WaysOf returns how a message of the calling coach leaves or has left. What left by SMS after WhatsApp had failed counts as SMS.
func (s *Service) WaysOf(ctx context.Context, by actor.Actor, messageID string) (w Ways, err error) {
	rs, err := s.DB.Query(ctx, `
		SELECT d.channel, d.stays, d.account_id
		FROM team_messages m JOIN deliveries d ON d.team_message_id = m.id
		WHERE m.id = $1 AND m.coach_id = $2 AND d.state <> 'left_out'`, messageID, by.AccountID)
	type personOn struct{ channel, accountID string }
	people := map[personOn]bool{}
	_, err = database.Collect(rs, err, func(row database.Scanner) (struct{}, error) {
		var on personOn
		var stays bool
		err := row.Scan(&on.channel, &stays, database.IntoText(&on.accountID))
		if !people[on] {
			people[on] = true
			w.add(Channel(on.channel), stays, 1)
		}
		return struct{}{}, err
	})
	if err != nil {
		return w, fmt.Errorf("count the channels of message %s: %w", messageID, err)
	}
	return w, nil
}
