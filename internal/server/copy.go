package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/store"
)

// Copy copies the database of a service into another one, of either engine.
type Copy struct {
	// From and To are the URLs of the databases.
	From, To string
	// FromFiles and ToFiles are file stores; empty to leave the files where they are.
	FromFiles, ToFiles string
	// Progress is called after each commit with the rows of a table; nil does nothing.
	Progress func(table string, rows int64)
}

// Run copies and compares all tables, then the files. It continues an interrupted copy.
func (c Copy) Run(ctx context.Context) (r dump.Result, err error) {
	copied := dump.Copy{From: c.From, To: c.To, Migrations: store.Migrations(), Progress: c.Progress}
	if c.FromFiles == "" {
		return copied.Run(ctx)
	}
	from, err := blob.Open(ctx, c.FromFiles, blob.Options{})
	if err != nil {
		return r, fmt.Errorf("open the file store of the source: %w", err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := blob.Open(ctx, c.ToFiles, blob.Options{})
	if err != nil {
		return r, fmt.Errorf("open the file store of the target: %w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	copied.Files = func(ctx context.Context) (dump.Files, error) { return dump.CopyFiles(ctx, c.From, from, to) }
	return copied.Run(ctx)
}
