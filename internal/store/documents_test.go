package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store/storetest"
	"github.com/touchline/touchline/internal/verification"
)

// newDocuments returns the documents service with these files.
func (p *fixture) newDocuments(files blob.Store) *document.Service {
	return &document.Service{
		DB: p.db, Files: files, Processor: fakeProcessor{}, Withdraw: verification.WithdrawDocument, Log: slog.New(slog.DiscardHandler),
	}
}

// checkConsistency runs the clean-up, then compares files, blobs, documents and
// counters. It returns the number of documents.
func (p *fixture) checkConsistency(files *fakeFiles) int {
	p.Helper()
	_, err := p.newDocuments(files).DeleteExpiredBlobs(bg)
	ok(p, err)
	named := map[string]bool{}
	documents := 0
	rs, err := p.db.Query(bg, `SELECT coach_id, id FROM documents`)
	ok(p, err)
	var all [][2]string
	for rs.Next() {
		var row [2]string
		ok(p, rs.Scan(&row[0], &row[1]))
		all = append(all, row)
	}
	ok(p, rs.Err())
	sums := map[string]int64{}
	for _, row := range all {
		d, err := p.newDocuments(files).Read(bg, row[0], row[1])
		ok(p, err)
		documents++
		sums[d.CoachID] += d.File.Size
		for _, key := range d.File.Blobs() {
			named[key] = true
			if _, there := files.sizes[key]; !there {
				p.Errorf("blob %s of document %s is missing", key, d.Title)
			}
		}
	}
	for _, key := range slices.Collect(maps.Keys(files.sizes)) {
		if !named[key] {
			p.Errorf("blob %s belongs to no document", key)
		}
	}
	if n := p.count(`SELECT count(*) FROM blobs`); n != len(named) {
		p.Errorf("got %d blob records, documents have %d", n, len(named))
	}
	rs, err = p.db.Query(bg, `SELECT id, stored_bytes FROM coaches`)
	ok(p, err)
	for rs.Next() {
		var id string
		var stored int64
		ok(p, rs.Scan(&id, &stored))
		if stored != sums[id] {
			p.Errorf("coach %s has %d bytes of documents, stored_bytes is %d", id, sums[id], stored)
		}
	}
	ok(p, rs.Err())
	return documents
}

// TestConcurrentDocumentChanges checks that the usage counter equals the sum of the
// documents.
func TestConcurrentDocumentChanges(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		coaches := []actor.Actor{p.coach(1), p.coach(2)}
		files := &fakeFiles{sizes: map[string]int64{}}
		s := p.newDocuments(files)
		kinds := []coach.DocumentKind{coach.Certification, coach.Identity, coach.ProfilePicture}
		var wait sync.WaitGroup
		for worker := range 8 {
			wait.Go(func() {
				random := rand.New(rand.NewPCG(uint64(worker), 7))
				for range 30 {
					if err := changeRandomDocument(s, coaches[random.IntN(2)], kinds[random.IntN(3)], random); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wait.Go(func() {
			for range 20 { // concurrent clean-up
				if _, err := s.DeleteExpiredBlobs(bg); err != nil {
					t.Error(err)
				}
			}
		})
		wait.Wait()
		if n := p.checkConsistency(files); n == 0 {
			t.Error("no documents left: the test proves nothing")
		}
		for _, by := range coaches {
			profile, err := p.coaches().Profile(bg, by.AccountID)
			ok(t, err)
			chosen := 0
			for _, d := range profile.Documents {
				if d.Kind == coach.ProfilePicture && d.InProfile {
					chosen++
				}
			}
			want := p.count(`SELECT count(*) FROM coaches WHERE picture_id IS NOT NULL AND id = $1`, by.AccountID)
			if chosen != want {
				t.Errorf("got %d pictures in the profile, want %d", chosen, want)
			}
			filled, err := p.db.FilledFields(bg, by.AccountID)
			ok(t, err)
			for _, field := range []string{"certifications", "profile_picture"} {
				if slices.Contains(filled, field) == slices.Contains(profile.Missing([]string{field}), field) {
					t.Errorf("%s: got filled fields %v", field, filled)
				}
			}
		}
	})
}

// changeRandomDocument makes one random change to the documents of a coach.
func changeRandomDocument(s *document.Service, by actor.Actor, kind coach.DocumentKind, random *rand.Rand) error {
	upload := document.Upload{Kind: kind, FileName: "a", File: newFakeFile(1 + 2*random.IntN(50))}
	if random.IntN(2) == 0 {
		_, err := s.Add(bg, by, upload)
		return err
	}
	list, err := s.List(bg, by, "", "", 100)
	if err != nil || len(list) == 0 {
		return err
	}
	id, title := list[random.IntN(len(list))].ID, fmt.Sprint(random.IntN(100))
	switch random.IntN(3) {
	case 0:
		_, _, err = s.Replace(bg, by, id, upload)
	case 1:
		_, err = s.Remove(bg, by, id)
	default:
		_, err = s.Edit(bg, by, id, document.Patch{Title: &title})
	}
	if fault.KindOf(err) == fault.NotFound {
		return nil // removed concurrently
	}
	return err
}

// TestConcurrentDocumentLimits checks that concurrent uploads fill the limit of
// documents and of bytes exactly.
func TestConcurrentDocumentLimits(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		if strings.HasPrefix(url, "postgres") {
			url += "&lock_timeout=0&statement_timeout=0"
		}
		p := newFixture(t, url)
		files := &fakeFiles{sizes: map[string]int64{}}
		s := p.newDocuments(files)
		race := func(by actor.Actor, n int64, code string) (added int) {
			var wait sync.WaitGroup
			var begun atomic.Int64
			for range 16 { // one for each connection
				wait.Go(func() {
					for begun.Add(1) <= n {
						err := context.DeadlineExceeded
						for errors.Is(err, context.DeadlineExceeded) { // a write waits 10 s at most, on a busy machine not long enough
							_, err = s.Add(bg, by, document.Upload{Kind: coach.Identity, FileName: "a", File: newFakeFile(10)})
						}
						if err != nil && fault.CodeOf(err) != code {
							t.Error(err)
						}
					}
				})
			}
			wait.Wait()
			return p.count(`SELECT count(*) FROM documents WHERE coach_id = $1`, by.AccountID)
		}
		if added := race(p.coach(1), document.MaxDocuments+20, "validation_failed"); added != document.MaxDocuments {
			t.Errorf("added %d documents, want %d", added, document.MaxDocuments)
		}
		s.CheckStorage = coach.Tiers{List: []coach.Tier{{Name: "small", Limits: coach.Limits{StorageBytes: 75}}}}.CheckStorage
		by := p.coach(2)
		if added := race(by, 20, "tier_limit"); added != 7 {
			t.Errorf("added %d documents of 10 bytes within 75 bytes, want 7", added)
		}
		list, err := s.List(bg, by, "", "", 1)
		ok(t, err)
		if _, _, err = s.Replace(bg, by, list[0].ID, document.Upload{FileName: "a", File: newFakeFile(16)}); fault.CodeOf(err) != "tier_limit" {
			t.Errorf("replacement above the limit: got %v, want tier_limit", err)
		}
		_, _, err = s.Replace(bg, by, list[0].ID, document.Upload{FileName: "a", File: newFakeFile(14)})
		ok(t, err)
		p.checkConsistency(files)
	})
}
