package coach

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// maxDepth is how deep a file of tiers may be nested.
const maxDepth = 20

// parse reads the one JSON value of text. A member that is there twice is a fault:
// which of the two is meant cannot be known.
func (r *tierParser) parse(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := r.value(dec, "", 0)
	if err != nil {
		return nil, fmt.Errorf("is not JSON, near byte %d: %w", dec.InputOffset(), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("goes on after its end, at byte %d", dec.InputOffset())
	}
	return v, nil
}

// value reads the value that comes next, which stands at.
func (r *tierParser) value(dec *json.Decoder, at string, depth int) (any, error) {
	token, err := dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if depth > maxDepth {
		err = errors.New("it is nested too deeply")
	}
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for i := 0; dec.More(); i++ {
			v, err := r.value(dec, at+"/"+strconv.Itoa(i), depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = dec.Token()
		return list, err
	case json.Delim('{'):
		m := map[string]any{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			place := at + "/" + pointerEscaper.Replace(name.(string))
			if _, twice := m[name.(string)]; twice {
				r.addProblem(place, "is there twice")
			}
			if m[name.(string)], err = r.value(dec, place, depth+1); err != nil {
				return nil, err
			}
		}
		_, err = dec.Token()
		return m, err
	}
	return token, nil
}
