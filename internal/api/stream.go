package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/notify"
)

const (
	// streamBatch is how many notifications are read at once.
	streamBatch = 100
	// streamWrite is how long a reader may take to take what is written.
	streamWrite = 10 * time.Second
	// streamRetry is after how many milliseconds a browser connects again.
	streamRetry = "retry: 3000\n\n"
)

// stream serves GET /api/notifications/stream: server-sent events, in the order
// of the tray, each once. It ends with the access token, and soon after the
// session or a link of the caller does.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) error {
	by := caller(r)
	// The line comes before the look at the tray, so that nothing falls between.
	line := s.hub.Subscribe(by.AccountID)
	defer line.Close()
	state, err := s.tray.State(r.Context(), by)
	if err != nil {
		return err
	}
	from, err := s.resumeFrom(r, by, state.Seq)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // proxies must not hold events back
	if r.Method == http.MethodHead {
		return nil
	}
	out := &events{w: w, control: http.NewResponseController(w), seq: from}
	// The server's time to read a request has nothing to say about a stream.
	_ = out.control.SetReadDeadline(time.Time{})
	defer out.extend() // for the end, which the server writes
	if out.write(streamRetry) {
		s.follow(r, by, line, out, state)
	}
	return nil
}

// resumeFrom returns after which notification a stream begins: the one that
// Last-Event-ID names or, where that is not one of the caller's, the newest.
func (s *Server) resumeFrom(r *http.Request, by actor.Actor, newest int64) (int64, error) {
	id := strings.TrimSpace(r.Header.Get("Last-Event-ID"))
	if !isID(id) {
		return newest, nil
	}
	seq, known, err := s.tray.SeqOf(r.Context(), by, id)
	if err != nil || !known {
		return newest, err
	}
	return seq, nil
}

// follow writes what there is and then what comes, until the stream must end. An
// error ends it, too: whoever cannot ask whether the session lives must not go
// on, and the reader connects again and misses nothing.
func (s *Server) follow(r *http.Request, by actor.Actor, line *notify.Subscription, out *events, state notify.StreamState) {
	ends := claims(r).ExpiresAt
	poll, beat := time.NewTicker(s.streamPoll), time.NewTicker(s.streamBeat)
	defer poll.Stop()
	defer beat.Stop()
	expiry := time.NewTimer(ends.Sub(s.now()))
	defer expiry.Stop()
	links := state.Links
	for {
		if !state.Live || state.Links < links || !s.now().Before(ends) {
			return
		}
		links = state.Links
		if !s.catchUp(r, by, out, state.Seq) {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-line.Done():
			return
		case <-expiry.C:
			return
		case <-beat.C:
			if !out.write(": still here\n\n") {
				return
			}
			continue
		case <-poll.C:
		case <-line.Woken():
		}
		var err error
		if state, err = s.tray.State(r.Context(), by); err != nil {
			return
		}
	}
}

// catchUp writes every notification up to newest; false where it cannot.
func (s *Server) catchUp(r *http.Request, by actor.Actor, out *events, newest int64) bool {
	for out.seq < newest {
		notes, err := s.tray.After(r.Context(), by, out.seq, streamBatch)
		if err != nil {
			return false
		}
		if len(notes) == 0 {
			out.seq = newest // what was there has been taken out of the tray
			return true
		}
		for _, n := range notes {
			if !out.notification(n) {
				return false
			}
		}
	}
	return true
}

// events writes server-sent events.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	seq     int64 // of the last one written
}

func (e *events) notification(n notify.Notification) bool {
	data, err := json.Marshal(newNotificationResponse(n))
	if err != nil || !e.write("id: "+n.ID+"\nevent: notification\ndata: "+string(data)+"\n\n") {
		return false
	}
	e.seq = n.Seq
	return true
}

// extend gives the reader time for what is written next.
func (e *events) extend() {
	// Where no deadline can be set, as with a recorder, there is none.
	_ = e.control.SetWriteDeadline(time.Now().Add(streamWrite))
}

// write sends text at once; false where the reader has gone or takes nothing.
func (e *events) write(text string) bool {
	e.extend()
	if _, err := e.w.Write([]byte(text)); err != nil {
		return false
	}
	return e.control.Flush() == nil
}
