package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/storetest"
)

// fakeFiles is a file store that records the size of each key.
type fakeFiles struct {
	mu    sync.Mutex
	sizes map[string]int64
}

func (m *fakeFiles) Put(_ context.Context, key string, _ io.ReadSeeker, size int64, _ string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sizes[key] = size
	return nil
}

func (m *fakeFiles) Open(context.Context, string) (io.ReadSeekCloser, int64, error) {
	return nil, 0, errors.New("not read here")
}

func (m *fakeFiles) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sizes, key)
	return nil
}

// fakeFile is an upload of zeros.
type fakeFile struct {
	*bytes.Reader
	sum string
}

func newFakeFile(size int) fakeFile {
	b := make([]byte, size)
	sum := sha256.Sum256(b)
	return fakeFile{bytes.NewReader(b), hex.EncodeToString(sum[:])}
}

func (p fakeFile) SHA256() string { return p.sum }

// fakeProcessor takes files of odd size for pictures and makes three sizes of them.
type fakeProcessor struct{}

func (fakeProcessor) Type(file coach.File) (string, error) {
	if file.Size()%2 == 1 {
		return coach.JPEG, nil
	}
	return coach.PDF, nil
}
func (fakeProcessor) Scan(context.Context, coach.File) error { return nil }

func (fakeProcessor) Resize(_ context.Context, file coach.File, sizes bool) ([]coach.Rendition, error) {
	rendition := func(name string, size int) coach.Rendition {
		return coach.Rendition{File: newFakeFile(size), Closer: io.NopCloser(nil), Name: name, MediaType: coach.JPEG, Width: 2, Height: 1}
	}
	if !sizes {
		return []coach.Rendition{rendition("", int(file.Size()))}, nil
	}
	return []coach.Rendition{rendition("large", int(file.Size())), rendition("medium", 2), rendition("small", 1)}, nil
}

var errCrashed = errors.New("process crashed")

// crashingStore is a document store and file store whose process crashes at a step:
// before it, or after it without seeing the result.
type crashingStore struct {
	coach.DocumentStore
	files     coach.Files
	crashAt   int
	afterStep bool // crash after the step, not before it
	steps     int
}

func (m *crashingStore) step(do func() error) error {
	m.steps++
	switch {
	case m.steps > m.crashAt, m.steps == m.crashAt && !m.afterStep:
		return errCrashed
	case m.steps == m.crashAt:
		_ = do()
		return errCrashed
	}
	return do()
}

func (m *crashingStore) ReserveBlobs(ctx context.Context, id string, blobs []coach.Blob, ends time.Time) error {
	return m.step(func() error { return m.DocumentStore.ReserveBlobs(ctx, id, blobs, ends) })
}

func (m *crashingStore) AddDocument(ctx context.Context, d coach.Document, check coach.StorageCheck) (saved coach.Document, err error) {
	return saved, m.step(func() error { saved, err = m.DocumentStore.AddDocument(ctx, d, check); return err })
}

func (m *crashingStore) ReplaceFile(ctx context.Context, coachID, id string, f coach.StoredFile, now time.Time, check coach.StorageCheck) (d coach.Document, kyc coach.KYCState, err error) {
	return d, kyc, m.step(func() error { d, kyc, err = m.DocumentStore.ReplaceFile(ctx, coachID, id, f, now, check); return err })
}

func (m *crashingStore) RemoveDocument(ctx context.Context, coachID, id string) (r coach.RemovedDocument, err error) {
	return r, m.step(func() error { r, err = m.DocumentStore.RemoveDocument(ctx, coachID, id); return err })
}

func (m *crashingStore) ReleaseBlobs(ctx context.Context, keys []string) error {
	return m.step(func() error { return m.DocumentStore.ReleaseBlobs(ctx, keys) })
}

func (m *crashingStore) DeleteBlob(ctx context.Context, key string) error {
	return m.step(func() error { return m.DocumentStore.DeleteBlob(ctx, key) })
}

func (m *crashingStore) Put(ctx context.Context, key string, r io.ReadSeeker, size int64, mediaType string) error {
	return m.step(func() error { return m.files.Put(ctx, key, r, size, mediaType) })
}

func (m *crashingStore) Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error) {
	return m.files.Open(ctx, key)
}

func (m *crashingStore) Delete(ctx context.Context, key string) error {
	return m.step(func() error { return m.files.Delete(ctx, key) })
}

// newDocuments returns the documents service with this store and these files.
func (p *fixture) newDocuments(store coach.DocumentStore, files coach.Files) *coach.Documents {
	return &coach.Documents{
		Store: store, Files: files, Processor: fakeProcessor{}, Now: p.clock.Now, NewID: p.db.NewID, Log: slog.New(slog.DiscardHandler),
	}
}

// checkConsistency runs the clean-up, then compares files, blobs, documents and
// counters. It returns the number of documents.
func (p *fixture) checkConsistency(files *fakeFiles) int {
	p.Helper()
	_, err := p.newDocuments(p.db, files).DeleteExpiredBlobs(bg)
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
		d, err := p.db.Document(bg, row[0], row[1])
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

// TestCrashDuringDocumentChange crashes the process before and after every step of
// adding, replacing, removing and cleaning up. A document must be complete or
// absent, and two hours later no blob may be left without a document.
func TestCrashDuringDocumentChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		by := p.coach(1)
		files := &fakeFiles{sizes: map[string]int64{}}
		healthy := p.newDocuments(p.db, files)
		works := map[string]func(s *coach.Documents) error{
			"add a picture": func(s *coach.Documents) error {
				_, err := s.Add(bg, by, coach.Upload{Kind: coach.ProfilePicture, FileName: "me.jpg", File: newFakeFile(31)})
				return err
			},
			"add too much": func(s *coach.Documents) error {
				s.CheckStorage = func(_ coach.TierStatus, use, _ int64) error {
					if use < 0 {
						return nil // the value of unlimitedStore
					}
					return fault.New(fault.Forbidden, "tier_limit", "No.")
				}
				s.Store = unlimitedStore{s.Store}
				_, err := s.Add(bg, by, coach.Upload{Kind: coach.Identity, FileName: "a.pdf", File: newFakeFile(40)})
				if fault.CodeOf(err) == "tier_limit" {
					err = nil // expected
				}
				return err
			},
			"replace": func(s *coach.Documents) error {
				list, err := healthy.List(bg, by, coach.Certification, "", 1)
				ok(t, err)
				_, _, err = s.Replace(bg, by, list[0].ID, coach.Upload{FileName: "b.pdf", File: newFakeFile(20)})
				return err
			},
			"remove": func(s *coach.Documents) error {
				list, err := healthy.List(bg, by, coach.Certification, "", 1)
				ok(t, err)
				_, err = s.Remove(bg, by, list[0].ID)
				return err
			},
			"remove and clean up": func(s *coach.Documents) error {
				list, err := healthy.List(bg, by, coach.Certification, "", 1)
				ok(t, err)
				_, err = healthy.Remove(bg, by, list[0].ID)
				ok(t, err)
				_, err = s.DeleteExpiredBlobs(bg)
				return err
			},
		}
		for name, work := range works {
			for crashAt := 1; ; crashAt++ {
				ended := true
				for _, afterStep := range []bool{false, true} {
					_, err := healthy.Add(bg, by, coach.Upload{Kind: coach.Certification, FileName: "a.pdf", File: newFakeFile(10)})
					ok(t, err)
					m := &crashingStore{DocumentStore: p.db, files: files, crashAt: crashAt, afterStep: afterStep}
					err = work(p.newDocuments(m, m))
					if m.steps >= crashAt {
						ended = false
						if err == nil && m.steps == crashAt && name != "add too much" {
							t.Errorf("%s: no error after the crash at step %d", name, crashAt)
						}
					}
					p.clock.advance(2 * time.Hour)
					if n := p.checkConsistency(files); n > 60 {
						for list, _ := healthy.List(bg, by, "", "", 100); len(list) > 0; list = list[1:] {
							_, err := healthy.Remove(bg, by, list[0].ID)
							ok(t, err)
						}
					}
					if t.Failed() {
						t.Fatalf("%s, crash at step %d, after it: %v", name, crashAt, afterStep)
					}
				}
				if ended {
					if crashAt < 3 && name != "remove" {
						t.Errorf("%s: got only %d steps", name, crashAt-1)
					}
					break
				}
			}
		}
	})
}

// unlimitedStore reports no usage, so that only the transaction refuses.
type unlimitedStore struct{ coach.DocumentStore }

func (r unlimitedStore) Storage(context.Context, string) (int, int64, coach.TierStatus, error) {
	return 0, -1 << 40, coach.TierStatus{}, nil
}

// TestConcurrentDocumentChanges checks that the usage counter equals the sum of the
// documents.
func TestConcurrentDocumentChanges(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		coaches := []actor.Actor{p.coach(1), p.coach(2)}
		files := &fakeFiles{sizes: map[string]int64{}}
		s := p.newDocuments(p.db, files)
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
			profile, err := p.db.Profile(bg, by.AccountID)
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
func changeRandomDocument(s *coach.Documents, by actor.Actor, kind coach.DocumentKind, random *rand.Rand) error {
	upload := coach.Upload{Kind: kind, FileName: "a", File: newFakeFile(1 + 2*random.IntN(50))}
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
		_, err = s.Edit(bg, by, id, coach.DocumentPatch{Title: &title})
	}
	if fault.KindOf(err) == fault.NotFound {
		return nil // removed concurrently
	}
	return err
}

// TestConcurrentDocumentLimits checks that concurrent uploads fill the limit of
// documents and of bytes exactly.
func TestConcurrentDocumentLimits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		files := &fakeFiles{sizes: map[string]int64{}}
		s := p.newDocuments(unlimitedStore{p.db}, files)
		race := func(by actor.Actor, n int, code string) (added int) {
			var wait sync.WaitGroup
			var mu sync.Mutex
			for range n {
				wait.Go(func() {
					_, err := s.Add(bg, by, coach.Upload{Kind: coach.Identity, FileName: "a", File: newFakeFile(10)})
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						added++
					} else if fault.CodeOf(err) != code {
						t.Error(err)
					}
				})
			}
			wait.Wait()
			return added
		}
		if added := race(p.coach(1), coach.MaxDocuments+20, "validation_failed"); added != coach.MaxDocuments {
			t.Errorf("added %d documents, want %d", added, coach.MaxDocuments)
		}
		s.CheckStorage = coach.Tiers{List: []coach.Tier{{Name: "small", Limits: coach.Limits{StorageBytes: 75}}}}.CheckStorage
		by := p.coach(2)
		if added := race(by, 20, "tier_limit"); added != 7 {
			t.Errorf("added %d documents of 10 bytes within 75 bytes, want 7", added)
		}
		list, err := s.List(bg, by, "", "", 1)
		ok(t, err)
		if _, _, err = s.Replace(bg, by, list[0].ID, coach.Upload{FileName: "a", File: newFakeFile(16)}); fault.CodeOf(err) != "tier_limit" {
			t.Errorf("replacement above the limit: got %v, want tier_limit", err)
		}
		_, _, err = s.Replace(bg, by, list[0].ID, coach.Upload{FileName: "a", File: newFakeFile(14)})
		ok(t, err)
		p.checkConsistency(files)
	})
}
