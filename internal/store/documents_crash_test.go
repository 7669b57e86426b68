package store_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store/storetest"
)

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
	err = m.step(func() error { saved, err = m.DocumentStore.AddDocument(ctx, d, check); return err })
	return saved, err
}

func (m *crashingStore) ReplaceFile(ctx context.Context, coachID, id string, f coach.StoredFile, now time.Time, check coach.StorageCheck) (d coach.Document, kyc coach.KYCState, err error) {
	err = m.step(func() error { d, kyc, err = m.DocumentStore.ReplaceFile(ctx, coachID, id, f, now, check); return err })
	return d, kyc, err
}

func (m *crashingStore) RemoveDocument(ctx context.Context, coachID, id string) (r coach.RemovedDocument, err error) {
	err = m.step(func() error { r, err = m.DocumentStore.RemoveDocument(ctx, coachID, id); return err })
	return r, err
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

// TestCrashDuringDocumentChange crashes the process before and after every step of
// adding, replacing, removing and cleaning up. A document must be complete or
// absent, and two hours later no blob may be left without a document.
func TestCrashDuringDocumentChange(t *testing.T) {
	t.Parallel()
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
