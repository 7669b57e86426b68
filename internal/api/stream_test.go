package api_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/store"
)

// addPlayers adds two players that name the fixture's account.
func (a *fixture) addPlayers(t *testing.T) {
	t.Helper()
	coach := newID()
	a.exec(t, `INSERT INTO accounts (id, mobile_number, role, created_at) VALUES ($1, '+919800000000', 'coach', 0)`, coach)
	for range 2 {
		id := newID()
		a.exec(t, `INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at)
			VALUES ($1, $2, 1, 'Asha', $1, '2014-01-01', '', 0)`, id, coach)
		a.exec(t, `INSERT INTO parties (player_id, role, position, coach_id, account_id, name, state, pending_since) VALUES ($1, 'guardian', 1, $2, $3, 'Meera', 'approved', 0)`, id, coach, a.session.AccountID)
		a.exec(t, `INSERT INTO parties (player_id, role, position, coach_id, state, pending_since) VALUES ($1, 'student', 1, $2, 'pending', 0)`, id, coach)
	}
}

// addNotification adds a notification for the fixture's account and returns its id.
func (a *fixture) addNotification(t *testing.T) string {
	t.Helper()
	id := newID()
	err := a.db.Write(t.Context(), func(tx *store.Tx) error {
		err := tx.Defer(t.Context(), `UPDATE accounts SET tray_seq = tray_seq + 1 WHERE id = $1`, a.session.AccountID)
		if err != nil {
			return err
		}
		return tx.Defer(t.Context(), `INSERT INTO notifications (account_id, seq, id, type, title, body, data, created_at)
			SELECT id, tray_seq, CAST($2 AS TEXT), 'student_approved', 't', $3, '{}', 0 FROM accounts WHERE id = $1`, a.session.AccountID, id, "line\nline")
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// eventReader reads the events of a stream.
type eventReader struct {
	t     *testing.T
	lines *bufio.Scanner
	body  io.Closer
}

func openStream(t *testing.T, url, token, last string) *eventReader {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", url+"/api/notifications/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("got %d %v, want 200 with text/event-stream", resp.StatusCode, resp.Header)
	}
	f := &eventReader{t, bufio.NewScanner(resp.Body), resp.Body}
	f.until("retry: ")
	return f
}

// until returns the rest of the next line that begins with prefix, or "" at the end.
func (f *eventReader) until(prefix string) string {
	for f.lines.Scan() {
		if rest, ok := strings.CutPrefix(f.lines.Text(), prefix); ok {
			return rest
		}
	}
	if err := f.lines.Err(); err != nil {
		f.t.Errorf("read the stream: %v", err)
	}
	return ""
}

func (f *eventReader) want(ids ...string) {
	f.t.Helper()
	for _, id := range ids {
		if got := f.until("id: "); got != id {
			f.t.Fatalf("got event %q, want %s", got, id)
		}
		if data := f.until("data: "); !strings.Contains(data, id) {
			f.t.Fatalf("got data %q, want id %s", data, id)
		}
	}
}

func (f *eventReader) ends() {
	f.t.Helper()
	if id := f.until("id: "); id != "" {
		f.t.Errorf("got event %s, want the end of the stream", id)
	}
}

const (
	// serverTimeout is the read and write timeout of the server. No deadline of a stream is as late,
	// so timeoutConn can tell the two apart.
	serverTimeout = 24 * time.Hour
	// appliedTimeout is what startTimeouts applies in place of serverTimeout. It is shorter than the
	// test, because a stream must outlive it.
	appliedTimeout = 100 * time.Millisecond
)

// timeoutListener has connections that apply the timeouts of the server when startTimeouts is
// called. On a busy machine they would pass before a stream begins.
type timeoutListener struct {
	net.Listener
	mu    sync.Mutex
	conns []*timeoutConn
}

func (l *timeoutListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &timeoutConn{Conn: conn}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, c)
	return c, nil
}

// startTimeouts starts the timeouts that no stream has replaced by its own.
func (l *timeoutListener) startTimeouts() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.mu.Lock()
		if c.read {
			_ = c.Conn.SetReadDeadline(time.Now().Add(appliedTimeout))
		}
		if c.write {
			_ = c.Conn.SetWriteDeadline(time.Now().Add(appliedTimeout))
		}
		c.mu.Unlock()
	}
}

// timeoutConn sets no deadline for the server's timeouts, but records that one was asked for.
type timeoutConn struct {
	net.Conn
	mu          sync.Mutex
	read, write bool // a deadline was not set
}

func (c *timeoutConn) SetReadDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Conn.SetReadDeadline(withoutTimeout(at, &c.read))
}

func (c *timeoutConn) SetWriteDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Conn.SetWriteDeadline(withoutTimeout(at, &c.write))
}

// withoutTimeout returns no deadline, and sets removed, if at is a timeout of the server: more than
// half of serverTimeout from now. It returns any other one unchanged, such as one in the past,
// which ends a read at once.
func withoutTimeout(at time.Time, removed *bool) time.Time {
	if *removed = time.Until(at) > serverTimeout/2; *removed {
		return time.Time{}
	}
	return at
}

func TestStream(t *testing.T) {
	t.Parallel()
	setup := func(t *testing.T) (*fixture, string, *timeoutListener) {
		t.Parallel()
		a := newFixture(t)
		a.addPlayers(t)
		srv := httptest.NewUnstartedServer(a.server.Handler())
		listener := &timeoutListener{Listener: srv.Listener}
		srv.Listener = listener
		srv.Config.ReadTimeout, srv.Config.WriteTimeout = serverTimeout, serverTimeout
		srv.Start()
		t.Cleanup(srv.Close)
		t.Cleanup(a.hub.Close)
		return a, srv.URL, listener
	}
	t.Run("sends only new notifications and outlives the server's timeouts", func(t *testing.T) {
		a, url, server := setup(t)
		a.addNotification(t)
		f := openStream(t, url, a.token, "")
		server.startTimeouts()
		for range 5 {
			f.until(": still here")
		}
		f.want(a.addNotification(t), a.addNotification(t))
	})
	t.Run("resumes after the last event", func(t *testing.T) {
		a, url, _ := setup(t)
		var ids []string
		for range 250 {
			ids = append(ids, a.addNotification(t))
		}
		openStream(t, url, a.token, ids[9]).want(ids[10:]...)
	})
	t.Run("sends only new notifications if Last-Event-ID is not an id", func(t *testing.T) {
		a, url, _ := setup(t)
		a.addNotification(t)
		for _, last := range []string{"42", "x"} {
			f := openStream(t, url, a.token, last)
			f.want(a.addNotification(t))
		}
	})
	ends := map[string]func(*testing.T, *fixture){
		"after the session": func(t *testing.T, a *fixture) { a.exec(t, `UPDATE sessions SET revoked_at = 1`) },
		"when a player no longer names the caller": func(t *testing.T, a *fixture) {
			a.exec(t, `UPDATE parties SET deleted_at = 1 WHERE player_id = (SELECT min(id) FROM players)`)
		},
		"after an error of the store": func(t *testing.T, a *fixture) { a.exec(t, `DROP TABLE streams`) },
		"at shutdown":                 func(_ *testing.T, a *fixture) { a.hub.Close() },
	}
	for name, end := range ends {
		t.Run("ends "+name, func(t *testing.T) {
			a, url, server := setup(t)
			f := openStream(t, url, a.token, "")
			server.startTimeouts()
			time.Sleep(appliedTimeout * 3 / 2)
			end(t, a)
			f.ends()
		})
	}
	t.Run("the eleventh stream of an account ends the first", func(t *testing.T) {
		a, url, _ := setup(t)
		first := openStream(t, url, a.token, "")
		var last *eventReader
		for range 10 {
			last = openStream(t, url, a.token, "")
		}
		first.ends()
		last.want(a.addNotification(t))
	})
	t.Run("a stream beyond the limit of the process is refused", func(t *testing.T) {
		a, url, _ := setup(t)
		a.hub.MaxStreams = 2
		var open []*notice.Subscription
		for _, account := range []string{"x", "y"} {
			sub, err := a.hub.Subscribe(account)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, sub)
		}
		if w := send(a.server.Handler(), "GET", "/api/notifications/stream", "", "Authorization: Bearer "+a.token); problemCode(t, w) != "overloaded" || w.Code != 503 || w.Header().Get("Retry-After") == "" {
			t.Errorf("got %d %s, want 503 overloaded", w.Code, w.Body)
		}
		open[0].Close()
		open[0].Close() // a second Close does not count
		openStream(t, url, a.token, "").want(a.addNotification(t))
		if n := a.hub.Streams(); n != 2 {
			t.Errorf("got %d streams, want 2", n)
		}
		a.hub.Close()
		if n := a.hub.Streams(); n != 0 {
			t.Errorf("got %d streams after Close, want 0", n)
		}
	})
	t.Run("an account with ten streams replaces one although the process is full", func(t *testing.T) {
		a, url, _ := setup(t)
		a.hub.MaxStreams = 10
		first := openStream(t, url, a.token, "")
		for range 10 {
			openStream(t, url, a.token, "")
		}
		first.ends()
	})
	t.Run("HEAD returns at once", func(t *testing.T) {
		a, _, _ := setup(t)
		if w := send(a.server.Handler(), "HEAD", "/api/notifications/stream", "", "Authorization: Bearer "+a.token); w.Code != 200 {
			t.Errorf("got %d, want 200", w.Code)
		}
	})
}
