package e2e_test

import (
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/platform/blob/blobtest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestStartRefusesWrongFileStore: a replica does not start with a file store of
// another installation or with one that lost its files.
func TestStartRefusesWrongFileStore(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url)
		start := func(files string) error {
			cfg := *s.Config
			cfg.Files = config.SecretURL("file:" + files)
			app, err := server.Open(context.Background(), &cfg, server.Options{Log: slog.New(slog.DiscardHandler), Terminal: io.Discard})
			if err == nil {
				err = app.Close()
			}
			return err
		}
		own := filepath.Join(t.TempDir(), "own")
		if err := start(own); err != nil {
			t.Fatalf("own folder: %v", err)
		}
		if err := start(t.TempDir()); err == nil || !strings.Contains(err.Error(), "the file store is empty") || !strings.Contains(err.Error(), "FILES") {
			t.Errorf("an empty folder: %v", err)
		}
		foreign := filepath.Join(t.TempDir(), "foreign")
		touchlinetest.New(t, storetest.SQLite(t), func(cfg *config.Config) { cfg.Files = config.SecretURL("file:" + foreign) })
		if err := start(foreign); err == nil || !strings.Contains(err.Error(), "another installation") {
			t.Errorf("another installation's files: %v", err)
		}
		identity := filepath.Join(own, "re", "touchline-store")
		if err := os.WriteFile(identity, []byte("what?"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := start(own); err == nil || !strings.Contains(err.Error(), "not an id") {
			t.Errorf("damaged store id: %v", err)
		}
	})
}

// TestReplicasWithSeparateFolders: replicas with separate folders work until the
// first upload, which binds the database to one folder. The other replica then
// answers 503 for documents and does not start again.
func TestReplicasWithSeparateFolders(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url)
		other := s.Replica(func(cfg *config.Config) {
			key, err := s.Config.CreateMasterKey()
			if err != nil {
				t.Fatal(err)
			}
			cfg.MasterKeyBase64 = config.Secret(base64.StdEncoding.EncodeToString(key))
			cfg.DataDir = t.TempDir()
			cfg.Files = config.SecretURL("file:" + filepath.Join(cfg.DataDir, "files"))
		})
		coach := s.Coach(t, coachNumber)
		id := coach.Upload(t, "certification", "a.pdf", touchlinetest.PDF(100, 1)).Want(t, 201).String("document_id")
		coach.On(other).Call(t, "GET", "/api/coach/documents/"+id+"/content", nil).Want(t, 503, "unavailable")
		coach.On(other).Upload(t, "certification", "b.pdf", touchlinetest.PDF(100, 2)).Want(t, 503, "unavailable")
		if !strings.Contains(other.Log.String(), "another file store") {
			t.Error("the error is not in the log")
		}
		coach.Call(t, "GET", "/api/coach/documents/"+id+"/content", nil).Want(t, 200)
		app, err := server.Open(context.Background(), other.Config, server.Options{Log: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), "the file store is empty") {
			if app != nil {
				_ = app.Close()
			}
			t.Errorf("the replica starts again: %v", err)
		}
	})
}

// TestFileStoreUnavailableAtStart: the service starts without its file store;
// only documents are unavailable.
func TestFileStoreUnavailableAtStart(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url, func(cfg *config.Config) {
			cfg.Files = "s3://key:secret@bucket?endpoint=http://127.0.0.1:1&region=r"
		})
		coach := s.Coach(t, coachNumber)
		coach.Upload(t, "certification", "a.pdf", touchlinetest.PDF(100, 1)).Want(t, 503, "unavailable")
		if list := coach.Call(t, "GET", "/api/coach/documents", nil).Want(t, 200).Items(); len(list) != 0 {
			t.Errorf("documents: got %v", list)
		}
	})
}

// TestReplicasShareBucket: replicas can share a bucket.
func TestReplicasShareBucket(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		bucket := config.SecretURL(blobtest.S3(t))
		s := touchlinetest.New(t, url, func(cfg *config.Config) { cfg.Files = bucket })
		s.Replica().Coach(t, coachNumber)
		cfg := *s.Config
		cfg.Files = config.SecretURL(blobtest.S3(t))
		_, err := server.Open(context.Background(), &cfg, server.Options{Log: slog.New(slog.DiscardHandler), Terminal: io.Discard})
		if err == nil || !strings.Contains(err.Error(), "the file store is empty") || strings.Contains(err.Error(), blobtest.Secret) {
			t.Errorf("another bucket: %v", err)
		}
	})
}

// TestReplicasStartConcurrently: replicas that start at once with a shared folder
// all start; with different folders only one does.
func TestReplicasStartConcurrently(t *testing.T) {
	t.Parallel()
	t.Run("shared", func(t *testing.T) { startConcurrently(t, true) })
	t.Run("apart", func(t *testing.T) { startConcurrently(t, false) })
}

func startConcurrently(t *testing.T, shared bool) {
	storetest.EachEmpty(t, func(t *testing.T, url string) {
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
				apps[i], errs[i] = server.Open(context.Background(), cfg, server.Options{Log: slog.New(slog.DiscardHandler)})
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
			t.Errorf("got %d replicas started, want %d: %v", started, want, errs)
		}
	})
}
