package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"

	"github.com/touchline/touchline/bench"
)

// kind is one comparison that the command knows.
type kind struct {
	name string
	what string

	// open prepares the contenders, the floor first, and returns what clears up after them.
	open func(ctx context.Context, o bench.Options) ([]bench.Contender, func(), error)
}

// kinds are all of them, in the order in which they are listed and run.
var kinds = []kind{
	{name: "noise", what: "one empty handler against itself: what a ratio of 1.00 looks like on this machine", open: opened(noise())},
}

func find(name string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// compare runs the kind and prints its table.
func (k kind) compare(ctx context.Context, o bench.Options) error {
	contenders, done, err := k.open(ctx, o)
	if err != nil {
		return err
	}
	defer done()
	result, err := bench.Compare(ctx, contenders, o)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\n", k.name)
	return result.Write(os.Stdout)
}

// opened is the open of contenders that need no preparing.
func opened(contenders []bench.Contender) func(context.Context, bench.Options) ([]bench.Contender, func(), error) {
	return func(context.Context, bench.Options) ([]bench.Contender, func(), error) {
		return contenders, func() {}, nil
	}
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
