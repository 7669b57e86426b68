// Package keyed handles requests with an Idempotency-Key, for the public and for the operators'
// listener: it handles the first one and repeats its response to the later ones.
package keyed

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
)

const (
	// Keep is how long the response to a request with a key can be repeated.
	Keep = 24 * time.Hour
	// firstTimeout limits the first request with a key, unless its handler says otherwise.
	firstTimeout = 10 * time.Second
	// settleTimeout limits storing the response or releasing the key.
	settleTimeout = 5 * time.Second
)

// settlePauses are the pauses between attempts to settle a key while the database is
// unavailable. A repeat with an unsettled key gets request_in_progress until the lease ends.
var settlePauses = []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, time.Second}

// Request is a request that may carry an Idempotency-Key.
type Request struct {
	// Owner is the account, or for a login the role and number: each owner has separate keys.
	Owner string
	Keep  time.Duration
	// Timeout limits the first request; 0 is firstTimeout.
	Timeout time.Duration
	// Body must be the same in all requests with the key.
	Body []byte
	// CheckRepeat runs before a later request with the key is answered; nil is no check.
	// same is false if the request differs from the first.
	CheckRepeat func(ctx context.Context, same bool) error
	// MayRepeat returns why the caller may no longer see the subject of the response.
	MayRepeat func(ctx context.Context, subject string) error
	// Handle handles the first request. It gets the faults of the header. Its context
	// holds the key, so that the store commits the key with the work.
	Handle func(context.Context, wire.Faults) (endpoint.Response, error)
	// Rebuild returns the response if the work is committed and no response is stored.
	Rebuild func(context.Context, idempotency.Work) (endpoint.Response, error)
}

// Service handles requests with a key.
type Service struct {
	Keys *idempotency.Service
	Log  *slog.Logger
}

// replayed is the header of a response that repeats the first one of a key.
const replayed = "Idempotent-Replayed"

// Handle handles the first request with a key and repeats its response to the
// later ones. It handles each request without a key.
func Handle[C any](ctx context.Context, s Service, m endpoint.Meta[C], k Request) (endpoint.Response, error) {
	key, present, ok := Key(m.Header.Values("Idempotency-Key"))
	if !ok {
		return k.Handle(ctx, wire.Faults{{Pointer: "/Idempotency-Key", Code: "invalid_value", Detail: "This must have 1 to 255 printable characters, quoted or bare."}})
	}
	if !present {
		return k.Handle(ctx, nil)
	}
	lease, earlier, err := s.Keys.Begin(ctx, k.Owner, key, k.Keep, []byte(m.Method), []byte(m.Path), k.Body)
	if lease != nil {
		return handleFirst(ctx, s, m, lease, k), nil
	}
	if failure := k.checkLater(ctx, earlier, err); failure != nil {
		return endpoint.Response{}, failure
	}
	if err != nil {
		return endpoint.Response{}, err
	}
	if earlier.Response == nil {
		resp, err := k.Rebuild(ctx, *earlier.Work)
		return resp.WithHeader(replayed, "true"), err
	}
	stored := earlier.Response
	if stored.Subject != "" {
		if err := k.MayRepeat(ctx, stored.Subject); err != nil {
			return endpoint.Response{}, err
		}
	}
	resp := endpoint.Response{Status: stored.Status, Header: http.Header{}, Raw: stored.Body}
	for name, value := range stored.Header {
		resp.Header.Set(name, value)
	}
	return resp.WithHeader(replayed, "true"), nil
}

// checkLater calls checkRepeat for a later request with the key, of which Begin returned
// earlier or err. The same request gets a response that failed without a check.
func (k Request) checkLater(ctx context.Context, earlier *idempotency.Earlier, err error) error {
	if k.CheckRepeat == nil || earlier.Failed() {
		return nil
	}
	refused, isFault := errors.AsType[*fault.Error](err)
	if err != nil && (!isFault || refused.Kind == fault.Unavailable) {
		return nil // whether the key is in use is unknown
	}
	same := err == nil || refused.Code != "idempotency_key_reused"
	return k.CheckRepeat(ctx, same)
}

// handleFirst handles the first request with a key and stores its response. It goes on
// if the client disconnects, because a client with a key repeats the request. Storing
// has its own timeout, so that a handler that used up its time is not run again.
//
// If the handler failed although its work is committed, because the response to COMMIT
// was lost, the response is rebuilt.
func handleFirst[C any](ctx context.Context, s Service, m endpoint.Meta[C], lease *idempotency.Lease, k Request) endpoint.Response {
	whole := context.WithoutCancel(ctx)
	ctx, cancel := context.WithTimeout(idempotency.WithHolder(whole, lease.Holder), cmp.Or(k.Timeout, firstTimeout))
	defer cancel()
	stop := lease.KeepAlive(whole)
	defer stop()
	handled := false
	release := func(ctx context.Context) (err error) {
		_, err = lease.Release(ctx)
		return err
	}
	defer func() {
		if !handled { // the handler panicked
			s.settle(whole, m.TraceID, release)
		}
	}()
	resp, err := k.Handle(ctx, nil)
	resp = m.Render(ctx, resp, err)
	handled = true
	if !stored(resp).MayRetry() {
		s.settle(whole, m.TraceID, func(ctx context.Context) error { return lease.Finish(ctx, stored(resp)) })
		return resp
	}
	s.settle(whole, m.TraceID, func(ctx context.Context) error {
		work, err := lease.Release(ctx)
		if err == nil && work != nil {
			again, failure := k.Rebuild(ctx, *work)
			resp = m.Render(ctx, again, failure)
		}
		return err
	})
	return resp
}

// stored returns a rendered response as package idempotency stores it.
func stored(resp endpoint.Response) idempotency.Response {
	a := idempotency.Response{Status: resp.Status, Body: resp.Raw, Subject: resp.Subject, Header: map[string]string{}}
	for name := range resp.Header {
		a.Header[name] = resp.Header.Get(name)
	}
	return a
}

// settle calls end until the database responds. The response is sent even if it could
// not be stored.
func (s Service) settle(ctx context.Context, traceID string, end func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
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
		level := slog.LevelError
		if fault.KindOf(err) == fault.Unavailable || errors.Is(err, context.DeadlineExceeded) {
			level = slog.LevelWarn // the database is away: the lease frees the key
		}
		s.Log.LogAttrs(ctx, level, "store the response of an idempotent request", slog.String("trace_id", traceID), slog.Any("error", err))
	}
}

// Key returns the key of the header values: a string of RFC 9651, or the bare
// characters that most clients send. ok is false if the header is malformed.
func Key(values []string) (key string, present, ok bool) {
	if len(values) == 0 {
		return "", false, true
	}
	key = strings.Trim(values[0], " \t")
	if strings.HasPrefix(key, `"`) {
		key, ok = unquote(key)
		if !ok {
			return "", true, false
		}
	}
	ok = len(values) == 1 && len(key) >= 1 && len(key) <= 255 && !strings.ContainsFunc(key, unprintable)
	return key, true, ok
}

func unprintable(r rune) bool { return r < 0x20 || r > 0x7e }

// unquote returns the value of a string of RFC 9651, section 3.3.3, without parameters.
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
