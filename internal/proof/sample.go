package proof

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

// sampleSize is how many players a call of Sample checks.
const sampleSize = 1000

// Sample checks the approvals of the next sampleSize players as Audit does. A contradiction of an approval is a security event, and
// turns the app services of the party off. Each call goes on where the last one ended.
func (s *Service) Sample(ctx context.Context) error {
	if s.Gate.Closed() {
		return nil // no party has app services
	}
	for range sampleSize / playersBatch {
		players, err := s.readPlayers(ctx, s.sampled)
		if err != nil {
			return fmt.Errorf("check approvals: %w", err)
		}
		for _, p := range players {
			s.sampled = p.id
			if err := s.checkApprovals(ctx, p); err != nil {
				return err
			}
		}
		if len(players) < playersBatch {
			s.sampled = "" // the next call begins again
			return nil
		}
	}
	return nil
}

// checkApprovals withholds the approvals of a player that its records contradict.
func (s *Service) checkApprovals(ctx context.Context, p *copyOfPlayer) error {
	if p.deletedAt != 0 || !slices.ContainsFunc(p.parties, func(a copyOfParty) bool { return a.state == approval.Approved }) {
		return nil
	}
	found := s.replay(p)
	version := p.version
	for _, party := range p.parties {
		for _, f := range found {
			if party.state != approval.Approved || f.settled || f.party != "" && (f.party != party.role || f.guardianID != party.guardianID) {
				continue
			}
			withheld, err := s.withhold(ctx, p.id, party.role, party.guardianID, version, f.text)
			if err != nil {
				return err
			}
			if withheld {
				version++
			}
			break
		}
	}
	return nil
}

// withhold turns the app services of a party off, and tells the operators.
func (s *Service) withhold(ctx context.Context, playerID string, party actor.Role, guardianID string, version int64, problem string) (bool, error) {
	if s.Withhold != nil {
		withheld, err := s.Withhold(ctx, playerID, party, guardianID, version)
		if err != nil {
			return false, fmt.Errorf("withhold the services of player %s: %w", playerID, err)
		}
		if !withheld {
			return false, nil // it changed meanwhile; a later sample checks it
		}
	}
	if s.SecurityEvent != nil {
		s.SecurityEvent(ctx, "consent_unproved", slog.String("player_id", playerID), slog.String("party", string(party)), slog.String("reason", problem))
	}
	return true, nil
}
