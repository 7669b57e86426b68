package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/upload"
)

const (
	// RequestField is the hidden field of a form that must work only once.
	RequestField = "request"
	// keepRequest is how long the same form has no second effect.
	keepRequest = 24 * time.Hour
)

// uploadHandler handles a form with a file. Request.Form has the other fields.
type uploadHandler func(ctx context.Context, r *Request, by actor.Actor, form *upload.Form) (Response, error)

// UploadForm is a form with a file. Nothing of its body is read before the caller is known, may
// send it and has a slot.
type UploadForm struct {
	upload.Fields
	// Allow, if not nil, returns why the caller may not send the form.
	Allow func(ctx context.Context, by actor.Actor) error
	// MaxFile limits the file in bytes, and TooLarge is the error of a larger one; 0 means the limit and error of
	// a document.
	MaxFile  int64
	TooLarge error
	// Refuse, if not nil, returns the page of an error of Allow, or of a form that could not be
	// read. It returns the error if it has no page for it.
	Refuse func(ctx context.Context, r *Request, by actor.Actor, err error) (Response, error)
	Handle uploadHandler
}

// WithUpload returns a handler that reads a form with a file. A form that was rendered for
// another account changes nothing.
func (p *Pages) WithUpload(f UploadForm) func(context.Context, *Request, actor.Actor) (Response, error) {
	f.Texts = append(slices.Clip(f.Texts), "account", RequestField)
	return func(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
		release, err := p.acquireUpload(ctx, by, &f)
		if err != nil {
			return f.refuse(ctx, r, by, err)
		}
		defer release()
		form, err := p.readUpload(r, &f)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), upload.WorkTimeout) // the upload may have used up the time of ctx
		defer cancel()
		if err != nil {
			return f.refuse(ctx, r, by, err)
		}
		defer form.Close()
		if form.Texts["account"] != by.AccountID {
			return p.OtherAccount(r, by), nil
		}
		r.Form = url.Values{}
		for name, text := range form.Texts {
			r.Form.Set(name, text)
		}
		return f.Handle(ctx, r, by, form)
	}
}

// acquireUpload checks the caller and takes a slot for an upload.
func (p *Pages) acquireUpload(ctx context.Context, by actor.Actor, f *UploadForm) (release func(), err error) {
	if f.Allow != nil {
		if err := f.Allow(ctx, by); err != nil {
			return nil, err
		}
	}
	return p.Uploads.Acquire(by.AccountID, p.Now())
}

func (p *Pages) readUpload(r *Request, f *UploadForm) (*upload.Form, error) {
	body := upload.NewBody(r.Body, http.NewResponseController(r.w), p.UploadTimeouts)
	defer body.Done()
	if f.MaxFile > 0 {
		body.Limit(f.MaxFile+upload.MaxTexts, f.TooLarge)
	}
	return upload.ReadForm(body, r.Header, p.NewSpool, f.Fields)
}

// refuse returns the page of a form whose body was not read to its end.
func (f *UploadForm) refuse(ctx context.Context, r *Request, by actor.Actor, err error) (Response, error) {
	r.w.Header().Set("Connection", "close")
	if f.Refuse == nil {
		return Response{}, err
	}
	return f.Refuse(ctx, r, by, err)
}

// Once runs work at most once for the field "request" of a form: a second tap or a reload
// has no effect. It returns request_in_progress while the first one runs.
func (p *Pages) Once(ctx context.Context, r *Request, by actor.Actor, form *upload.Form, work func(context.Context) error) error {
	return p.onceWith(ctx, r, by, form.Texts[RequestField], form.Fingerprint(), work)
}

// OnceFor is Once for a form without a file.
func (p *Pages) OnceFor(ctx context.Context, r *Request, by actor.Actor, key string, form url.Values, work func(context.Context) error) error {
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
