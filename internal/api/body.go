package api

import (
	"net/http"

	"github.com/touchline/touchline/internal/wire"
)

// maxBody bounds a body, in bytes (contract section 1).
const maxBody = 64 << 10

// bodyKind is what a call wants as its body.
type bodyKind int

const (
	bodyNone  bodyKind = iota // whatever is sent is not looked at
	bodyJSON                  // a JSON value
	bodyMaybe                 // a JSON value, or nothing
	bodyPatch                 // a JSON merge patch (RFC 7396)
	bodyForm                  // multipart/form-data, which the handler reads
)

// read reads the body into the call and judges what was sent and what shall be
// answered: 413, 415, 406, 400, in this order.
func (s *Server) read(w http.ResponseWriter, r *http.Request, rt *route, c *call) error {
	var err error
	if rt.body == bodyForm {
		return s.readForm(w, r, rt)
	}
	if rt.body != bodyNone {
		if c.raw, err = wire.ReadAll(w, r, maxBody); err != nil {
			return err
		}
		if (len(c.raw) > 0 || rt.body != bodyMaybe) && !readable(r.Header, rt.body) {
			return errMedia(rt.body)
		}
	}
	if !acceptable(r.Header, rt.produces) {
		return errNotAcceptable(rt.produces)
	}
	if rt.body == bodyNone || len(c.raw) == 0 && rt.body == bodyMaybe {
		return nil
	}
	c.value, err = wire.Parse(c.raw, (*wire.Faults)(&c.faults))
	return err
}

// readForm judges an upload as far as its header tells. What is read then is read
// by the handler, under limits of its own.
func (s *Server) readForm(w http.ResponseWriter, r *http.Request, rt *route) error {
	var err error
	switch {
	case r.ContentLength > maxUpload:
		err = errUploadSize
	case !readable(r.Header, rt.body):
		err = errMedia(rt.body)
	case !acceptable(r.Header, rt.produces):
		err = errNotAcceptable(rt.produces)
	}
	if err != nil {
		return refuseUpload(w, err)
	}
	return nil
}
