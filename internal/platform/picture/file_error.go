package picture

import (
	"fmt"

	"github.com/touchline/touchline/internal/platform/fault"
)

// The codes of a FileError. They are stable.
const (
	// UnsupportedType: not a PDF, JPEG, PNG or WebP.
	UnsupportedType = "unsupported_type"
	// Ambiguous: a PDF that other programs would read as another type.
	Ambiguous = "ambiguous_type"
	// PasswordProtected: a PDF that needs a password.
	PasswordProtected = "password_protected"
	// Truncated: the end is missing.
	Truncated = "truncated"
	// Unreadable: damaged, or a variant that cannot be decoded.
	Unreadable = "unreadable_picture"
	// Animated: animations are not accepted.
	Animated = "animated_picture"
	// TooManyPixels: more than MaxPixels, or a side longer than MaxSide.
	TooManyPixels = "too_many_pixels"
	// NeedsTooMuchMemory: decoding would exceed the memory budget.
	NeedsTooMuchMemory = "needs_too_much_memory"
	// TooComplex: decoding would take too long.
	TooComplex = "too_complex"
)

// FileError says why a file is not accepted.
type FileError struct {
	Code   string
	Detail string
}

func fileError(code, format string, args ...any) *FileError {
	return &FileError{code, fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *FileError) Error() string { return e.Code + ": " + e.Detail }

// Fault converts e to a fault: 415 for an unsupported type, else 422 with the code
// at pointer, such as "/file".
func (e *FileError) Fault(pointer string) error {
	if e.Code == UnsupportedType {
		return fault.New(fault.UnsupportedMedia, "unsupported_media_type", "%s", e.Detail)
	}
	return fault.Validation([]fault.Field{{Pointer: pointer, Code: e.Code, Detail: e.Detail}})
}
