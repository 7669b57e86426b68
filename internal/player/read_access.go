package player

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Availability returns which services work for the parties of a player that by may see.
func (s *Service) Availability(ctx context.Context, by actor.Actor, id string) (approval.Availability, error) {
	status, err := ReadConsentStatus(ctx, s.DB, by, id)
	if err != nil {
		return approval.Availability{}, err
	}
	return status.Availability(s.Rules, s.DB.Now()), nil
}

// Status returns a player, the newest request of each party with its deliveries,
// and the history of both parties, oldest first.
func (s *Service) Status(ctx context.Context, by actor.Actor, id string) (*approval.Player, []approval.Record, error) {
	p, history, err := s.playerStatus(ctx, by, id)
	if err != nil {
		return nil, nil, err
	}
	return p, s.shownHistory(p, by, history), nil
}

// shownHistory returns the decisions about p that by may see, without the reasons that by may not read, and what other people
// read. A guardian sees no decision of another guardian, nor of the former holder of a corrected number.
func (s *Service) shownHistory(p *approval.Player, by actor.Actor, history []approval.Record) []approval.Record {
	if by.Role == actor.Guardian {
		history = slices.DeleteFunc(history, func(r approval.Record) bool { return r.Party == by.Role && r.ApproverID != by.AccountID })
	}
	for i := range history {
		if by.Role != actor.Coach && (history[i].Party != by.Role || history[i].ApproverID != by.AccountID) {
			history[i].Reason, history[i].Wording, history[i].Sealed = "", approval.Wording{}, ""
		}
	}
	s.openShown(history)
	return history
}

// Request returns a request that by sent or received, with its deliveries.
func (s *Service) Request(ctx context.Context, by actor.Actor, id string) (*approval.Request, error) {
	if by.Role == actor.Student {
		if err := s.CheckAppAccess(ctx, by); err != nil {
			return nil, err
		}
	}
	return s.OwnRequest(ctx, by, id)
}

// CheckAppAccess returns approval_pending for a student without an approved link,
// who may only use the approval screen (spec section 3, rule 3).
func (s *Service) CheckAppAccess(ctx context.Context, by actor.Actor) error {
	approved, err := s.anyApproved(ctx, by.AccountID)
	if err == nil && !approved {
		err = fault.New(fault.Forbidden, "approval_pending", "Approve your profile first. Until then you can only use the approval screen.")
	}
	return err
}

// eachPage is the number of players that EachPlayer reads at a time.
const eachPage = 200

// EachPlayer calls fn with each player of the calling coach that matches f, the newest first,
// until fn returns an error.
func (s *Service) EachPlayer(ctx context.Context, by actor.Actor, f approval.Filter, fn func(*approval.Player) error) error {
	page := approval.Page{Limit: eachPage}
	for {
		players, err := s.Players(ctx, by, f, page)
		if err != nil {
			return err
		}
		for _, p := range players {
			if err := fn(p); err != nil {
				return err
			}
		}
		if len(players) < eachPage {
			return nil
		}
		page.After.ID = players[len(players)-1].ID
	}
}
