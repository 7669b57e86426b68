package approval_test

import (
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/touchline/touchline/internal/approval"
)

func TestNewShortCode(t *testing.T) {
	seen := map[rune]bool{}
	for range 500 {
		code, err := approval.NewShortCode(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if len(code) != 6 || strings.ContainsAny(code, "ILOQ0123456789") || strings.ToUpper(code) != code {
			t.Fatalf("NewShortCode = %q, want six letters without I, L, O and Q", code)
		}
		if parsed, ok := approval.ParseShortCode(code); !ok || parsed != code {
			t.Fatalf("ParseShortCode(%q) = %q, %t", code, parsed, ok)
		}
		for _, letter := range code {
			seen[letter] = true
		}
	}
	if len(seen) != 22 {
		t.Errorf("500 codes have %d letters, want 22", len(seen))
	}
	if _, err := approval.NewShortCode(iotest.ErrReader(errors.New("no randomness"))); err == nil {
		t.Error("NewShortCode without randomness: no error")
	}
}

func TestParseShortCode(t *testing.T) {
	for typed, want := range map[string]string{
		"KTMWXR": "KTMWXR", "ktmwxr": "KTMWXR",
	} {
		if got, ok := approval.ParseShortCode(typed); !ok || got != want {
			t.Errorf("ParseShortCode(%q) = %q, %t, want %q", typed, got, ok, want)
		}
	}
	for _, typed := range []string{"", "KTMWX", "KTMWXRR", "KTMWX1", "KTMWXO", "क्षत्रि", "KTMW'R"} {
		if _, ok := approval.ParseShortCode(typed); ok {
			t.Errorf("ParseShortCode(%q) accepts it", typed)
		}
	}
}

func TestShortCodePairLimits(t *testing.T) {
	pair := approval.ShortCodePair{Code: "ABCDEF", Number: "+919800000001", Network: "192.0.2.1"}
	want := []approval.PairLimit{
		{Name: "short_code_pairs_per_address_hour", Key: "short_code/network/192.0.2.1", Max: 10},
		{Name: "short_code_pairs_per_number_hour", Key: "short_code/number/+919800000001", Max: 5},
	}
	if got := pair.Limits(); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
