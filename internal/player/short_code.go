package player

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// wrongPairsExceeded is the error of a pair after too many wrong ones.
type wrongPairsExceeded struct {
	Limit string
	Wait  time.Duration
}

// Error implements error.
func (wrongPairsExceeded) Error() string { return "too many wrong pairs of short code and number" }

// FindByShortCode returns the open request to this number with the short code that a person
// typed (see input.Code), or the zero LinkState. The caller's response must not show which
// of the two it was. After too many wrong pairs a right pair is refused like a wrong one: error
// rate_limited.
func (s *Service) FindByShortCode(ctx context.Context, typed string, number phone.Number, network string) (approval.LinkState, error) {
	now := s.DB.Now()
	code, ok := approval.ParseShortCode(input.Code(typed))
	if !ok {
		code = "" // the code of no request; it counts as a wrong pair
	}
	state, err := s.findByShortCode(ctx, approval.ShortCodePair{Code: code, Number: number, Network: network}, now)
	if exceeded, ok := errors.AsType[wrongPairsExceeded](err); ok {
		return approval.LinkState{}, fault.New(fault.TooMany, "rate_limited", "Too many wrong codes were tried. Wait, then try again.").
			With("limit", exceeded.Limit).With("ends_at", now.Add(exceeded.Wait)).After(exceeded.Wait)
	}
	return state, err
}
