package e2e_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// streamEvent is a server-sent event or a comment.
type streamEvent struct{ id, event, data, comment string }

// streamReader reads a notification stream.
type streamReader struct {
	*testing.T
	events chan streamEvent // closed when the stream ends
	stop   func()
}

// openStream opens a stream of p. The server has registered it when openStream
// returns.
func openStream(t *testing.T, p *touchlinetest.User, last string) *streamReader {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Service.URL+"/api/notifications/stream", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.Access)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || !strings.Contains(resp.Header.Get("Cache-Control"), "no-store") {
		t.Fatalf("got %d %v", resp.StatusCode, resp.Header)
	}
	f := &streamReader{T: t, events: make(chan streamEvent, 4096), stop: cancel}
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "retry: ") {
		t.Fatalf("got first line %q", lines.Text())
	}
	go func() {
		defer close(f.events)
		defer func() { _ = resp.Body.Close() }()
		var h streamEvent
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				h.id = value
			case "event":
				h.event = value
			case "data":
				h.data = value
			case "":
				if value != "" {
					h.comment = value
				} else if h != (streamEvent{}) {
					f.events <- h
					h = streamEvent{}
				}
			}
		}
	}()
	return f
}

// next returns the next event, skipping comments. It fails the test after limit.
func (f *streamReader) next(limit time.Duration) streamEvent {
	f.Helper()
	timeout := time.After(limit)
	for {
		select {
		case h, open := <-f.events:
			if !open {
				f.Fatal("the stream ended")
			}
			if h.comment == "" {
				return h
			}
		case <-timeout:
			f.Fatalf("no event within %s", limit)
		}
	}
}

// ends fails the test unless the stream ends within limit without an event.
func (f *streamReader) ends(limit time.Duration) {
	f.Helper()
	timeout := time.After(limit)
	for {
		select {
		case h, open := <-f.events:
			if !open {
				return
			}
			if h.comment == "" {
				f.Errorf("got event %s, want the end", h.event)
			}
		case <-timeout:
			f.Errorf("the stream did not end within %s", limit)
			return
		}
	}
}
