package touchline

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// silence ends a connection without a byte; the service sends a comment every 20 s.
const silence = 45 * time.Second

// Notification is one notification of the account.
type Notification struct {
	ID        string            `json:"id"`
	Type      string            `json:"type"`
	Title     string            `json:"title"`
	Body      string            `json:"body"`
	Data      map[string]string `json:"data"`
	CreatedAt time.Time         `json:"created_at"`
	ReadAt    *time.Time        `json:"read_at"`
}

// Live is a new notification, or with Connected the newest ones as they were after the first connection.
type Live struct {
	Connected    []Notification
	Notification *Notification
}

// Live returns the notifications as they arrive. After the first connection it reads the newest ones, so that none is missed
// between. A lost connection is made again with the id of the last notification, which continues exactly there. It ends with the
// context, and with an error that a new connection does not mend, such as SignedOut.
func (c *Client) Live(ctx context.Context) iter.Seq2[Live, error] {
	return func(yield func(Live, error) bool) {
		f := follower{client: c, known: map[string]bool{}}
		for failures := 0; ctx.Err() == nil; {
			stopped, connected, err := f.follow(ctx, yield)
			if stopped || ctx.Err() != nil {
				return
			}
			if connected {
				failures = 0
			}
			if err == nil { // the access token has expired
				continue
			}
			p, isProblem := errors.AsType[*Problem](err)
			_, signedOut := errors.AsType[*SignedOut](err)
			if signedOut || isProblem && p.Status < 500 && p.Status != http.StatusTooManyRequests {
				yield(Live{}, err)
				return
			}
			failures++
			wait := growingWait(failures)
			if isProblem {
				wait = max(wait, p.RetryAfter)
			}
			_ = sleep(ctx, wait) // the loop checks the context
		}
	}
}

type follower struct {
	client *Client
	last   string          // the id of the last notification
	known  map[string]bool // the ids of the newest ones that were read after the first connection
	begun  bool
}

// follow reads one connection. stopped means that the caller wants no more.
func (f *follower) follow(ctx context.Context, yield func(Live, error) bool) (stopped, connected bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.client.base+"/api/notifications/stream", nil)
	if err != nil {
		return false, false, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if f.last != "" {
		req.Header.Set("Last-Event-ID", f.last)
	}
	resp, err := f.client.signed.Do(req)
	if err != nil {
		return false, false, err
	}
	if resp.StatusCode != http.StatusOK {
		return false, false, problemOf(resp)
	}
	defer resp.Body.Close()
	if !f.begun {
		newest, err := Get[page[Notification]](ctx, f.client, "/api/notifications", url.Values{"limit": {"50"}})
		if err != nil {
			return false, false, err
		}
		for _, n := range newest.Items {
			f.known[n.ID] = true
		}
		if len(newest.Items) > 0 {
			f.last = newest.Items[0].ID
		}
		f.begun = true
		if !yield(Live{Connected: newest.Items}, nil) {
			return true, true, nil
		}
	}
	timer := time.AfterFunc(silence, cancel)
	defer timer.Stop()
	for n, err := range notifications(bufio.NewScanner(resp.Body), func() { timer.Reset(silence) }) {
		if err != nil {
			return false, true, err
		}
		f.last = n.ID
		if !f.known[n.ID] && !yield(Live{Notification: &n}, nil) {
			return true, true, nil
		}
	}
	return false, true, nil
}

// notifications reads the events of a stream. onLine is called for each line, also for comments.
func notifications(lines *bufio.Scanner, onLine func()) iter.Seq2[Notification, error] {
	return func(yield func(Notification, error) bool) {
		lines.Buffer(nil, 1<<20)
		var event, data string
		for lines.Scan() {
			onLine()
			field, value, _ := strings.Cut(lines.Text(), ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case lines.Text() == "":
				if event == "notification" {
					var n Notification
					if err := json.Unmarshal([]byte(data), &n); err != nil {
						yield(n, fmt.Errorf("decode a notification: %w", err))
						return
					}
					if !yield(n, nil) {
						return
					}
				}
				event, data = "", ""
			case field == "event":
				event = value
			case field == "data":
				data += value
			}
		}
		if err := lines.Err(); err != nil {
			yield(Notification{}, err)
		}
	}
}
