package server_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/blob"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/storetest"
)

// silent is a file store that takes a question and never answers.
type silent struct {
	blob.Store
	asked chan struct{}
}

func (s silent) Open(ctx context.Context, _ string) (io.ReadSeekCloser, int64, error) {
	s.asked <- struct{}{}
	<-ctx.Done()
	return nil, 0, ctx.Err()
}

// TestFilesSilent: while one call waits for a file store of which nothing is known
// yet, the others heed their own time.
func TestFilesSilent(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), storetest.SQLite(t), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.SetInstallation(t.Context(), "files", uuid.NewString()); err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{}, 2)
	files := server.OwnFiles(silent{asked: asked}, db, uuid.NewString)
	first, leave := context.WithCancel(t.Context())
	defer leave()
	go func() { _ = files.Delete(first, "a") }()
	<-asked
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- files.Delete(ctx, "a") }()
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v, want that its time is over", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("a call waits for another's answer beyond its own time")
	}
}
