package store_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store/storetest"
)

var errCrashed = errors.New("process crashed")

// crashingFiles is a file store whose process crashes at a step: before it, or after it without seeing
// the result. The check of the storage within the transaction is a step too: the transaction of a
// process that crashes is rolled back.
type crashingFiles struct {
	blob.Store
	crashAt   int
	afterStep bool // crash after the step, not before it
	steps     int
}

func (m *crashingFiles) step(do func() error) error {
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

func (m *crashingFiles) Put(ctx context.Context, key string, r io.ReadSeeker, size int64, mediaType string) error {
	return m.step(func() error { return m.Store.Put(ctx, key, r, size, mediaType) })
}

func (m *crashingFiles) Delete(ctx context.Context, key string) error {
	return m.step(func() error { return m.Store.Delete(ctx, key) })
}

func (m *crashingFiles) checkStorage(coach.TierStatus, int64, int64) error {
	return m.step(func() error { return nil })
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
		healthy := p.newDocuments(files)
		works := map[string]func(s *document.Service) error{
			"add a picture": func(s *document.Service) error {
				_, err := s.Add(bg, by, document.Upload{Kind: coach.ProfilePicture, FileName: "me.jpg", File: newFakeFile(31)})
				return err
			},
			"add too much": func(s *document.Service) error {
				checks, check := 0, s.CheckStorage
				s.CheckStorage = func(status coach.TierStatus, usage, more int64) error {
					if checks++; checks == 1 {
						return check(status, usage, more) // only the transaction refuses
					}
					return cmp.Or(check(status, usage, more), error(fault.New(fault.Forbidden, "tier_limit", "No.")))
				}
				_, err := s.Add(bg, by, document.Upload{Kind: coach.Identity, FileName: "a.pdf", File: newFakeFile(40)})
				if fault.CodeOf(err) == "tier_limit" {
					err = nil // expected
				}
				return err
			},
			"replace": func(s *document.Service) error {
				list, err := healthy.List(bg, by, coach.Certification, "", 1)
				ok(t, err)
				_, _, err = s.Replace(bg, by, list[0].ID, document.Upload{FileName: "b.pdf", File: newFakeFile(20)})
				return err
			},
			"remove": func(s *document.Service) error {
				list, err := healthy.List(bg, by, coach.Certification, "", 1)
				ok(t, err)
				_, err = s.Remove(bg, by, list[0].ID)
				return err
			},
			"remove and clean up": func(s *document.Service) error {
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
					_, err := healthy.Add(bg, by, document.Upload{Kind: coach.Certification, FileName: "a.pdf", File: newFakeFile(10)})
					ok(t, err)
					m := &crashingFiles{Store: files, crashAt: crashAt, afterStep: afterStep}
					crashing := p.newDocuments(m)
					crashing.CheckStorage = m.checkStorage
					err = work(crashing)
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
					if crashAt < 2 && name != "remove" {
						t.Errorf("%s: got only %d steps", name, crashAt-1)
					}
					break
				}
			}
		}
	})
}
