// Package wire decodes JSON requests into structs, checks the rules in their tags,
// reports every fault at once, and encodes responses. It also has page cursors and
// content negotiation. It knows no endpoint.
package wire

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/fault"
)

// maxFaults is the most faults that one response lists.
const maxFaults = 100

// Faults collects the faults of a request, at most one for each JSON pointer.
type Faults []fault.Field

// Add appends a fault unless detail is empty or the pointer has a fault already.
func (f *Faults) Add(pointer, code, detail string) {
	if detail == "" || len(*f) >= maxFaults || f.Has(pointer) {
		return
	}
	*f = append(*f, fault.Field{Pointer: pointer, Code: code, Detail: detail})
}

// Has reports whether the pointer has a fault.
func (f *Faults) Has(pointer string) bool {
	for _, field := range *f {
		if field.Pointer == pointer {
			return true
		}
	}
	return false
}

// Merge adds the faults of a validation error. It returns any other error, except one of state or
// limits if f has faults: those come first.
func (f *Faults) Merge(err error) error {
	known, ok := errors.AsType[*fault.Error](err)
	if ok && len(*f) > 0 && slices.Contains([]fault.Kind{fault.Gone, fault.Conflict, fault.TooMany}, known.Kind) {
		return nil
	}
	if !ok || known.Kind != fault.Invalid {
		return err
	}
	for _, field := range known.Fields {
		f.Add(field.Pointer, field.Code, field.Detail)
	}
	return nil
}

// Err returns validation_failed with every fault, or nil if there are none.
func (f Faults) Err() error { return fault.Validation(f) }

var escape = strings.NewReplacer("~", "~0", "/", "~1")

// PointTo appends a member name (string) or an index (int) to the JSON pointer at
// (RFC 6901).
func PointTo(at string, step any) string {
	switch step := step.(type) {
	case int:
		return at + "/" + strconv.Itoa(step)
	default:
		return at + "/" + escape.Replace(fmt.Sprint(step))
	}
}
