package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/baseline"
)

// kind is one thing that the command measures.
type kind struct {
	name string
	what string
	run  func(ctx context.Context, engines []string, o bench.Options) error
}

// kinds are all of them, in the order in which they are listed and run.
func kinds() []kind {
	all := []kind{{"noise", "one empty handler against itself: what a ratio of 1.00 looks like on this machine", compareOnly("noise", noise())}}
	for _, k := range baseline.Kinds {
		all = append(all, kind{k.Name, k.What, func(ctx context.Context, engines []string, o bench.Options) error {
			for _, engine := range engines {
				if err := compareOn(ctx, k, engine, o); err != nil {
					return fmt.Errorf("%s: %w", engine, err)
				}
			}
			return nil
		}})
	}
	return append(all,
		kind{"start", "the released program: time to the first 200, idle memory, size", start},
		kind{"upload", "the released program: memory while eight files of 10 MiB, and the heaviest pictures, come in at once", upload})
}

func compareOn(ctx context.Context, k baseline.Kind, engine string, o bench.Options) error {
	contenders, done, err := k.Open(ctx, engine, o)
	if err != nil {
		return err
	}
	defer done()
	return compare(ctx, k.Name+" on "+engine, contenders, o)
}

// compare prints a table.
func compare(ctx context.Context, title string, contenders []bench.Contender, o bench.Options) error {
	result, err := bench.Compare(ctx, contenders, o)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\n", title)
	return result.Write(os.Stdout)
}

// compareOnly runs contenders that need no engine.
func compareOnly(title string, contenders []bench.Contender) func(context.Context, []string, bench.Options) error {
	return func(ctx context.Context, _ []string, o bench.Options) error {
		return compare(ctx, title, contenders, o)
	}
}

func start(ctx context.Context, engines []string, _ bench.Options) error {
	for _, engine := range engines {
		found, err := baseline.Measure(ctx, engine)
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		fmt.Printf("\nstart on %s: %s\n", engine, found)
	}
	return nil
}

func noise() []bench.Contender {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") })
	requests := func(int) func() *http.Request {
		req, err := http.NewRequest(http.MethodGet, "/", nil)
		if err != nil {
			panic(err) // the request is a constant
		}
		return func() *http.Request { return req }
	}
	return []bench.Contender{
		{Name: "one", Handler: handler, Requests: requests},
		{Name: "the same", Handler: handler, Requests: requests},
	}
}
