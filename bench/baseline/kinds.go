package baseline

import (
	"context"

	"github.com/touchline/touchline/bench"
)

// Kind is an operation to compare with its baselines.
type Kind struct {
	Name        string
	Description string
	// Open prepares the contenders, the floor first. Call the returned function when the comparison is done.
	Open func(ctx context.Context, engine string, o bench.Options) ([]bench.Contender, func(), error)
}

// Kinds lists the operations.
var Kinds = []Kind{
	{"availability", "read a player's availability; floor: one SELECT", onFixture((*Fixture).Availability)},
	{"refresh", "rotate a refresh token; floor: one UPDATE", onFixture((*Fixture).Refresh)},
	{"decision", "a guardian's approval; floor: one UPDATE and its commit", onFixture((*Fixture).Decision)},
}

func onFixture(contenders func(*Fixture, context.Context, bench.Options) ([]bench.Contender, error)) func(context.Context, string, bench.Options) ([]bench.Contender, func(), error) {
	return func(ctx context.Context, engine string, o bench.Options) ([]bench.Contender, func(), error) {
		f, err := Open(ctx, engine)
		if err != nil {
			return nil, nil, err
		}
		all, err := contenders(f, ctx, o)
		if err != nil {
			f.Close()
			return nil, nil, err
		}
		return all, f.Close, nil
	}
}
