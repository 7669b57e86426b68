package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/fault"
)

// maxDepth is how deep values may nest: several times what any call asks for.
const maxDepth = 32

// Malformed is the refusal of a body that cannot be read, and why.
func Malformed(why string) *fault.Error {
	return fault.New(fault.Malformed, "malformed_request", "The body must be one JSON value in UTF-8. %s", why)
}

// Parse returns the one JSON value of raw. Numbers stay json.Number. A member
// that stands twice in an object is noted as a fault.
func Parse(raw []byte, f *Faults) (any, error) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, Malformed("It is empty.")
	case !utf8.Valid(raw):
		return nil, Malformed("It is not UTF-8.")
	case !json.Valid(raw):
		return nil, Malformed("It is not JSON.")
	case loneSurrogate(raw):
		return nil, Malformed("It has an escape that is half a character.")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := parseValue(d, "", 0, f)
	if err != nil && fault.KindOf(err) == fault.Internal {
		return nil, Malformed("It is not JSON.").Because(err)
	}
	return v, err
}

func parseValue(d *json.Decoder, at string, depth int, f *Faults) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth == maxDepth {
		return nil, Malformed("It nests too deeply.")
	}
	object, list := map[string]any{}, []any{}
	for d.More() {
		if open == '[' {
			v, err := parseValue(d, PointTo(at, len(list)), depth+1, f)
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
			f.Add(PointTo(at, member), "duplicate_field", "This stands here twice.")
		}
		if object[member], err = parseValue(d, PointTo(at, member), depth+1, f); err != nil {
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
