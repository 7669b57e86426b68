package notifications

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/httpx"
)

const (
	// streamBatch is the highest number of notifications that one read returns.
	streamBatch = 100
	// streamWriteTimeout limits each write to a client.
	streamWriteTimeout = 10 * time.Second
	// streamRetry tells a browser to reconnect after 3 s.
	streamRetry = "retry: 3000\n\n"
)

// stream serves GET /api/notifications/stream: server-sent events, each notification
// once and in the order of its sequence number. The stream ends when the access token
// expires, soon after the session ends or a player no longer names the caller, and when a
// newer stream of the account replaces it.
func (h handlers) stream(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	if err := r.Faults.Err(); err != nil {
		return api.Response{}, err
	}
	caller := r.Caller // the stream keeps no other part of the request
	by := caller.Actor
	// Open before the read, so that no notification is missed between the two.
	st, err := h.Streams.Open(ctx, by, caller.Claims.ExpiresAt)
	if err != nil {
		return api.Response{}, err
	}
	state := st.State()
	after, err := h.resumeAfter(ctx, by, r.Header.Get("Last-Event-ID"), state.Seq)
	if err != nil {
		st.Close()
		return api.Response{}, err
	}
	return api.Response{
		Header: httpx.StreamHeader(),
		Write: func(_ http.ResponseWriter, hr *http.Request) error {
			if hr.Method == http.MethodHead {
				st.Close()
				return nil
			}
			httpx.Stream(hr, func(ctx context.Context, w http.ResponseWriter) { h.writeStream(ctx, w, caller, st, state, after) })
			return nil
		},
	}, nil
}

// writeStream writes the notifications after the sequence number after, until the stream ends.
func (h handlers) writeStream(ctx context.Context, w http.ResponseWriter, caller api.Caller, st *notice.Stream, state notice.StreamState, after int64) {
	defer st.Close()
	out := &eventWriter{
		w: w, control: http.NewResponseController(w), seq: after,
		timeout: streamWriteTimeout, pause: 2*httpx.StreamHeartbeat + streamWriteTimeout,
	}
	// The server's read timeout would end the stream.
	_ = out.control.SetReadDeadline(time.Now().Add(caller.Claims.ExpiresAt.Sub(h.api.Now()) + time.Minute))
	defer out.extendDeadline() // for the end of the response, which the server writes
	if out.write(streamRetry) {
		h.follow(ctx, caller, st, out, state)
	}
}

// resumeAfter returns the sequence number after which a stream begins: the number of the
// notification lastEventID (see notice.Tray.SeqOf), or newest if lastEventID is not an id.
func (h handlers) resumeAfter(ctx context.Context, by actor.Actor, lastEventID string, newest int64) (int64, error) {
	id := strings.ToLower(strings.Trim(lastEventID, " \"")) // as some clients send it
	if !endpoint.IsID(id) {
		return newest, nil
	}
	return h.Tray.SeqOf(ctx, by, id)
}

// follow writes the notifications until the stream must end. It ends if notifications cannot be
// read, too. The client reconnects and misses nothing.
func (h handlers) follow(ctx context.Context, caller api.Caller, st *notice.Stream, out *eventWriter, state notice.StreamState) {
	expiresAt := caller.Claims.ExpiresAt
	beat, stopBeat := h.api.NewTicker(httpx.StreamHeartbeat)
	defer stopBeat()
	expiry := time.NewTimer(expiresAt.Sub(h.api.Now()))
	defer expiry.Stop()
	players := state.Players
	for {
		if !state.Live || state.Players < players || !h.api.Now().Before(expiresAt) {
			return
		}
		players = state.Players
		if !h.catchUp(ctx, caller.Actor, out, state.Seq) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-st.Done():
			return
		case <-expiry.C:
			return
		case <-beat:
			if !out.write(httpx.StreamComment) {
				return
			}
			continue
		case <-st.Woken():
		}
		state = st.State()
	}
}

// catchUp writes every notification up to newest. It returns false if a read or a write
// fails.
func (h handlers) catchUp(ctx context.Context, by actor.Actor, out *eventWriter, newest int64) bool {
	for out.seq < newest {
		notifications, err := h.Tray.After(ctx, by, out.seq, streamBatch)
		if err != nil {
			return false
		}
		if len(notifications) == 0 {
			out.seq = newest // the notifications in between were deleted
			return true
		}
		for _, n := range notifications {
			if !out.notification(n) {
				return false
			}
		}
	}
	return true
}

// eventWriter writes server-sent events.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration // of each write
	pause   time.Duration // the longest time between two writes
	seq     int64         // of the last notification written
}

func (e *eventWriter) notification(n message.Notification) bool {
	data, err := json.Marshal(newNotificationResponse(n))
	if err != nil || !e.write("id: "+n.ID+"\nevent: notification\ndata: "+string(data)+"\n\n") {
		return false
	}
	e.seq = n.Seq
	return true
}

// extendDeadline gives the next write its timeout. An httptest.ResponseRecorder has no
// deadline, so the error is ignored.
func (e *eventWriter) extendDeadline() {
	_ = e.control.SetWriteDeadline(time.Now().Add(e.timeout))
}

// write writes and flushes text. It returns false if the client has gone or does not read.
func (e *eventWriter) write(text string) bool {
	e.extendDeadline()
	// Over HTTP/2, net/http resets the stream when the deadline passes, even if no write
	// is waiting.
	defer func() { _ = e.control.SetWriteDeadline(time.Now().Add(e.pause)) }()
	if _, err := e.w.Write([]byte(text)); err != nil {
		return false
	}
	return e.control.Flush() == nil
}
