package httpx_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/httpx"
)

func TestTraceID(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for traceparent, valid := range map[string]bool{
		"00-" + id + "-00f067aa0ba902b7-01":                       true,
		"01-" + id + "-00f067aa0ba902b7-01-later":                 true,
		"00-" + id + "-00f067aa0ba902b7-01-later":                 false,
		"ff-" + id + "-00f067aa0ba902b7-01":                       false,
		"00-" + id + "-0000000000000000-01":                       false,
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": false,
		"00-" + strings.ToUpper(id) + "-00f067aa0ba902b7-01":      false,
		"":  false,
		"x": false,
	} {
		got := httpx.TraceID(traceparent)
		if (got == id) != valid || len(got) != 32 {
			t.Errorf("TraceID(%q) = %q; the trace id is taken over: want %t", traceparent, got, valid)
		}
	}
}
