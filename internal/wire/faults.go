// Package wire is how values travel: it reads JSON into structs under the rules
// that their tags name, collects every fault, and writes answers. It knows shapes
// and bounds, nothing of what is asked for.
package wire

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/fault"
)

// maxFaults bounds how many faults one answer lists.
const maxFaults = 100

// Faults collects all that is wrong with a request, at most one for each place.
type Faults []fault.Field

// Add notes a fault unless detail is empty or the place has one already.
func (f *Faults) Add(pointer, code, detail string) {
	if detail == "" || len(*f) >= maxFaults || f.Has(pointer) {
		return
	}
	*f = append(*f, fault.Field{Pointer: pointer, Code: code, Detail: detail})
}

// Has says whether the place has a fault already.
func (f *Faults) Has(pointer string) bool {
	for _, field := range *f {
		if field.Pointer == pointer {
			return true
		}
	}
	return false
}

// Err returns validation_failed with every fault, or nil where there is none.
func (f Faults) Err() error { return fault.Validation(f) }

var escape = strings.NewReplacer("~", "~0", "/", "~1")

// PointTo returns the JSON pointer (RFC 6901) to a member or an element of what
// is at.
func PointTo(at string, step any) string {
	switch step := step.(type) {
	case int:
		return at + "/" + strconv.Itoa(step)
	default:
		return at + "/" + escape.Replace(fmt.Sprint(step))
	}
}
