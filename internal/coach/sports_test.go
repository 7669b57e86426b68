package coach_test

import (
	"testing"

	"github.com/touchline/touchline/internal/coach"
)

func TestUniqueSports(t *testing.T) {
	for _, same := range [][]string{
		{"hockey", "Hockey"}, {"STRASSENLAUF", "Straßenlauf"}, {"ho\u200bckey", "hockey"}, {"table tennis", "Table  Tennis"}, {"ΣΚΑΚΙ", "σκακι"},
	} {
		if coach.UniqueSports(same) {
			t.Errorf("UniqueSports(%q) = true, want false", same)
		}
	}
	if !coach.UniqueSports([]string{"hockey", "ice hockey", "pelota", "pelotá"}) {
		t.Error("UniqueSports of different sports = false, want true")
	}
}
