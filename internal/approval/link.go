package approval

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// LinkState is the request of the link in a message or of a short code. It is the zero
// LinkState unless the link is valid and the request is open, so that no other link
// reveals a name. Of a link that is only too old it has Old alone.
type LinkState struct {
	Open bool
	// Old: the request is open, but the link is no longer valid. The party can still answer
	// after a sign-in.
	Old       bool
	RequestID string
	PlayerID  string
	// Party is the role that is asked.
	Party actor.Role
	// Number is the number that was asked. Pages show only phone.Number.Ending of it.
	Number phone.Number
	// CoachName is empty if the profile has no name.
	CoachName   string
	StudentName string
	// CoachTier is the stored name of the coach's tier. It is empty for a short code.
	CoachTier string
	// Adult reports whether the student is 18 or older, so that a guardian is optional.
	Adult bool
	// OthersOpen reports whether Number has other open requests as Party.
	OthersOpen bool
	// ToNumber reports whether the link left to Number itself, and not to an e-mail address.
	// It is false for a short code.
	ToNumber bool
}

// LinkStore is the part of Store that finds requests without a session.
type LinkStore interface {
	// LinkState returns the state of the link with this hash at now.
	LinkState(ctx context.Context, tokenHash []byte, now time.Time) (LinkState, error)
	// LinkedPlayer returns the id of the player that the link with this hash is about, or
	// not_found. The link may be closed; the account must be the party that it asked.
	LinkedPlayer(ctx context.Context, accountID string, tokenHash []byte) (string, error)
	// AskedParty returns the party that the link with this hash asked, or not_found unless
	// the link is valid at now and left to the asked number itself. Its request may be
	// closed.
	AskedParty(ctx context.Context, tokenHash []byte, now time.Time) (AskedParty, error)
	// FindByShortCode counts a wrong pair, and returns the state of a right one. Error:
	// WrongPairsExceeded.
	FindByShortCode(ctx context.Context, pair ShortCodePair, now time.Time) (LinkState, error)
}

// Link returns the state of the link whose token has this hash. It needs no session.
func (s *Service) Link(ctx context.Context, tokenHash []byte) (LinkState, error) {
	return s.Store.LinkState(ctx, tokenHash, s.Now())
}

// LinkedPlayer returns the id of the player that a link is about, open or closed, to the
// party by that it asked. Every other caller gets not_found.
func (s *Service) LinkedPlayer(ctx context.Context, by actor.Actor, tokenHash []byte) (string, error) {
	return s.Store.LinkedPlayer(ctx, by.AccountID, tokenHash)
}
