package roster

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// TestLine: checks come before rows, each in the order in which they came; a caller who leaves the
// line keeps no turn.
func TestLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l line
		var order []string
		enter := func(ctx context.Context, name string, queue *[]chan struct{}) {
			go func() {
				if l.enter(ctx, queue) == nil {
					order = append(order, name)
				}
			}()
			synctest.Wait()
		}
		gone, leave := context.WithCancel(t.Context())
		enter(t.Context(), "first", &l.reads)
		enter(t.Context(), "second", &l.reads)
		enter(t.Context(), "rows 1", &l.reads)
		enter(gone, "gone", &l.checks)
		enter(t.Context(), "rows 2", &l.reads)
		enter(t.Context(), "check 1", &l.checks)
		enter(t.Context(), "check 2", &l.checks)
		leave()
		synctest.Wait()
		want := []string{"first", "second"}
		for _, next := range []string{"check 1", "check 2", "rows 1", "rows 2"} {
			if !slices.Equal(order, want) {
				t.Errorf("entered: %q, want %q", order, want)
			}
			l.leave()
			synctest.Wait()
			want = append(want, next)
		}
		l.leave()
		l.leave()
		if !slices.Equal(order, want) || l.inside != 0 {
			t.Errorf("entered: %q and %d are inside, want %q", order, l.inside, want)
		}
	})
}

// TestTooManyFilesWait: at most 16 files of a coach and 256 of the process wait.
func TestTooManyFilesWait(t *testing.T) {
	t.Parallel()
	var rs readers
	admitted := 0
	for n := range 20 * 20 {
		err := rs.admit(&reader{by: actor.Actor{AccountID: fmt.Sprint(n / 20)}, done: make(chan struct{})})
		switch {
		case err == nil:
			admitted++
		case fault.CodeOf(err) != "overloaded":
			t.Fatal(err)
		}
		if n == 19 && admitted != maxFilesOfCoach {
			t.Errorf("%d files of a coach wait, want %d", admitted, maxFilesOfCoach)
		}
	}
	if admitted != maxFiles {
		t.Errorf("%d files wait, want %d", admitted, maxFiles)
	}
}
