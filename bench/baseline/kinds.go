package baseline

import (
	"context"

	"github.com/touchline/touchline/bench"
)

// Kind is one operation to measure.
type Kind struct {
	Name string
	What string
	// Open prepares the contenders, the floor first, on an engine, and returns what clears up after them.
	Open func(ctx context.Context, engine string, o bench.Options) ([]bench.Contender, func(), error)
}

// Kinds are all of them.
var Kinds = []Kind{
	{"availability", "reading a player's availability, over one SELECT", onFixture((*Fixture).Availability)},
	{"refresh", "rotating a refresh token, over one UPDATE", onFixture((*Fixture).Refresh)},
	{"decision", "a guardian's approval, over one UPDATE and its commit", onFixture((*Fixture).Decision)},
	{"signin", "request-otp, the SMS to a gateway, and login on a server of its own: CPU time, a known number and a new one", openSignIn},
	{"signin-printed", "the same with SMS printed, not sent: request-otp and login alone", openPrintedSignIn},
}

func onFixture(contenders func(*Fixture, context.Context, bench.Options) ([]bench.Contender, error)) func(context.Context, string, bench.Options) ([]bench.Contender, func(), error) {
	return func(ctx context.Context, engine string, o bench.Options) ([]bench.Contender, func(), error) {
		h, err := Open(ctx, engine)
		if err != nil {
			return nil, nil, err
		}
		all, err := contenders(h, ctx, o)
		if err != nil {
			h.Close()
			return nil, nil, err
		}
		return all, h.Close, nil
	}
}
