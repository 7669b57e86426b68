package server_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// fakeHangingStore is a file store whose Open returns only when its context ends.
type fakeHangingStore struct {
	blob.Store
	opened chan struct{}
}

func (s fakeHangingStore) Open(ctx context.Context, _ string) (io.ReadSeekCloser, int64, error) {
	s.opened <- struct{}{}
	<-ctx.Done()
	return nil, 0, ctx.Err()
}

// TestVerifyHonorsContext: while one call waits for a store that hangs, another call
// returns when its own context ends.
func TestVerifyHonorsContext(t *testing.T) {
	t.Parallel()
	db, err := database.Open(t.Context(), storetest.SQLite(t), database.Options{Migrations: store.Migrations()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	installation := auth.NewInstallation(db)
	if _, err := installation.SetValue(t.Context(), "files", uuid.NewString()); err != nil {
		t.Fatal(err)
	}
	opened := make(chan struct{}, 2)
	files := server.NewVerifiedStore(fakeHangingStore{opened: opened}, installation, uuid.NewString)
	first, cancelFirst := context.WithCancel(t.Context())
	defer cancelFirst()
	go func() { _ = files.Delete(first, "a") }()
	<-opened
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- files.Delete(ctx, "a") }()
	select {
	case err := <-done:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Delete = %v, want context.DeadlineExceeded", err)
		}
	case <-time.After(time.Minute):
		t.Error("Delete did not return after its context ended")
	}
}
