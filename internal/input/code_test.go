package input_test

import (
	"testing"

	"github.com/touchline/touchline/internal/input"
)

// TestCode: what people paste around and inside of a code.
func TestCode(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{
		"123456", " 123 456\n", "123-456", "123–456", "123—456", "123\u2010456", "123\u2011456", "123\u2212456", "123.456", "123456.", "123·456", "#123456", "\"123456\"", "“123456”",
		"(123456)", "123,456", "123\u202f456", "123\u00a0456", "\u202a123456\u202c", "\u2068123456\u2069", "\u200b123456", "\ufeff123456", "123\u00ad456", "123\u200d456", "1️⃣23456",
		"ABC-123456", "G-123456", "123456 is your Touchline code.", "123456 is your Touchline code. Valid for 5 minutes.\n@touchline.example #123456", "कोड १२३४५६ है", "123456 is your Touch",
		"१२३४५६", "１２３４５６", "123_456", "123\t456",
	} {
		if got := input.Code(typed); got != "123456" {
			t.Errorf("%q is %q", typed, got)
		}
	}
	for typed, want := range map[string]string{"": "", "12a456": "12a456", "12a3456": "12a3456", "1234 or 5678": "1234or5678", "KTM-WXR 12": "KTMWXR12", "+123456": "+123456", "ktm–wxr": "ktmwxr", "ＫＴＭＷＸＲ": "KTMWXR"} {
		if got := input.Code(typed); got != want {
			t.Errorf("%q is %q, want %q", typed, got, want)
		}
	}
}
