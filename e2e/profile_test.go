package e2e_test

import (
	"testing"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestProfiles: a token with the scope profiles reads them, other tokens and callers without one do not.
func TestProfiles(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	profiler := s.Operator(t, operator.Profiles)
	for _, path := range []string{"heap", "goroutine", "profile?seconds=1", "trace?seconds=1"} {
		r := profiler.Call(t, "GET", "/debug/pprof/"+path, nil).Want(t, 200)
		if r.Header.Get("Content-Type") != "application/octet-stream" || len(r.Body) < 100 {
			t.Errorf("%s: got %d bytes of %s", path, len(r.Body), r.Header.Get("Content-Type"))
		}
	}
	profiler.Call(t, "GET", "/debug/pprof/cmdline", nil).Want(t, 404)
	s.Operator(t, operator.Metrics).Call(t, "GET", "/debug/pprof/heap", nil).Want(t, 403, "insufficient_scope")
	s.AdminCall(t, "GET", "/debug/pprof/heap", "", nil).Want(t, 401)
	s.Call(t, "GET", "/debug/pprof/heap", "", nil).Want(t, 404) // the public listener
	statuses := make(chan int, 2)
	for range 2 { // at the same time: one is refused
		go func() {
			r, err := s.AdminDo(t.Context(), "GET", "/debug/pprof/profile?seconds=3", profiler.Token, nil)
			if err != nil {
				t.Error(err)
				r = &touchlinetest.Response{}
			}
			statuses <- r.Status
		}()
	}
	if a, b := <-statuses, <-statuses; a+b != 200+503 {
		t.Errorf("two profiles: got %d and %d, want 200 and 503", a, b)
	}
}
