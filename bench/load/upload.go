package main

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/baseline"
)

// upload measures the memory of the released program while files come in, on each engine with each storage.
func upload(ctx context.Context, engines []string, _ bench.Options) error {
	for _, engine := range engines {
		for _, storage := range baseline.Storages {
			found, err := baseline.MeasureUploads(ctx, engine, storage)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", engine, storage, err)
			}
			fmt.Printf("\nupload on %s, files in %s: %s\n", engine, storage, found)
		}
	}
	return nil
}
