package bench_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/bench"
)

// quick tests Compare itself: its turns are too short for a meaningful figure.
var quick = bench.Options{Rounds: 3, Round: 60 * time.Millisecond, Workers: 2}

func TestCompareFindsTheFaster(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(10 * time.Millisecond)
		io.WriteString(w, "ok")
	}
	fast := func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }
	result, err := bench.Compare(t.Context(), []bench.Contender{
		{Name: "fast", URL: serveHTTP(t, fast), Requests: get("/")},
		{Name: "slow", URL: serveHTTP(t, slow), Requests: get("/")},
	}, quick)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := result.Ratio("slow", "fast"); ratio <= 0 || ratio >= 1 {
		t.Errorf("slow over fast = %.2f, want less than 1", ratio)
	}
	if p50 := result.Series[1].P50(); p50 < 10*time.Millisecond {
		t.Errorf("p50 of slow = %s, want at least the 10ms that it sleeps", p50)
	}
	for _, s := range result.Series {
		if len(s.Rounds) != quick.Rounds || s.Throughput() <= 0 || s.P99() < s.P50() || s.CPUPerOperation() != 0 {
			t.Errorf("%s: %+v", s.Name, s)
		}
	}
	var table bytes.Buffer
	if err := result.Write(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fast", "slow", "p99", "3 rounds of 60ms, 2 connections"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table has no %q:\n%s", want, table.String())
		}
	}
}

func TestCompareInterleavesRounds(t *testing.T) {
	var mu sync.Mutex
	var turns []string
	contender := func(name string) bench.Contender {
		handler := func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if len(turns) == 0 || turns[len(turns)-1] != name {
				turns = append(turns, name)
			}
		}
		return bench.Contender{Name: name, URL: serveHTTP(t, handler), Requests: get("/")}
	}
	if _, err := bench.Compare(t.Context(), []bench.Contender{contender("A"), contender("B"), contender("C")}, quick); err != nil {
		t.Fatal(err)
	}
	if want := strings.Split("ABCABCABC", ""); !slices.Equal(turns, want) {
		t.Errorf("turns = %v, want %v", turns, want)
	}
}

// TestCompareKeepsEscapedPath: the server gets an escaped slash of a path as it is.
func TestCompareKeepsEscapedPath(t *testing.T) {
	const target = "/players/a%2Fb?page=1"
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI != target {
			http.Error(w, r.RequestURI, http.StatusNotFound)
		}
	}
	if _, err := bench.Compare(t.Context(), []bench.Contender{{Name: "x", URL: serveHTTP(t, handler), Requests: get(target)}}, quick); err != nil {
		t.Error(err)
	}
}

// In a chain each request depends on the response before it, as in a refresh.
func TestComparePassesResponsesToTheWorker(t *testing.T) {
	const workers = 2
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer x" || r.URL.Query().Get("q") != "1" {
			http.Error(w, "method, header or query lost", http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, "%s.", body)
	}
	tokens := [workers]string{"first", "first"}
	var requests, responses [workers]int
	o := quick
	o.Workers = workers
	o.Round = time.Second // on a busy machine a short round may end before its first operation
	_, err := bench.Compare(t.Context(), []bench.Contender{{
		Name: "chain",
		URL:  serveHTTP(t, handler),
		Requests: func(worker int) func() *http.Request {
			return func() *http.Request {
				requests[worker]++
				req, _ := http.NewRequest(http.MethodPost, "/chain?q=1", strings.NewReader(tokens[worker]))
				req.Header.Set("Authorization", "Bearer x")
				return req
			}
		},
		Response: func(worker int, body []byte) error {
			responses[worker]++
			if want := tokens[worker] + "."; string(body) != want {
				return fmt.Errorf("got %q, want %q", body, want)
			}
			tokens[worker] = string(body[max(0, len(body)-20):])
			return nil
		},
	}}, o)
	if err != nil {
		t.Fatal(err)
	}
	if requests != responses || requests[0] == 0 || requests[1] == 0 {
		t.Errorf("requests %v, responses %v; want the same numbers above 0", requests, responses)
	}
}

func TestCompareEndsWhenWorkRunsOut(t *testing.T) {
	const each = 10
	var served atomic.Int64
	o := quick
	o.Round = time.Minute // far longer than the work lasts
	result, err := bench.Compare(t.Context(), []bench.Contender{{
		Name:         "finite",
		URL:          serveHTTP(t, func(http.ResponseWriter, *http.Request) { served.Add(1) }),
		PerOperation: 2,
		Requests: func(worker int) func() *http.Request {
			left, next := each, get("/")(worker)
			return func() *http.Request {
				if left--; left < 0 {
					return nil
				}
				return next()
			}
		},
	}}, o)
	if err != nil {
		t.Fatal(err)
	}
	want := int64(each * o.Workers * o.Rounds)
	if served.Load() != want {
		t.Errorf("served %d requests, want %d", served.Load(), want)
	}
	for _, s := range result.Series[0].Rounds {
		if s.Operations != each*o.Workers/2 {
			t.Errorf("operations = %d, want %d, half the requests of a round", s.Operations, each*o.Workers/2)
		}
	}
}

func TestCompareRefusesFailures(t *testing.T) {
	ok := func(w http.ResponseWriter, r *http.Request) {}
	tests := []struct {
		name      string
		contender bench.Contender
		want      string
	}{
		{"a problem", bench.Contender{URL: serveHTTP(t, http.NotFound), Requests: get("/gone")}, "GET /gone: status 404: 404 page not found"},
		{"no server", bench.Contender{URL: "http://127.0.0.1:1", Requests: get("/")}, "refused"},
		{"no port", bench.Contender{URL: "http://localhost", Requests: get("/")}, "not http://host:port"},
		{"no work", bench.Contender{URL: serveHTTP(t, ok), Requests: func(int) func() *http.Request {
			return func() *http.Request { return nil }
		}}, "no operation"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.contender.Name = "subject"
			_, err := bench.Compare(t.Context(), []bench.Contender{tt.contender}, quick)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "subject") {
				t.Errorf("err = %v, want one with the contender's name and %q", err, tt.want)
			}
		})
	}
}

func TestCompareEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	handler := func(http.ResponseWriter, *http.Request) { cancel() }
	o := quick
	o.Round = time.Minute
	_, err := bench.Compare(ctx, []bench.Contender{{Name: "x", URL: serveHTTP(t, handler), Requests: get("/")}}, o)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
}

func TestCompareReadsTheWholeResponse(t *testing.T) {
	large := strings.Repeat("0123456789", 10_000)
	shapes := map[string]http.HandlerFunc{
		"empty":      func(w http.ResponseWriter, r *http.Request) {},
		"no content": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"length":     func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "short") },
		"large":      func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, large) },
		"chunked": func(w http.ResponseWriter, r *http.Request) {
			for range 3 {
				io.WriteString(w, large)
				w.(http.Flusher).Flush()
			}
		},
		"closing": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			io.WriteString(w, "bye")
		},
	}
	lengths := map[string]int{"length": 5, "large": len(large), "chunked": 3 * len(large), "closing": 3}
	for name, handler := range shapes {
		t.Run(name, func(t *testing.T) {
			o := quick
			o.Rounds = 1
			_, err := bench.Compare(t.Context(), []bench.Contender{{
				Name: name, URL: serveHTTP(t, handler), Requests: get("/"),
				Response: func(_ int, body []byte) error {
					if len(body) != lengths[name] {
						return fmt.Errorf("%d bytes, want %d", len(body), lengths[name])
					}
					return nil
				},
			}}, o)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func get(target string) func(int) func() *http.Request {
	return func(int) func() *http.Request {
		return func() *http.Request {
			req, err := http.NewRequest(http.MethodGet, target, nil)
			if err != nil {
				panic(err)
			}
			return req
		}
	}
}

// serveHTTP returns the URL of a server for h that ends with the test.
func serveHTTP(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}
