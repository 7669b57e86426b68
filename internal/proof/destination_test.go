package proof_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/store/storetest"
)

// archive is a server that keeps checkpoints.
type archive struct {
	*httptest.Server
	mu       sync.Mutex
	status   int    // of the next requests; 0 keeps checkpoints
	reading  func() // if it is not nil, it runs before a response to GET
	cut      bool   // responses to GET end before their content
	content  []byte
	requests []string // method and size of each request
	webhooks []http.Header
}

func newArchive(t *testing.T) *archive {
	a := &archive{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.requests = append(a.requests, r.Method)
		if r.Method == http.MethodGet && a.reading != nil {
			a.reading()
		}
		switch {
		case a.status != 0:
			w.WriteHeader(a.status)
		case r.Method == http.MethodGet && a.cut:
			w.Header().Set("Content-Length", "1000")
		case r.Method == http.MethodGet && a.content == nil:
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodGet:
			_, _ = w.Write(a.content)
		default:
			a.content = body
			a.webhooks = append(a.webhooks, r.Header)
		}
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *archive) set(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status = status
}

// got returns the methods of the requests since the last call, and the content.
func (a *archive) got() (methods, content string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	methods = strings.Join(a.requests, " ")
	a.requests = nil
	return methods, string(a.content)
}

func (a *archive) destination() proof.Destination {
	return proof.Destination{Name: "archive", URL: a.URL}
}

// publish runs all publications of a service once, and returns their errors.
func publish(s *proof.Service) (failures []string) {
	for _, job := range s.Publications() {
		if err := job(bg); err != nil {
			failures = append(failures, err.Error())
		}
	}
	return failures
}

// signed returns the newest checkpoint as the log serves it.
func (f *fixture) signed() string {
	f.Helper()
	c, err := f.Checkpoint(bg)
	ok(f, err)
	return string(c)
}

// TestDestinationRecovers: a destination that fails gets a later attempt, delays neither the log nor another destination, and
// gets the newest checkpoint when it recovers.
func TestDestinationRecovers(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		broken, working := newArchive(t), newArchive(t)
		failing := map[string]time.Duration{}
		f.Destinations = []proof.Destination{{Name: "broken", URL: broken.URL + "/secret"}, working.destination()}
		f.Failing = func(name string, since time.Duration) { failing[name] = since }
		if failures := publish(f.Service); failures != nil {
			t.Errorf("without a checkpoint: %v", failures)
		}
		broken.set(http.StatusInternalServerError)
		f.record(2)
		ok(t, f.Work(bg))
		failures := publish(f.Service)
		if len(failures) != 1 || !strings.Contains(failures[0], "the destination broken has accepted no checkpoint since") || !strings.Contains(failures[0], "attempt 1: responded 500") || strings.Contains(failures[0], "secret") {
			t.Errorf("failures %q", failures)
		}
		if methods, content := working.got(); methods != "GET PUT" || content != f.signed() {
			t.Errorf("the working destination got %s, %q", methods, content)
		}
		f.record(1)
		ok(t, f.Work(bg))
		if c := f.checkpoint(origin); c.Size != 3 {
			t.Errorf("the log has %d records, want 3", c.Size)
		}
		if publish(f.Service); failing["broken"] == 0 || failing["archive"] != 0 {
			t.Errorf("failing %v", failing)
		}
		if methods, _ := broken.got(); methods != "GET" {
			t.Errorf("the broken destination got %s before its wait ended", methods)
		}
		f.ahead.Add(int64(11 * time.Second))
		if failures := publish(f.Service); len(failures) != 1 || !strings.Contains(failures[0], "attempt 2") {
			t.Errorf("the second attempt: %q", failures)
		}
		if methods, content := working.got(); methods != "PUT" || content != f.signed() {
			t.Errorf("the working destination got %s, %q", methods, content)
		}
		broken.got()
		broken.set(0)
		f.ahead.Add(int64(21 * time.Second))
		if failures := publish(f.Service); failures != nil {
			t.Errorf("recovered: %v", failures)
		}
		publish(f.Service)
		if methods, content := broken.got(); methods != "GET PUT" || content != f.signed() || failing["broken"] != 0 {
			t.Errorf("recovered: got %s, %q, failing %v", methods, content, failing)
		}
	})
}

// TestReplicasPublishOnce: replicas that publish at the same time send each checkpoint once.
func TestReplicasPublishOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		a := newArchive(t)
		replicas := []*proof.Service{f.Service, f.service(""), f.service("")}
		for _, r := range replicas {
			r.Destinations = []proof.Destination{{Name: "archive", URL: a.URL, Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}}
		}
		const rounds = 5
		for range rounds {
			f.record(1)
			ok(t, f.Work(bg))
			var all sync.WaitGroup
			for _, r := range replicas {
				all.Go(func() {
					for range 3 {
						if failures := publish(r); failures != nil {
							t.Error(failures)
						}
					}
				})
			}
			all.Wait()
			f.ahead.Add(int64(11 * time.Second))
		}
		if methods, _ := a.got(); methods != strings.TrimSpace(strings.Repeat("POST ", rounds)) {
			t.Errorf("got %s, want %d", methods, rounds)
		}
	})
}

// TestWebhookDestination: the library of Standard Webhooks verifies the message, which has the checkpoint.
func TestWebhookDestination(t *testing.T) {
	t.Parallel()
	f := newFixture(t, storetest.SQLite(t))
	a := newArchive(t)
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	f.Destinations = []proof.Destination{{Name: "archive", URL: a.URL, Secret: secret}}
	f.record(2)
	ok(t, f.Work(bg))
	if failures := publish(f.Service); failures != nil {
		t.Fatal(failures)
	}
	methods, content := a.got()
	v, err := standardwebhooks.NewWebhook(secret)
	ok(t, err)
	if err := v.Verify([]byte(content), a.webhooks[0]); err != nil || methods != "POST" {
		t.Errorf("%s: %v", methods, err)
	}
	var message struct {
		Type string
		Data struct {
			Origin, Checkpoint string
			Size               int64
		}
	}
	ok(t, json.Unmarshal([]byte(content), &message))
	if d := message.Data; message.Type != "log.checkpoint" || d.Origin != origin || d.Size != 2 || d.Checkpoint != f.signed() {
		t.Errorf("message %+v", message)
	}
}

// TestDestinationOfNewerLog: a database that is older than the checkpoint of a URL stops the log, and the URL keeps its checkpoint.
func TestDestinationOfNewerLog(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		a := newArchive(t)
		newer, err := proof.SignCheckpoint(f.Service, proof.Checkpoint{Origin: origin, Size: 400, Root: tlog.Hash{1}})
		ok(t, err)
		a.content = newer
		f.Destinations = []proof.Destination{a.destination()}
		f.record(2)
		ok(t, f.Work(bg))
		for range 2 {
			publish(f.Service)
			f.ahead.Add(int64(time.Minute))
		}
		if methods, content := a.got(); methods != "GET" || content != string(newer) || !f.stopped || !strings.Contains(strings.Join(f.events, ""), "has 400 records, the database has 2") {
			t.Errorf("got %s, %q, stopped %t, %v", methods, content, f.stopped, f.events)
		}
		// A response that was cut off shows nothing, so its checkpoint is not replaced.
		h := newFixture(t, storetest.SQLite(t))
		a.cut = true
		h.Destinations = f.Destinations
		h.number(1)
		failures := publish(h.Service)
		if methods, content := a.got(); methods != "GET" || content != string(newer) || len(failures) != 1 || !strings.Contains(failures[0], "cut off") {
			t.Errorf("got %s, %q, failures %q", methods, content, failures)
		}
		a.cut = false
		// Other content is replaced.
		g := newFixture(t, storetest.SQLite(t))
		a.content = []byte("<html>")
		g.Destinations = f.Destinations
		g.record(1)
		ok(t, g.Work(bg))
		publish(g.Service)
		if methods, content := a.got(); methods != "GET PUT" || content != g.signed() || g.stopped {
			t.Errorf("got %s, %q, stopped %t", methods, content, g.stopped)
		}
	})
}

// TestDestinationAfterRestore: a process finds at its start that a URL has a later checkpoint than the restored database, although
// the database says that the URL has its newest one.
func TestDestinationAfterRestore(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		a := newArchive(t)
		f.File = ""
		f.Destinations = []proof.Destination{a.destination()}
		f.number(300)
		f.publishAll()
		f.keep()
		f.ahead.Add(int64(publishEvery))
		f.number(20)
		f.publishAll()
		_, newest := a.got()
		f.restore()
		f.run(`UPDATE log_destinations SET published = $1`, f.old)
		f.restart()
		f.Destinations = []proof.Destination{a.destination()}
		f.ahead.Add(int64(publishEvery))
		publish(f.Service)
		if methods, content := a.got(); methods != "GET" || content != newest || !f.stopped || !strings.Contains(strings.Join(f.events, ""), "has 320 records, the database has 300") {
			t.Errorf("got %s, %q, stopped %t, %v", methods, content, f.stopped, f.events)
		}
	})
}

// TestDestinationOfStoppedLog: a log that stops while a URL is read does not replace the checkpoint of the URL.
func TestDestinationOfStoppedLog(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		a := newArchive(t)
		f.Destinations = []proof.Destination{a.destination()}
		f.number(2)
		newer, err := proof.SignCheckpoint(f.Service, proof.Checkpoint{Origin: origin, Size: 400, Root: tlog.Hash{1}})
		ok(t, err)
		a.content = newer
		a.reading = func() {
			f.run(`UPDATE consent_log SET stopped_at = 1, stopped_reason = 'the file has another checkpoint'`)
		}
		failures := publish(f.Service)
		if methods, content := a.got(); methods != "GET" || content != string(newer) || len(failures) != 1 || !strings.Contains(failures[0], "the log has stopped") {
			t.Errorf("got %s, %q, failures %q", methods, content, failures)
		}
	})
}
