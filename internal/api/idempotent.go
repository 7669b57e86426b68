package api

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/idempotency"
)

// keepAnswers is how long the answer of a keyed request can be had again.
const keepAnswers = 24 * time.Hour

// keyed answers a request of by that may carry an Idempotency-Key.
func (s *Server) keyed(w http.ResponseWriter, r *http.Request, by actor.Actor, h handlerFunc) error {
	return s.answerOnce(w, r, by.AccountID, keepAnswers, h, func(ctx context.Context, playerID string) error {
		return s.visible(ctx, by, playerID)
	})
}

// answerOnce lets h answer the first request with a key and repeats that answer
// to the later ones. Before it is repeated, may judges the subject of the answer,
// if it has one. Without a key, h simply answers.
func (s *Server) answerOnce(w http.ResponseWriter, r *http.Request, owner string, keep time.Duration, h handlerFunc, may func(ctx context.Context, subject string) error) error {
	c := callOf(r.Context())
	key, present, ok := idempotencyKey(r.Header.Values("Idempotency-Key"))
	if !ok {
		c.faults.add("/Idempotency-Key", "invalid_value", "This must have 1 to 255 printable characters, quoted or bare.")
		if len(c.raw) == 0 {
			return c.faults.err()
		}
		return h(w, r) // decode hands the fault on, beside those of the body
	}
	if !present {
		return h(w, r)
	}
	lease, kept, err := s.idempotency.Begin(r.Context(), owner, key, keep, []byte(r.Method), []byte(r.URL.Path), c.raw)
	if err != nil {
		return err
	}
	if kept == nil {
		return s.answerFirst(w, r, lease, h)
	}
	if kept.Subject != "" {
		if err := may(r.Context(), kept.Subject); err != nil {
			return err
		}
	}
	for name, value := range kept.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(kept.Status)
	_, _ = w.Write(kept.Body) // a caller who is gone needs no answer
	return nil
}

// keepLimit is how long an answer may take to be kept.
const keepLimit = 5 * time.Second

// answerFirst answers and keeps the answer. It goes on when the caller leaves: a
// caller with a key comes back for it. What h has done may have taken all of its
// time, so keeping the answer has a time of its own: with the key left running,
// the request would be done again.
func (s *Server) answerFirst(w http.ResponseWriter, r *http.Request, lease *idempotency.Lease, h handlerFunc) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), cmp.Or(callOf(r.Context()).limit, timeLimit))
	defer cancel()
	r = r.WithContext(ctx)
	first := &recording{header: http.Header{}}
	answered := false
	defer func() {
		if !answered { // it panicked
			s.settle(ctx, lease.Release)
		}
	}()
	s.finish(h).ServeHTTP(first, r)
	answered = true
	s.settle(ctx, func(ctx context.Context) error {
		return lease.Finish(ctx, first.answer(callOf(ctx).subject))
	})
	for name, values := range first.header {
		w.Header()[name] = values
	}
	w.WriteHeader(first.status)
	_, _ = w.Write(first.body.Bytes()) // as above
	return nil
}

// settlePauses lie between the tries to settle where the database did not answer: a
// connection that broke is another one by then, and who asks again with the key shall
// not hear for a minute that the request is running.
var settlePauses = []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second}

// settle ends what a lease began. That an answer could not be kept is logged: it
// is good all the same.
func (s *Server) settle(ctx context.Context, end func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	err := end(ctx)
	for _, pause := range settlePauses {
		if fault.KindOf(err) != fault.Unavailable {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			err = end(ctx)
		}
	}
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "keep an answer", slog.String("trace_id", callOf(ctx).TraceID), slog.Any("error", err))
	}
}

// recording is an answer that is held back until it is kept.
type recording struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the headers of the answer.
func (rec *recording) Header() http.Header { return rec.header }

// WriteHeader notes the status.
func (rec *recording) WriteHeader(status int) {
	if rec.status == 0 {
		rec.status = status
	}
}

// Write notes a part of the body.
func (rec *recording) Write(p []byte) (int, error) {
	rec.WriteHeader(http.StatusOK)
	return rec.body.Write(p)
}

func (rec *recording) answer(subject string) idempotency.Response {
	rec.WriteHeader(http.StatusOK)
	a := idempotency.Response{Status: rec.status, Body: rec.body.Bytes(), Subject: subject, Header: map[string]string{}}
	for name := range rec.header {
		a.Header[name] = rec.header.Get(name)
	}
	return a
}

// idempotencyKey reads the header: a string of RFC 9651 or, as most clients send
// it, the bare characters. ok is false where it is there and is neither.
func idempotencyKey(values []string) (key string, present, ok bool) {
	if len(values) == 0 {
		return "", false, true
	}
	key = strings.Trim(values[0], " \t")
	if strings.HasPrefix(key, `"`) {
		if key, ok = unquote(key); !ok {
			return "", true, false
		}
	}
	ok = len(values) == 1 && len(key) >= 1 && len(key) <= 255 && !strings.ContainsFunc(key, unprintable)
	return key, true, ok
}

func unprintable(r rune) bool { return r < 0x20 || r > 0x7e }

// unquote reads a string of RFC 9651, section 3.3.3, without parameters.
func unquote(s string) (string, bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), i == len(s)-1
		case '\\':
			i++
			if i == len(s) || s[i] != '"' && s[i] != '\\' {
				return "", false
			}
		}
		b.WriteByte(s[i])
	}
	return "", false
}
