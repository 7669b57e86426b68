package approval

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// AskedParty is the party that a link asked, and the state of its request.
type AskedParty struct {
	By        actor.Actor
	RequestID string
	PlayerID  string
	State     RequestState
}

// DisputeByLink is Dispute without a session, for the holder of a valid link that left to
// the asked number itself. It ends only an open request. It is no error if the request is
// disputed already. Errors: not_found, no_open_request.
func (s *Service) DisputeByLink(ctx context.Context, tokenHash []byte) error {
	asked, err := s.askedParty(ctx, tokenHash, s.Now())
	if err != nil || asked.State == RequestDisputed {
		return err
	}
	_, err = s.update(ctx, asked.PlayerID, LoadOptions{}, func(p *Player, op Operation) (Change, error) {
		return p.Dispute(asked.By, asked.RequestID, op)
	})
	if fault.KindOf(err) != fault.Conflict {
		return err
	}
	// A concurrent request closed it: perhaps the same one, sent twice.
	if asked, again := s.askedParty(ctx, tokenHash, s.Now()); again == nil && asked.State == RequestDisputed {
		return nil
	}
	return err
}
