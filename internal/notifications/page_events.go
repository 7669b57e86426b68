package notifications

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/web"
)

const (
	// eventsLifetime ends a stream; the browser opens it again.
	eventsLifetime = 5 * time.Minute
	// eventsEnd is after the end of each stream: until then it has a slot of its account.
	eventsEnd = eventsLifetime + 10*time.Second
)

// events serves GET /coach/events and /me/{role}/events: server-sent events that tell a page to load its
// content again. They carry no data. The id of an event is the Seq of a notification. A browser that
// opens the stream again sends the last id, and so misses no change; at first the page names it in after.
func (p pages) events(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	st, err := p.Streams.Open(ctx, by, p.site.Now().Add(eventsEnd))
	if err != nil {
		return web.Response{}, err
	}
	newest := st.State().Seq
	return web.Response{
		Header: httpx.StreamHeader(),
		Write: func(_ http.ResponseWriter, r *http.Request) error {
			if r.Method == http.MethodHead {
				st.Close()
				return nil
			}
			seen := seenSeq(r, newest)
			httpx.Stream(r, func(ctx context.Context, w http.ResponseWriter) {
				defer st.Close()
				p.follow(ctx, w, st, seen)
			})
			return nil
		},
	}, nil
}

// seenSeq returns the Seq that the browser has seen. Without one it has seen newest. A Seq above newest is of the database before
// a backup was restored: the browser has seen nothing of this one, and its page is of the other.
func seenSeq(r *http.Request, newest int64) int64 {
	for _, text := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")} {
		if seq, err := strconv.ParseInt(text, 10, 64); err == nil && seq <= newest {
			return seq
		} else if err == nil {
			return -1
		}
	}
	return newest
}

// follow writes an event for each change after the Seq seen until the session ends.
func (p pages) follow(ctx context.Context, w http.ResponseWriter, st *notice.Stream, seen int64) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(eventsEnd)) // the server's read timeout would end the stream
	write := func(text string) bool {
		// The next write may be as late as the end of the stream, and over HTTP/2 a deadline
		// that passes ends the stream even if no write is waiting.
		_ = control.SetWriteDeadline(time.Now().Add(eventsLifetime))
		_, err := w.Write([]byte(text))
		return err == nil && control.Flush() == nil
	}
	if !write(fmt.Sprintf("retry: 3000\nid: %d\n\n", seen)) {
		return
	}
	end, stop := p.site.NewTicker(eventsLifetime)
	defer stop()
	beat, stopBeat := p.site.NewTicker(httpx.StreamHeartbeat)
	defer stopBeat()
	for {
		state := st.State()
		if !state.Live {
			return
		}
		if state.Seq > seen {
			seen = state.Seq
			if !write(fmt.Sprintf("id: %d\ndata: changed\n\n", seen)) {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-st.Done():
			return
		case <-end:
			return
		case <-beat:
			if !write(httpx.StreamComment) {
				return
			}
		case <-st.Woken():
		}
	}
}
