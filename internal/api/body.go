package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/fault"
)

// Bounds of a body: bytes (contract section 1), and how deep values may nest,
// which is several times what any call asks for.
const (
	maxBody  = 64 << 10
	maxDepth = 32
)

// bodyKind is what a call wants as its body.
type bodyKind int

const (
	bodyNone  bodyKind = iota // whatever is sent is not looked at
	bodyJSON                  // a JSON value
	bodyMaybe                 // a JSON value, or nothing
	bodyPatch                 // a JSON merge patch (RFC 7396)
)

// read reads the body into the call and judges what was sent and what shall be
// answered: 413, 415, 406, 400, in this order.
func (s *Server) read(w http.ResponseWriter, r *http.Request, rt *route, c *call) error {
	var err error
	if rt.body != bodyNone {
		if c.raw, err = readAll(w, r); err != nil {
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
	c.value, err = parse(c.raw, &c.faults)
	return err
}

func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	tooLarge := func() error {
		// What is left of the body is not read.
		w.Header().Set("Connection", "close")
		return fault.New(fault.TooLarge, "payload_too_large", "A body may have at most %d KiB.", maxBody>>10)
	}
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if len(raw) > maxBody {
		return nil, tooLarge()
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errMalformed("The body ends before it is complete.")
	}
	if err != nil {
		return nil, errMalformed("The body cannot be read.").Because(err)
	}
	return raw, nil
}

func errMalformed(why string) *fault.Error {
	return fault.New(fault.Malformed, "malformed_request", "The body must be one JSON value in UTF-8. %s", why)
}

// parse returns the one JSON value of raw. Numbers stay json.Number. A member
// that stands twice in an object is noted as a fault.
func parse(raw []byte, f *faults) (any, error) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, errMalformed("It is empty.")
	case !utf8.Valid(raw):
		return nil, errMalformed("It is not UTF-8.")
	case !json.Valid(raw):
		return nil, errMalformed("It is not JSON.")
	case loneSurrogate(raw):
		return nil, errMalformed("It has an escape that is half a character.")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := parseValue(d, "", 0, f)
	if err != nil && fault.KindOf(err) == fault.Internal {
		return nil, errMalformed("It is not JSON.").Because(err)
	}
	return v, err
}

func parseValue(d *json.Decoder, at string, depth int, f *faults) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth == maxDepth {
		return nil, errMalformed("It nests too deeply.")
	}
	object, list := map[string]any{}, []any{}
	for d.More() {
		if open == '[' {
			v, err := parseValue(d, pointTo(at, len(list)), depth+1, f)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			continue
		}
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		member, _ := name.(string)
		if _, twice := object[member]; twice {
			f.add(pointTo(at, member), "duplicate_field", "This stands here twice.")
		}
		if object[member], err = parseValue(d, pointTo(at, member), depth+1, f); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return nil, err
	}
	if open == '[' {
		return list, nil
	}
	return object, nil
}
