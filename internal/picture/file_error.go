package picture

import (
	"fmt"

	"github.com/touchline/touchline/internal/fault"
)

// The codes of a Refusal, stable and for programs.
const (
	// UnsupportedType: neither PDF nor JPEG nor PNG nor WebP.
	UnsupportedType = "unsupported_type"
	// Ambiguous: a PDF that other programs would take for something else too.
	Ambiguous = "ambiguous_type"
	// Truncated: the end is missing.
	Truncated = "truncated"
	// Unreadable: damaged, or of a kind that nobody here can decode.
	Unreadable = "unreadable_picture"
	// Animated: moving pictures are not taken.
	Animated = "animated_picture"
	// TooManyPixels: more than MaxPixels, or a side longer than MaxSide.
	TooManyPixels = "too_many_pixels"
	// NeedsTooMuchMemory: few enough pixels, but decoding them would need too much.
	NeedsTooMuchMemory = "needs_too_much_memory"
	// TooComplex: decoding it would take too long.
	TooComplex = "too_complex"
)

// Refusal says why a file is not taken.
type FileError struct {
	Code   string
	Detail string
}

func fileError(code, format string, args ...any) *FileError {
	return &FileError{code, fmt.Sprintf(format, args...)}
}

// Error implements error.
func (r *FileError) Error() string { return r.Code + ": " + r.Detail }

// Fault is the problem to answer with: 415 for a type that is not taken, else 422
// with the code at pointer, such as "/file".
func (r *FileError) Fault(pointer string) error {
	if r.Code == UnsupportedType {
		return fault.New(fault.UnsupportedMedia, "unsupported_media_type", "%s", r.Detail)
	}
	return fault.Validation([]fault.Field{{Pointer: pointer, Code: r.Code, Detail: r.Detail}})
}
