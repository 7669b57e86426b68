package message_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
)

func TestSegments(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 1},
		{strings.Repeat("a", 160), 1},
		{strings.Repeat("a", 161), 2},
		{strings.Repeat("a", 306), 2},
		{strings.Repeat("a", 307), 3},
		{strings.Repeat("[", 80), 1},
		{strings.Repeat("[", 81), 2},
		{strings.Repeat("आ", 70), 1},
		{strings.Repeat("आ", 71), 2},
		{strings.Repeat("आ", 134), 2},
		{strings.Repeat("आ", 135), 3},
		{strings.Repeat("😀", 35), 1},
		{strings.Repeat("😀", 36), 2},
	} {
		if got := message.Segments(tt.text); got != tt.want {
			t.Errorf("Segments of %d bytes of %.4s = %d, want %d", len(tt.text), tt.text, got, tt.want)
		}
	}
}
