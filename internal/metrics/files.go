package metrics

import (
	"context"
	"errors"
	"io"

	"github.com/touchline/touchline/internal/platform/blob"
)

// Files returns store with its operations counted.
func (m *Metrics) Files(store blob.Store) blob.Store {
	for _, operation := range []string{"put", "open", "delete"} {
		for _, outcome := range []string{"ok", "failed"} {
			m.files.WithLabelValues(operation, outcome)
		}
	}
	return &fileStore{store, m}
}

type fileStore struct {
	blob.Store
	m *Metrics
}

func (f *fileStore) count(ctx context.Context, operation string, err error) error {
	outcome := "ok"
	switch {
	case errors.Is(err, blob.ErrNotFound):
		outcome = "missing"
	case err != nil && ctx.Err() != nil:
		return err // the caller went away
	case err != nil:
		outcome = "failed"
	}
	f.m.files.WithLabelValues(operation, outcome).Inc()
	return err
}

func (f *fileStore) Put(ctx context.Context, key string, r io.ReadSeeker, size int64, mediaType string) error {
	return f.count(ctx, "put", f.Store.Put(ctx, key, r, size, mediaType))
}

func (f *fileStore) Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error) {
	r, size, err := f.Store.Open(ctx, key)
	return r, size, f.count(ctx, "open", err)
}

func (f *fileStore) Delete(ctx context.Context, key string) error {
	return f.count(ctx, "delete", f.Store.Delete(ctx, key))
}
