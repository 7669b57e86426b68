package api_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/api"
)

func TestIdempotencyKey(t *testing.T) {
	tests := []struct {
		headers []string
		key     string
		ok      bool
	}{
		{[]string{"abc"}, "abc", true},
		{[]string{`"abc"`}, "abc", true},
		{[]string{`"a\"b\\c"`}, `a"b\c`, true},
		{[]string{`a"b`}, `a"b`, true},
		{[]string{strings.Repeat("k", 255)}, strings.Repeat("k", 255), true},
		{[]string{strings.Repeat("k", 256)}, "", false},
		{[]string{""}, "", false},
		{[]string{`""`}, "", false},
		{[]string{`"abc`}, "", false},
		{[]string{`"`}, "", false},
		{[]string{`"a"b`}, "", false},
		{[]string{`"a\b"`}, "", false},
		{[]string{"é"}, "", false},
		{[]string{"a", "b"}, "", false},
	}
	for _, tt := range tests {
		key, present, ok := api.IdempotencyKey(tt.headers)
		if !present || ok != tt.ok || ok && key != tt.key {
			t.Errorf("%q: got %q, present %v, ok %v, want %q, ok %v", tt.headers, key, present, ok, tt.key, tt.ok)
		}
	}
	if _, present, ok := api.IdempotencyKey(nil); present || !ok {
		t.Error("no header: got a key or a fault, want neither")
	}
}

func FuzzIdempotencyKey(f *testing.F) {
	f.Add(`"a\"b"`)
	f.Fuzz(func(t *testing.T, value string) {
		key, _, ok := api.IdempotencyKey([]string{value})
		if ok && (len(key) < 1 || len(key) > 255 || len(key) > len(value)) {
			t.Fatalf("%q: got key %q of invalid length", value, key)
		}
	})
}
