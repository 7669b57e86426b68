package auth_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/touchline/touchline/internal/auth"
)

// TestCodesAreUniform checks that every digit is equally likely in every position.
func TestCodesAreUniform(t *testing.T) {
	const codes = 20_000
	random := rand.NewChaCha8([32]byte{1})
	for length := 4; length <= 10; length++ {
		counts := make([][10]int, length)
		for range codes {
			code, err := auth.NewCode(random, length)
			if err != nil {
				t.Fatal(err)
			}
			if len(code) != length || strings.Trim(code, "0123456789") != "" {
				t.Fatalf("got the code %q, want %d digits", code, length)
			}
			for position := range length {
				counts[position][code[position]-'0']++
			}
		}
		// Chi-squared with 9 degrees of freedom is above 33.7 once in 10,000.
		for position, count := range counts {
			const expected = codes / 10.0
			chi := 0.0
			for _, n := range count {
				chi += (float64(n) - expected) * (float64(n) - expected) / expected
			}
			if chi > 33.7 {
				t.Errorf("digit %d of %d: %v, chi-squared %.1f", position+1, length, count, chi)
			}
		}
	}
}

func TestCodeWithoutRandomness(t *testing.T) {
	if code, err := auth.NewCode(iotest.ErrReader(errors.New("dry")), 6); err == nil || code != "" {
		t.Errorf("got %q, %v, want an error", code, err)
	}
}
