package api

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/fault"
)

// maxFaults bounds how many faults one answer lists.
const maxFaults = 100

// faults collects all that is wrong with a request, at most one for each place.
type faults []fault.Field

// add notes a fault unless detail is empty or the place has one already.
func (f *faults) add(pointer, code, detail string) {
	if detail == "" || len(*f) >= maxFaults || f.has(pointer) {
		return
	}
	*f = append(*f, fault.Field{Pointer: pointer, Code: code, Detail: detail})
}

// has says whether the place has a fault already.
func (f *faults) has(pointer string) bool {
	for _, field := range *f {
		if field.Pointer == pointer {
			return true
		}
	}
	return false
}

// err returns validation_failed with every fault, or nil where there is none.
func (f faults) err() error { return fault.Validation(f) }

// pointTo returns the JSON pointer (RFC 6901) to a member or an element of what
// is at.
func pointTo(at string, step any) string {
	switch step := step.(type) {
	case int:
		return at + "/" + strconv.Itoa(step)
	default:
		return at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(step))
	}
}
