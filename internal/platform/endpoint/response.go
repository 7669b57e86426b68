package endpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
)

// Response is the result of a handler. With an error, only Header and Subject count:
// the adapter writes the error as a problem document.
type Response struct {
	// Status is 200 if it is 0.
	Status int
	Header http.Header
	// Body is encoded as JSON; nil is no body.
	Body any
	// Raw replaces Body. Header names its Content-Type.
	Raw []byte
	// Subject is the id of the object in the response. Before an idempotent repeat, the
	// service checks that the caller may still see this object.
	Subject string
	// Write replaces everything but Header: it writes a stream or a file. If it returns
	// an error, it has written nothing.
	Write func(w http.ResponseWriter, r *http.Request) error
	// Download is true if Write takes as long as the client reads: the request is then no
	// longer in flight.
	Download bool
}

// OK returns 200 with body.
func OK(body any) Response { return Response{Status: http.StatusOK, Body: body} }

// Created returns 201 with body, which is at location.
func Created(location string, body any) Response {
	return Response{Status: http.StatusCreated, Header: http.Header{"Location": {location}}, Body: body}
}

// Accepted returns 202 with body.
func Accepted(body any) Response { return Response{Status: http.StatusAccepted, Body: body} }

// NoContent returns 204.
func NoContent() Response { return Response{Status: http.StatusNoContent} }

// WithHeader returns resp with one more header.
func (resp Response) WithHeader(name, value string) Response {
	h := maps.Clone(resp.Header)
	if h == nil {
		h = http.Header{}
	}
	h.Set(name, value)
	resp.Header = h
	return resp
}

// WithSubject returns resp with its subject.
func (resp Response) WithSubject(id string) Response {
	resp.Subject = id
	return resp
}

// write writes resp unless err is set, which it returns.
func (resp Response) write(w http.ResponseWriter, r *http.Request, err error) error {
	maps.Copy(w.Header(), resp.Header)
	if err != nil {
		return err
	}
	if resp.Write != nil {
		return resp.Write(w, r)
	}
	body := resp.Raw
	if body == nil && resp.Body != nil {
		body, err = json.Marshal(resp.Body)
		if err != nil {
			return fmt.Errorf("encode the response: %w", err)
		}
		w.Header().Set("Content-Type", "application/json")
	}
	if body != nil {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(cmp.Or(resp.Status, http.StatusOK))
	if len(body) > 0 {
		_, _ = w.Write(body) // a client that has gone needs no response
	}
	return nil
}

// Render returns resp, or the problem document of err, with an encoded body: the
// response to store for an idempotent repeat.
func (m Meta[C]) Render(ctx context.Context, resp Response, err error) Response {
	r := m.http.WithContext(ctx)
	rec := &recorder{header: http.Header{}}
	if err := resp.write(rec, r, err); err != nil {
		m.middleware.WriteProblem(rec, r, infoOf(r), err)
	}
	rec.WriteHeader(http.StatusOK)
	return Response{Status: rec.status, Header: rec.header, Raw: rec.body.Bytes(), Subject: resp.Subject}
}

// recorder is an http.ResponseWriter in memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (rec *recorder) Header() http.Header { return rec.header }

func (rec *recorder) WriteHeader(status int) {
	if rec.status == 0 {
		rec.status = status
	}
}

func (rec *recorder) Write(p []byte) (int, error) {
	rec.WriteHeader(http.StatusOK)
	return rec.body.Write(p)
}
