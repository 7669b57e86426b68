package api

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
)

// view turns what the core answers into what one caller reads at one moment.
// Its methods are the only ones that make wire types of players and requests.
type view struct {
	by    actor.Actor
	rules approval.Rules
	now   time.Time
}

// stamp is a time as it is stored and answered: UTC, whole microseconds.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// stampOrNull is null for the zero time.
func stampOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = stamp(t)
	return &t
}

// textOrNull is null for what is not there.
func textOrNull[T ~string](s T) *string {
	if s == "" {
		return nil
	}
	text := string(s)
	return &text
}
