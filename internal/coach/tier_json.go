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

// maxDepth bounds the nesting of a tiers file.
const maxDepth = 20

// parse parses the single JSON value of text. A repeated member is a problem,
// because encoding/json would silently use the last one.
func (p *tierParser) parse(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := p.value(dec, "", 0)
	if err != nil {
		return nil, fmt.Errorf("is not JSON, near byte %d: %w", dec.InputOffset(), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("has more data after its end, at byte %d", dec.InputOffset())
	}
	return v, nil
}

// value parses the next value, whose JSON pointer is at.
func (p *tierParser) value(dec *json.Decoder, at string, depth int) (any, error) {
	token, err := dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if depth > maxDepth {
		err = fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for i := 0; dec.More(); i++ {
			v, err := p.value(dec, at+"/"+strconv.Itoa(i), depth+1)
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
			pointer := at + "/" + pointerEscaper.Replace(name.(string))
			if _, repeated := m[name.(string)]; repeated {
				p.addProblem(pointer, "is repeated")
			}
			m[name.(string)], err = p.value(dec, pointer, depth+1)
			if err != nil {
				return nil, err
			}
		}
		_, err = dec.Token()
		return m, err
	}
	return token, nil
}
