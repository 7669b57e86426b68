package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"

	"github.com/touchline/touchline/internal/blob"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/store"
)

// filesID is the fact of the installation that tells which file store is its own.
const filesID = "files"

// openFiles opens the file store of cfg and holds it to be the one that the
// database knows. Where FILES was chosen, the first replica of an installation
// decides at its start which that is. A folder by default is not taken for a
// choice: the first document decides, so that replicas which keep none need share
// no folder. A store that is away does not keep a replica from starting, for
// consent needs no documents: it is judged as soon as it answers.
func openFiles(ctx context.Context, cfg *config.Config, db *store.DB, edges Edges) (blob.Store, error) {
	files, err := blob.Open(ctx, cfg.Files.Reveal(), blob.Options{})
	if err != nil {
		return nil, fmt.Errorf("open the file store: %w", err)
	}
	own := newOwnFiles(files, db, edges)
	switch err := own.sure(ctx, cfg.FilesSet()); {
	case fault.KindOf(err) == fault.Unavailable:
		edges.Log.Warn("the file store is away: documents wait for it", "files", cfg.Files, "error", err)
	case err != nil:
		return nil, errors.Join(fmt.Errorf("FILES is %s: %w", cfg.Files, err), files.Close())
	}
	return own, nil
}

// ownFiles is a file store that does nothing before it is known to be the one of
// the database: bytes that went elsewhere would look lost to every other replica.
type ownFiles struct {
	blob.Store
	db    *store.DB
	newID func() string
	log   *slog.Logger

	turn  chan struct{} // to judge it: one at a time, who waits for it heeds their own time
	known atomic.Bool
}

func newOwnFiles(files blob.Store, db *store.DB, edges Edges) *ownFiles {
	return &ownFiles{Store: files, db: db, newID: edges.NewID, log: edges.Log, turn: make(chan struct{}, 1)}
}

// sure judges the store unless that was done. With claim, the store becomes the
// database's where that knows none yet; without, there is nothing to judge then.
func (f *ownFiles) sure(ctx context.Context, claim bool) error {
	if f.known.Load() {
		return nil
	}
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if f.known.Load() {
		return nil
	}
	known, err := f.db.Installation(ctx, filesID)
	if err != nil || known == "" && !claim {
		return err
	}
	id, err := blob.Identify(ctx, f.Store, known, f.newID)
	if err != nil {
		return err
	}
	if known == "" {
		if known, err = f.db.SetInstallation(ctx, filesID, id); err != nil {
			return err
		}
		// Another replica may have been first.
		if _, err = blob.Identify(ctx, f.Store, known, f.newID); err != nil {
			return err
		}
	}
	f.known.Store(true)
	return nil
}

// ready is sure for a call under way: that the store is another one is for the
// log, the caller can only come back later.
func (f *ownFiles) ready(ctx context.Context, claim bool) error {
	err := f.sure(ctx, claim)
	if err == nil || fault.KindOf(err) == fault.Unavailable || ctx.Err() != nil {
		return err
	}
	f.log.Error("documents cannot be served: this replica has another file store than the database knows", "error", err)
	return fault.Down(err)
}

// Put is the store's, once it is known to be ours.
func (f *ownFiles) Put(ctx context.Context, key string, r io.ReadSeeker, size int64, mediaType string) error {
	if err := f.ready(ctx, true); err != nil {
		return err
	}
	return f.Store.Put(ctx, key, r, size, mediaType)
}

// Open is the store's, once it is known to be ours.
func (f *ownFiles) Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error) {
	if err := f.ready(ctx, false); err != nil {
		return nil, 0, err
	}
	return f.Store.Open(ctx, key)
}

// Delete is the store's, once it is known to be ours.
func (f *ownFiles) Delete(ctx context.Context, key string) error {
	if err := f.ready(ctx, false); err != nil {
		return err
	}
	return f.Store.Delete(ctx, key)
}
