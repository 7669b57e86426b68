package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/platform/fault"
)

// openFiles opens the file store of cfg and verifies that it is the one of the
// database:
//
//   - If FILES is set, the first replica that starts claims the store.
//   - If not, the first upload claims the folder in DATA_DIR, so that replicas that
//     store no documents need no shared folder.
//   - If the store is unavailable, the replica starts and verifies it later, because
//     approvals need no documents.
func openFiles(ctx context.Context, cfg *config.Config, in *auth.Installation, o Options) (blob.Store, error) {
	files, err := blob.Open(ctx, cfg.Files.Reveal(), blob.Options{})
	if err != nil {
		return nil, fmt.Errorf("open the file store: %w", err)
	}
	v := newVerifiedStore(files, in, o)
	switch err := v.verify(ctx, cfg.FilesSet()); {
	case fault.KindOf(err) == fault.Unavailable:
		o.Log.Warn("verify the file store: it is unavailable, documents return 503", "files", cfg.Files, "error", err)
	case err != nil:
		return nil, errors.Join(fmt.Errorf("FILES is %s: %w", cfg.Files, err), files.Close())
	}
	return v, nil
}

// verifiedStore is a file store that reads and writes nothing until it is verified to
// be the one of the database. Other replicas would not find bytes in another store.
type verifiedStore struct {
	blob.Store
	in    *auth.Installation
	newID func() string
	log   *slog.Logger

	verifying chan struct{} // a mutex that a call stops waiting for when its context ends
	verified  atomic.Bool
}

func newVerifiedStore(files blob.Store, in *auth.Installation, o Options) *verifiedStore {
	return &verifiedStore{Store: files, in: in, newID: o.NewID, log: o.Log, verifying: make(chan struct{}, 1)}
}

// verify compares the id of the store with the one in the database, once. If the
// database has none, claim makes this store the one of the database.
func (v *verifiedStore) verify(ctx context.Context, claim bool) error {
	if v.verified.Load() {
		return nil
	}
	select {
	case v.verifying <- struct{}{}:
		defer func() { <-v.verifying }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if v.verified.Load() {
		return nil
	}
	want, err := v.in.Value(ctx, dump.FileStoreID)
	if err != nil || want == "" && !claim {
		return err
	}
	id, err := blob.Identify(ctx, v.Store, want, v.newID)
	if err != nil {
		return err
	}
	if want == "" {
		if want, err = v.in.SetValue(ctx, dump.FileStoreID, id); err != nil {
			return err
		}
		// Another replica may have claimed its store first.
		if _, err = blob.Identify(ctx, v.Store, want, v.newID); err != nil {
			return err
		}
	}
	v.verified.Store(true)
	return nil
}

// require verifies the store for a request. If it is the wrong store, it logs the error
// and returns fault.Unavailable, because the caller can only try again later.
func (v *verifiedStore) require(ctx context.Context, claim bool) error {
	err := v.verify(ctx, claim)
	if err == nil || fault.KindOf(err) == fault.Unavailable || ctx.Err() != nil {
		return err
	}
	v.log.Warn("verify the file store: this replica has another file store than the database knows; documents return 503", "error", err)
	return fault.Down(err)
}

// Put stores a file in the verified store.
func (v *verifiedStore) Put(ctx context.Context, key string, r io.ReadSeeker, size int64, mediaType string) error {
	if err := v.require(ctx, true); err != nil {
		return err
	}
	return v.Store.Put(ctx, key, r, size, mediaType)
}

// Open opens a file of the verified store.
func (v *verifiedStore) Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error) {
	if err := v.require(ctx, false); err != nil {
		return nil, 0, err
	}
	return v.Store.Open(ctx, key)
}

// Delete deletes a file of the verified store.
func (v *verifiedStore) Delete(ctx context.Context, key string) error {
	if err := v.require(ctx, false); err != nil {
		return err
	}
	return v.Store.Delete(ctx, key)
}
