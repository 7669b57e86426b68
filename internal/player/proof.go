package player

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// ProofEnded makes the approvals pending again that need the proof of an account. The caller has ended the proof in the
// same transaction. A yes that read the proof meanwhile runs again: this changes the version of each player of the
// account.
func (s *Service) ProofEnded(ctx context.Context, tx *store.Tx, accountID string) error {
	if s.Rules.GuardianProof != approval.ProofRequired {
		return nil
	}
	rs, err := tx.Query(ctx, `
		UPDATE players SET version = version + 1
		WHERE deleted_at IS NULL AND id IN (SELECT a.player_id FROM parties a WHERE a.account_id = $1 AND a.role = 'guardian' AND a.deleted_at IS NULL)
		RETURNING id`, accountID)
	ids, err := database.CollectTexts(rs, err)
	if err != nil {
		return fmt.Errorf("count the end of a proof in the players of account %s: %w", accountID, err)
	}
	slices.Sort(ids)
	for _, id := range ids {
		p, err := s.loadPlayer(ctx, tx, id, loadOptions{})
		if err != nil {
			return err
		}
		_, err = s.changePlayer(ctx, tx, p, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
			return p.EndProof(accountID, s.Rules, op), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ProofEnding returns the events that tell a guardian that its proof ends on a day, one for each coach whose approval
// needs it.
func (s *Service) ProofEnding(ctx context.Context, tx *store.Tx, accountID, day string) ([]event.Event, error) {
	if s.Rules.GuardianProof != approval.ProofRequired {
		return nil, nil
	}
	by := actor.Actor{AccountID: accountID, Role: actor.Guardian}
	players, err := s.readPlayers(tx.Query(ctx, playerSelect+`
		WHERE p.id IN (SELECT o.player_id FROM parties o WHERE o.account_id = $1 AND o.role = 'guardian' AND o.deleted_at IS NULL)`, accountID))
	if err != nil {
		return nil, fmt.Errorf("read the players of account %s: %w", accountID, err)
	}
	for _, p := range players {
		a := p.PartyOf(by)
		if a != nil && a.Consent.State == approval.Approved && !p.Adult(tx.Now) { // one is enough: the proof is the same for all
			e := p.NewEvent(event.ProofEnding, a)
			e.Day = day
			return []event.Event{e}, nil
		}
	}
	return nil, nil
}
