package player

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// Leave unlinks the calling guardian or student, who deletes the account, from a player. First the party
// answers: see AnswerLeaving. It does nothing for a player whom by does not see.
// text is what the person read, in language; empty for a caller of the API.
func (s *Service) Leave(ctx context.Context, by actor.Actor, playerID, language, text string) error {
	var read approval.Wording
	if text != "" {
		read = s.WordingOf(language, text)
	}
	var answered *approval.Record
	var coachID string
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		answered = nil
		p, err := s.loadPlayer(ctx, tx, playerID, loadOptions{})
		if fault.KindOf(err) == fault.NotFound || err == nil && !p.VisibleTo(by) {
			return nil
		}
		if err != nil {
			return err
		}
		coachID = p.CoachID
		w := s.wordingFor(by, p.Player, read)
		c, err := s.changePlayer(ctx, tx, p, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
			return p.AnswerLeaving(by, w, op)
		})
		if err != nil {
			return err
		}
		answered = c.History
		_, err = s.changePlayer(ctx, tx, p, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
			return p.Leave(by, w, c.Save, op), nil
		})
		return err
	})
	if err == nil && answered != nil {
		s.logDecision(ctx, coachID, answered)
	}
	return err
}

// RemoveForErasure removes a player whom an operator erases, and tells the coach without naming the player. It returns
// not_found for a removed one.
func (s *Service) RemoveForErasure(ctx context.Context, playerID string) error {
	_, err := s.update(ctx, playerID, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		c, err := p.Remove(actor.Actor{AccountID: p.CoachID, Role: actor.Coach}, op)
		c.By = actor.Actor{} // no person of the service
		c.Events = append(c.Events, event.Event{Type: event.PlayerErased, CoachID: p.CoachID})
		return c, err
	})
	return err
}
