package approval

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Player returns a player that is visible to by.
func (s *Service) Player(ctx context.Context, by actor.Actor, id string) (*Player, error) {
	return s.Store.Player(ctx, by, id)
}

// Availability returns which services work for the parties of a player that by may see.
func (s *Service) Availability(ctx context.Context, by actor.Actor, id string) (Availability, error) {
	status, err := s.Store.ConsentStatus(ctx, by, id)
	if err != nil {
		return Availability{}, err
	}
	return status.Availability(s.Rules, s.Now()), nil
}

// Players lists the players of a coach, newest first.
func (s *Service) Players(ctx context.Context, by actor.Actor, f Filter, page Page) ([]*Player, error) {
	return s.Store.Players(ctx, by.AccountID, f, page)
}

// PlayerName is a player in a list of choices.
type PlayerName struct{ ID, Name string }

// PlayerNames lists the newest players of a coach by name only.
func (s *Service) PlayerNames(ctx context.Context, by actor.Actor, limit int) ([]PlayerName, error) {
	return s.Store.PlayerNames(ctx, by.AccountID, limit)
}

// Links lists the players of the calling guardian or student, newest first.
func (s *Service) Links(ctx context.Context, by actor.Actor, page Page) ([]*Player, error) {
	return s.Store.Links(ctx, by, false, page)
}

// WaitingLinks lists the Links that wait for the answer of by, newest first.
func (s *Service) WaitingLinks(ctx context.Context, by actor.Actor, page Page) ([]*Player, error) {
	return s.Store.Links(ctx, by, true, page)
}

// PartyName returns the name of the calling guardian or student, as a coach entered it, or "".
func (s *Service) PartyName(ctx context.Context, by actor.Actor) (string, error) {
	return s.Store.PartyName(ctx, by)
}

// Status returns a player, the newest request of each party with its deliveries,
// and the history of both parties, oldest first.
func (s *Service) Status(ctx context.Context, by actor.Actor, id string) (*Player, []Record, error) {
	p, history, err := s.Store.PlayerStatus(ctx, by, id)
	if err != nil {
		return nil, nil, err
	}
	return p, hideReasons(by, history), nil
}

// hideReasons removes the reasons that by may not read.
func hideReasons(by actor.Actor, history []Record) []Record {
	for i := range history {
		if by.Role != actor.Coach && (history[i].Party != by.Role || history[i].ApproverID != by.AccountID) {
			history[i].Reason = ""
		}
	}
	return history
}

// Request returns a request that by sent or received, with its deliveries.
func (s *Service) Request(ctx context.Context, by actor.Actor, id string) (*Request, error) {
	if by.Role == actor.Student {
		if err := s.CheckAppAccess(ctx, by); err != nil {
			return nil, err
		}
	}
	return s.Store.Request(ctx, by, id)
}

// OwnRequest returns a request that by sent or received, also to a student that has
// not approved yet.
func (s *Service) OwnRequest(ctx context.Context, by actor.Actor, id string) (*Request, error) {
	return s.Store.Request(ctx, by, id)
}

// CheckVisible returns not_found unless by sent or received the request.
func (s *Service) CheckVisible(ctx context.Context, by actor.Actor, requestID string) error {
	_, err := s.Store.Request(ctx, by, requestID)
	return err
}

// Pending lists the pending consents of a coach's players, longest pending first.
func (s *Service) Pending(ctx context.Context, by actor.Actor, page Page) ([]PendingItem, error) {
	now := s.operation().Now
	return s.Store.Pending(ctx, by.AccountID, AdultBirthDate(now), now.Add(-s.Rules.ReminderWindow), page)
}

// CheckAppAccess returns approval_pending for a student without an approved link,
// who may only use the approval screen (spec section 3, rule 3).
func (s *Service) CheckAppAccess(ctx context.Context, by actor.Actor) error {
	approved, err := s.Store.AnyApproved(ctx, by.AccountID)
	if err == nil && !approved {
		err = fault.New(fault.Forbidden, "approval_pending", "Approve your profile first. Until then you can only use the approval screen.")
	}
	return err
}
