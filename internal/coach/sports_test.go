package coach_test

import (
	"testing"

	"github.com/touchline/touchline/internal/coach"
)

// TestUniqueSports: what people would call the same sport stands once, in every
// script and case.
func TestUniqueSports(t *testing.T) {
	for _, same := range [][]string{
		{"hockey", "Hockey"}, {"STRASSENLAUF", "Straßenlauf"}, {"ho\u200bckey", "hockey"}, {"table tennis", "Table  Tennis"}, {"ΣΚΑΚΙ", "σκακι"},
	} {
		if coach.UniqueSports(same) {
			t.Errorf("%q count as two", same)
		}
	}
	if !coach.UniqueSports([]string{"hockey", "ice hockey", "pelota", "pelotá"}) {
		t.Error("different sports count as one")
	}
}
