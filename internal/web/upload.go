package web

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/upload"
)

const (
	// requestField is the hidden field of a form that must work only once.
	requestField = "request"
	// keepRequest is how long the same form has no second effect.
	keepRequest = 24 * time.Hour
)

// uploadHandler handles a form with a file. Request.Form has the other fields.
type uploadHandler func(ctx context.Context, r *Request, by actor.Actor, form *upload.Form) (Response, error)

// withUpload returns a handler that reads a form with a file and these fields. A form that
// was rendered for another account changes nothing.
func (p *Pages) withUpload(h uploadHandler, names ...string) func(context.Context, *Request, actor.Actor) (Response, error) {
	names = append(names, "account", requestField)
	return func(ctx context.Context, r *Request, by actor.Actor) (resp Response, err error) {
		if !r.isMultipart() {
			return Response{}, fault.New(fault.Malformed, "malformed_request", "This form has no file.")
		}
		release, err := p.Uploads.Acquire(by.AccountID, p.Now())
		if err != nil {
			return Response{}, err
		}
		defer release()
		body := upload.NewBody(r.Body, http.NewResponseController(r.w), p.UploadTimeouts)
		form, err := upload.ReadForm(body, r.Header, p.Documents.NewSpool, names...)
		body.Done()
		if err != nil {
			r.w.Header().Set("Connection", "close") // the body was not read to its end
			return Response{}, err
		}
		defer form.Close()
		if form.Texts["account"] != by.AccountID {
			return p.otherAccount(r, by), nil
		}
		r.Form = url.Values{}
		for name, text := range form.Texts {
			r.Form.Set(name, text)
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), upload.WorkTimeout)
		defer cancel()
		return h(ctx, r, by, form)
	}
}

// once runs work at most once for the field "request" of a form: a second tap or a reload
// has no effect. It returns request_in_progress while the first one runs.
func (p *Pages) once(ctx context.Context, r *Request, by actor.Actor, form *upload.Form, work func(context.Context) error) error {
	return p.onceWith(ctx, r, by, form.Texts[requestField], form.Fingerprint(), work)
}

// onceFor is once for a form without a file.
func (p *Pages) onceFor(ctx context.Context, r *Request, by actor.Actor, key string, form url.Values, work func(context.Context) error) error {
	return p.onceWith(ctx, r, by, key, []byte(form.Encode()), work)
}

func (p *Pages) onceWith(ctx context.Context, r *Request, by actor.Actor, key string, fingerprint []byte, work func(context.Context) error) error {
	if !endpoint.IsID(key) {
		return work(ctx)
	}
	lease, _, err := p.Idempotency.Begin(ctx, by.AccountID, "page:"+key, keepRequest, []byte(r.URL.Path), fingerprint)
	if err != nil || lease == nil {
		return err
	}
	stop := lease.KeepAlive(ctx)
	defer stop()
	err = work(idempotency.WithHolder(ctx, lease.Holder))
	committed, releaseErr := lease.Release(context.WithoutCancel(ctx))
	if committed != nil {
		return nil // also if the response to COMMIT was lost
	}
	if err == nil {
		err = releaseErr
	}
	return err
}
