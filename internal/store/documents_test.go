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

// memory is a file store that a test can look into.
type memory struct {
	mu   sync.Mutex
	kept map[string]int64
}

func (m *memory) Put(_ context.Context, key string, _ io.ReadSeeker, size int64, _ string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[key] = size
	return nil
}

func (m *memory) Open(context.Context, string) (io.ReadSeekCloser, int64, error) {
	return nil, 0, errors.New("not read here")
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, key)
	return nil
}

// page is an upload of so many bytes.
type page struct {
	*bytes.Reader
	sum string
}

func pageOf(size int) page {
	b := make([]byte, size)
	sum := sha256.Sum256(b)
	return page{bytes.NewReader(b), hex.EncodeToString(sum[:])}
}

func (p page) SHA256() string { return p.sum }

// glance takes pictures for what their size says: odd ones are pictures, of which
// three sizes are made.
type glance struct{}

func (glance) Type(file coach.File) (string, error) {
	if file.Size()%2 == 1 {
		return coach.JPEG, nil
	}
	return coach.PDF, nil
}
func (glance) Scan(context.Context, coach.File) error { return nil }

func (glance) Resize(_ context.Context, file coach.File, sizes bool) ([]coach.Rendition, error) {
	print := func(name string, size int) coach.Rendition {
		return coach.Rendition{File: pageOf(size), Closer: io.NopCloser(nil), Name: name, MediaType: coach.JPEG, Width: 2, Height: 1}
	}
	if !sizes {
		return []coach.Rendition{print("", int(file.Size()))}, nil
	}
	return []coach.Rendition{print("large", int(file.Size())), print("medium", 2), print("small", 1)}, nil
}

var errKilled = errors.New("the process is dead")

// mortal is a store and its files on which a process works that dies at a step:
// before it, or when it is done and nobody has heard of it yet.
type mortal struct {
	coach.DocumentStore
	files coach.Files
	dies  int
	heard bool // of the step at which it dies
	steps int
}

func (m *mortal) step(do func() error) error {
	m.steps++
	switch {
	case m.steps > m.dies, m.steps == m.dies && !m.heard:
		return errKilled
	case m.steps == m.dies:
		_ = do() // nobody hears of it
		return errKilled
	}
	return do()
}

func (m *mortal) ReserveBlobs(ctx context.Context, id string, blobs []coach.Blob, ends time.Time) error {
	return m.step(func() error { return m.DocumentStore.ReserveBlobs(ctx, id, blobs, ends) })
}

func (m *mortal) AddDocument(ctx context.Context, d coach.Document, judge coach.StorageCheck) (saved coach.Document, err error) {
	return saved, m.step(func() error { saved, err = m.DocumentStore.AddDocument(ctx, d, judge); return err })
}

func (m *mortal) ReplaceFile(ctx context.Context, coachID, id string, f coach.StoredFile, now time.Time, judge coach.StorageCheck) (d coach.Document, kyc coach.KYCState, err error) {
	return d, kyc, m.step(func() error { d, kyc, err = m.DocumentStore.ReplaceFile(ctx, coachID, id, f, now, judge); return err })
}

func (m *mortal) RemoveDocument(ctx context.Context, coachID, id string) (r coach.RemovedDocument, err error) {
	return r, m.step(func() error { r, err = m.DocumentStore.RemoveDocument(ctx, coachID, id); return err })
}

func (m *mortal) ReleaseBlobs(ctx context.Context, keys []string) error {
	return m.step(func() error { return m.DocumentStore.ReleaseBlobs(ctx, keys) })
}

func (m *mortal) DeleteBlob(ctx context.Context, key string) error {
	return m.step(func() error { return m.DocumentStore.DeleteBlob(ctx, key) })
}

func (m *mortal) Put(ctx context.Context, key string, r io.ReadSeeker, size int64, mediaType string) error {
	return m.step(func() error { return m.files.Put(ctx, key, r, size, mediaType) })
}

func (m *mortal) Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error) {
	return m.files.Open(ctx, key)
}

func (m *mortal) Delete(ctx context.Context, key string) error {
	return m.step(func() error { return m.files.Delete(ctx, key) })
}

// documentsOver is the service over a store and its files.
func (p *pitch) documentsOver(store coach.DocumentStore, files coach.Files) *coach.Documents {
	return &coach.Documents{
		Store: store, Files: files, Processor: glance{}, Now: p.clock.Now, NewID: p.db.NewID, Log: slog.New(slog.DiscardHandler),
	}
}

// agree fails the test unless files, blobs, documents and counters say the same,
// once the sweeper has been. It returns how many documents there are.
func (p *pitch) agree(files *memory) int {
	p.Helper()
	_, err := p.documentsOver(p.db, files).DeleteExpiredBlobs(bg)
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
			if _, there := files.kept[key]; !there {
				p.Errorf("the bytes of %s are lost", d.Title)
			}
		}
	}
	for _, key := range slices.Collect(maps.Keys(files.kept)) {
		if !named[key] {
			p.Errorf("bytes are kept that no document names")
		}
	}
	if n := p.count(`SELECT count(*) FROM blobs`); n != len(named) {
		p.Errorf("%d blobs, of which documents name %d", n, len(named))
	}
	rs, err = p.db.Query(bg, `SELECT id, stored_bytes FROM coaches`)
	ok(p, err)
	for rs.Next() {
		var id string
		var stored int64
		ok(p, rs.Scan(&id, &stored))
		if stored != sums[id] {
			p.Errorf("a coach stores %d bytes, and is said to store %d", sums[id], stored)
		}
	}
	ok(p, rs.Err())
	return documents
}

// TestDeathOfAnUpload kills the process at every step of adding, replacing,
// removing and sweeping, before it and behind it. What is left is a whole document
// or none, and two hours later nothing that no document names.
func TestDeathOfAnUpload(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		p := newPitch(t, url)
		by := p.coach(1)
		files := &memory{kept: map[string]int64{}}
		alive := p.documentsOver(p.db, files)
		works := map[string]func(s *coach.Documents) error{
			"add a picture": func(s *coach.Documents) error {
				_, err := s.Add(bg, by, coach.Upload{Kind: coach.ProfilePicture, FileName: "me.jpg", File: pageOf(31)})
				return err
			},
			"add too much": func(s *coach.Documents) error {
				s.CheckStorage = func(_ coach.TierStatus, use, _ int64) error {
					if use < 0 {
						return nil // so says roomy
					}
					return fault.New(fault.Forbidden, "tier_limit", "No.")
				}
				s.Store = roomy{s.Store}
				_, err := s.Add(bg, by, coach.Upload{Kind: coach.Identity, FileName: "a.pdf", File: pageOf(40)})
				if fault.CodeOf(err) == "tier_limit" {
					err = nil // as it should be
				}
				return err
			},
			"replace": func(s *coach.Documents) error {
				list, err := alive.List(bg, by, coach.Certification, "", 1)
				ok(t, err)
				_, _, err = s.Replace(bg, by, list[0].ID, coach.Upload{FileName: "b.pdf", File: pageOf(20)})
				return err
			},
			"remove": func(s *coach.Documents) error {
				list, err := alive.List(bg, by, coach.Certification, "", 1)
				ok(t, err)
				_, err = s.Remove(bg, by, list[0].ID)
				return err
			},
			"remove and sweep": func(s *coach.Documents) error {
				list, err := alive.List(bg, by, coach.Certification, "", 1)
				ok(t, err)
				_, err = alive.Remove(bg, by, list[0].ID)
				ok(t, err)
				_, err = s.DeleteExpiredBlobs(bg)
				return err
			},
		}
		for name, work := range works {
			for dies := 1; ; dies++ {
				ended := true
				for _, heard := range []bool{false, true} {
					_, err := alive.Add(bg, by, coach.Upload{Kind: coach.Certification, FileName: "a.pdf", File: pageOf(10)})
					ok(t, err)
					m := &mortal{DocumentStore: p.db, files: files, dies: dies, heard: heard}
					err = work(p.documentsOver(m, m))
					if m.steps >= dies {
						ended = false
						if err == nil && m.steps == dies && name != "add too much" {
							t.Errorf("%s goes on after its death at step %d", name, dies)
						}
					}
					p.clock.advance(2 * time.Hour)
					if n := p.agree(files); n > 60 {
						for list, _ := alive.List(bg, by, "", "", 100); len(list) > 0; list = list[1:] {
							_, err := alive.Remove(bg, by, list[0].ID)
							ok(t, err)
						}
					}
					if t.Failed() {
						t.Fatalf("%s, dead at step %d, heard %v", name, dies, heard)
					}
				}
				if ended {
					if dies < 3 && name != "remove" {
						t.Errorf("%s has %d steps", name, dies-1)
					}
					break
				}
			}
		}
	})
}

// roomy says that there is room, so that only the transaction finds out.
type roomy struct{ coach.DocumentStore }

func (r roomy) Storage(context.Context, string) (int, int64, coach.TierStatus, error) {
	return 0, -1 << 40, coach.TierStatus{}, nil
}

// TestDocumentsAtOnce: however uploads, replacements, removals and edits race, what
// a coach is said to store is the sum of what is there.
func TestDocumentsAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		p := newPitch(t, url)
		coaches := []actor.Actor{p.coach(1), p.coach(2)}
		files := &memory{kept: map[string]int64{}}
		s := p.documentsOver(p.db, files)
		kinds := []coach.DocumentKind{coach.Certification, coach.Identity, coach.ProfilePicture}
		var wait sync.WaitGroup
		for worker := range 8 {
			wait.Go(func() {
				dice := rand.New(rand.NewPCG(uint64(worker), 7))
				for range 30 {
					if err := disturb(s, coaches[dice.IntN(2)], kinds[dice.IntN(3)], dice); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wait.Go(func() {
			for range 20 { // a sweeper beside them
				if _, err := s.DeleteExpiredBlobs(bg); err != nil {
					t.Error(err)
				}
			}
		})
		wait.Wait()
		if n := p.agree(files); n == 0 {
			t.Error("nothing is left to compare")
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
				t.Errorf("%d pictures are the profile's, want %d", chosen, want)
			}
			filled, err := p.db.Filled(bg, by.AccountID)
			ok(t, err)
			for _, field := range []string{"certifications", "profile_picture"} {
				if slices.Contains(filled, field) == slices.Contains(profile.Missing([]string{field}), field) {
					t.Errorf("%s: filled %v", field, filled)
				}
			}
		}
	})
}

// disturb does one thing to a coach's documents, whatever others do.
func disturb(s *coach.Documents, by actor.Actor, kind coach.DocumentKind, dice *rand.Rand) error {
	draft := coach.Upload{Kind: kind, FileName: "a", File: pageOf(1 + 2*dice.IntN(50))}
	if dice.IntN(2) == 0 {
		_, err := s.Add(bg, by, draft)
		return err
	}
	list, err := s.List(bg, by, "", "", 100)
	if err != nil || len(list) == 0 {
		return err
	}
	id, title := list[dice.IntN(len(list))].ID, fmt.Sprint(dice.IntN(100))
	switch dice.IntN(3) {
	case 0:
		_, _, err = s.Replace(bg, by, id, draft)
	case 1:
		_, err = s.Remove(bg, by, id)
	default:
		_, err = s.Edit(bg, by, id, coach.DocumentPatch{Title: &title})
	}
	if fault.KindOf(err) == fault.NotFound {
		return nil // somebody was faster
	}
	return err
}

// TestLimitsOfDocuments: of rivals for the last room, by number or by bytes, as
// many get in as there is room for.
func TestLimitsOfDocuments(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		p := newPitch(t, url)
		files := &memory{kept: map[string]int64{}}
		s := p.documentsOver(roomy{p.db}, files)
		race := func(by actor.Actor, n int, code string) (in int) {
			var wait sync.WaitGroup
			var mu sync.Mutex
			for range n {
				wait.Go(func() {
					_, err := s.Add(bg, by, coach.Upload{Kind: coach.Identity, FileName: "a", File: pageOf(10)})
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						in++
					} else if fault.CodeOf(err) != code {
						t.Error(err)
					}
				})
			}
			wait.Wait()
			return in
		}
		if in := race(p.coach(1), coach.MaxDocuments+20, "validation_failed"); in != coach.MaxDocuments {
			t.Errorf("%d documents, want %d", in, coach.MaxDocuments)
		}
		s.CheckStorage = coach.Tiers{List: []coach.Tier{{Name: "small", Limits: coach.Limits{StorageBytes: 75}}}}.CheckStorage
		by := p.coach(2)
		if in := race(by, 20, "tier_limit"); in != 7 {
			t.Errorf("%d documents of 10 bytes within 75", in)
		}
		list, err := s.List(bg, by, "", "", 1)
		ok(t, err)
		if _, _, err = s.Replace(bg, by, list[0].ID, coach.Upload{FileName: "a", File: pageOf(16)}); fault.CodeOf(err) != "tier_limit" {
			t.Errorf("a larger one in its place: %v", err)
		}
		_, _, err = s.Replace(bg, by, list[0].ID, coach.Upload{FileName: "a", File: pageOf(14)})
		ok(t, err)
		p.agree(files)
	})
}
