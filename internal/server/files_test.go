package server_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/blob/blobtest"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/storetest"
	"github.com/touchline/touchline/internal/touchlinetest"
)

// TestFilesOfAnother: a replica whose files are not those that the database knows
// refuses to start and says why; so does one whose folder lost what was in it.
func TestFilesOfAnother(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url)
		start := func(files string) error {
			cfg := *s.Config
			cfg.Files = config.SecretURL("file:" + files)
			app, err := server.Open(context.Background(), &cfg, server.Edges{Log: slog.New(slog.DiscardHandler), Terminal: io.Discard})
			if err == nil {
				err = app.Close()
			}
			return err
		}
		own := strings.TrimPrefix(s.Config.Files.Reveal(), "file:")
		if err := start(own); err != nil {
			t.Fatalf("its own files: %v", err)
		}
		if err := start(t.TempDir()); err == nil || !strings.Contains(err.Error(), "the file store is empty") || !strings.Contains(err.Error(), "FILES") {
			t.Errorf("an empty folder: %v", err)
		}
		other := touchlinetest.New(t, storetest.SQLite(t))
		if err := start(strings.TrimPrefix(other.Config.Files.Reveal(), "file:")); err == nil || !strings.Contains(err.Error(), "another installation") {
			t.Errorf("another installation's files: %v", err)
		}
		identity := filepath.Join(own, "re", "touchline-store")
		if err := os.WriteFile(identity, []byte("what?"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := start(own); err == nil || !strings.Contains(err.Error(), "holds no id") {
			t.Errorf("a damaged identity: %v", err)
		}
	})
}

// TestFilesInABucket: replicas share a bucket as they share a folder.
func TestFilesInABucket(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		bucket := config.SecretURL(blobtest.S3(t))
		s := touchlinetest.New(t, url, func(cfg *config.Config) { cfg.Files = bucket })
		s.Replica().Coach(t, coachNumber)
		cfg := *s.Config
		cfg.Files = config.SecretURL(blobtest.S3(t))
		_, err := server.Open(context.Background(), &cfg, server.Edges{Log: slog.New(slog.DiscardHandler), Terminal: io.Discard})
		if err == nil || !strings.Contains(err.Error(), "the file store is empty") || strings.Contains(err.Error(), blobtest.Secret) {
			t.Errorf("another bucket: %v", err)
		}
	})
}

// TestFilesRace: replicas that start at once over one database agree on its files,
// and of those with different folders one alone gets in.
func TestFilesRace(t *testing.T) {
	t.Parallel()
	t.Run("shared", func(t *testing.T) { race(t, true) })
	t.Run("apart", func(t *testing.T) { race(t, false) })
}

func race(t *testing.T, shared bool) {
	storetest.Each(t, func(t *testing.T, url string) {
		const replicas = 6
		dir, data := t.TempDir(), t.TempDir()
		apps, errs := make([]*server.App, replicas), make([]error, replicas)
		var all sync.WaitGroup
		for i := range replicas {
			all.Go(func() {
				cfg := config.Defaults()
				cfg.DataDir, cfg.DatabaseURL = data, config.SecretURL(url)
				cfg.Files = config.SecretURL("file:" + dir)
				if !shared {
					cfg.Files += config.SecretURL(rune('a' + i))
				}
				apps[i], errs[i] = server.Open(context.Background(), cfg, server.Edges{Log: slog.New(slog.DiscardHandler)})
			})
		}
		all.Wait()
		started := 0
		for i := range replicas {
			if errs[i] == nil {
				started++
				if err := apps[i].Close(); err != nil {
					t.Error(err)
				}
			} else if !strings.Contains(errs[i].Error(), "this file store has the id") && !strings.Contains(errs[i].Error(), "the file store is empty") {
				t.Errorf("replica %d: %v", i, errs[i])
			}
		}
		if want := map[bool]int{true: replicas, false: 1}[shared]; started != want {
			t.Errorf("%d started, want %d: %v", started, want, errs)
		}
	})
}
