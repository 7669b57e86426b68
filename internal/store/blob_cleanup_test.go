package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store/storetest"
)

// stuckFiles cannot delete files whose key begins with stuck.
type stuckFiles struct{ *fakeFiles }

func (f stuckFiles) Delete(ctx context.Context, key string) error {
	if strings.HasPrefix(key, "stuck") {
		return errors.New("access denied")
	}
	return f.fakeFiles.Delete(ctx, key)
}

// expiredBlobs adds blobs whose reservation has ended.
func (p *fixture) expiredBlobs(by actor.Actor, ends time.Time, keys ...string) {
	p.Helper()
	for _, key := range keys {
		ok(p, run(p.db, `INSERT INTO blobs (key, coach_id, size, created_at, ends_at) VALUES ($1, $2, 1, $3, $3)`, key, by.AccountID, database.Micros(ends)))
	}
}

// TestCleanupPassesStuckFiles: files that cannot be deleted stop a run of the clean-up, but not the
// deletion of the files after them in later runs.
func TestCleanupPassesStuckFiles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		by := p.coach(1)
		files := stuckFiles{&fakeFiles{sizes: map[string]int64{"z-other": 1}}}
		blobs := []string{"z-other"}
		for i := range 25 {
			key := fmt.Sprintf("stuck%02d", i)
			files.sizes[key] = 1
			blobs = append(blobs, key)
		}
		p.expiredBlobs(by, p.clock.Now().Add(-time.Minute), blobs...)
		s := p.newDocuments(files)
		var deleted int64
		for range 3 {
			n, err := s.DeleteExpiredBlobs(bg)
			deleted += n
			if err == nil {
				t.Error("a run with files that cannot be deleted reports no error")
			}
		}
		if _, there := files.sizes["z-other"]; there || deleted != 1 {
			t.Errorf("deleted %d files, want the one that can be deleted", deleted)
		}
		// The next run begins at the start again.
		clear(files.sizes)
		files.sizes["a-new"] = 1
		p.expiredBlobs(by, p.clock.Now().Add(-time.Hour), "a-new")
		if n, _ := s.DeleteExpiredBlobs(bg); n != 1 {
			t.Errorf("the next run deleted %d files, want 1", n)
		}
	})
}
