package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/baseline"
	"github.com/touchline/touchline/bench/program"
)

// kind is one measurement of the command.
type kind struct {
	name        string
	description string
	run         func(ctx context.Context, engines []string, o bench.Options) error
}

// kinds returns all measurements in the order in which they are listed and run.
func kinds() []kind {
	all := []kind{{"noise", "an empty handler against itself; a ratio other than 1.00 is noise", compareOnly("noise", noise())}}
	for _, k := range baseline.Kinds {
		all = append(all, kind{k.Name, k.Description, onEachEngine(k.Name, k.Open)})
	}
	return append(
		all,
		kind{"signin", "request-otp, delivery of the SMS, login; CPU time of a separate server", onEachEngine("signin", program.SignIn)},
		kind{"start", "time to the first response, idle memory and size of the built program", footprint},
		kind{"upload", "memory of the built program during eight uploads at once", uploads})
}

func onEachEngine(name string, open func(context.Context, string, bench.Options) ([]bench.Contender, func(), error)) func(context.Context, []string, bench.Options) error {
	return func(ctx context.Context, engines []string, o bench.Options) error {
		for _, engine := range engines {
			contenders, closeAll, err := open(ctx, engine, o)
			if err != nil {
				return fmt.Errorf("%s: %w", engine, err)
			}
			err = compare(ctx, name+" on "+engine, contenders, o)
			closeAll()
			if err != nil {
				return fmt.Errorf("%s: %w", engine, err)
			}
		}
		return nil
	}
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

// compareOnly compares contenders that need no engine.
func compareOnly(title string, contenders []bench.Contender) func(context.Context, []string, bench.Options) error {
	return func(ctx context.Context, _ []string, o bench.Options) error {
		return compare(ctx, title, contenders, o)
	}
}

func footprint(ctx context.Context, engines []string, _ bench.Options) error {
	for _, engine := range engines {
		result, err := program.MeasureFootprint(ctx, engine)
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		fmt.Printf("\nstart on %s: %s\n", engine, result)
	}
	return nil
}

func uploads(ctx context.Context, engines []string, _ bench.Options) error {
	for _, engine := range engines {
		for _, storage := range program.Storages {
			result, err := program.MeasureUploads(ctx, engine, storage)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", engine, storage, err)
			}
			fmt.Printf("\nupload on %s, files in %s: %s\n", engine, storage, result)
		}
	}
	return nil
}

func noise() []bench.Contender {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") })
	requests := func(int) func() *http.Request {
		return func() *http.Request { return bench.NewRequest(http.MethodGet, "/", nil, "") }
	}
	return []bench.Contender{
		{Name: "first", Handler: handler, Requests: requests},
		{Name: "second", Handler: handler, Requests: requests},
	}
}
