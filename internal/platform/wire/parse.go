package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/fault"
)

// maxDepth is the deepest nesting of a body: several times what any endpoint needs.
const maxDepth = 32

// Malformed returns malformed_request with the reason.
func Malformed(reason string) *fault.Error {
	return fault.New(fault.Malformed, "malformed_request", "The body must be one JSON value in UTF-8. %s", reason)
}

// Parse returns the one JSON value in raw. Numbers stay json.Number. It adds a fault
// for each member that an object has twice.
func Parse(raw []byte, f *Faults) (any, error) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, Malformed("It is empty.")
	case !utf8.Valid(raw):
		return nil, Malformed("It is not UTF-8.")
	case !json.Valid(raw):
		return nil, Malformed("It is not JSON.")
	case loneSurrogate(raw):
		return nil, Malformed("It has half of a surrogate pair.")
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
		if _, duplicate := object[member]; duplicate {
			f.Add(PointTo(at, member), "duplicate_field", "This field is here twice.")
		}
		object[member], err = parseValue(d, PointTo(at, member), depth+1, f)
		if err != nil {
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
