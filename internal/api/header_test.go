package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/httpx"
)

func TestBearer(t *testing.T) {
	tests := []struct {
		headers     []string
		token, code string
	}{
		{nil, "", "token_missing"},
		{[]string{"Bearer abc.DEF-_~+/="}, "abc.DEF-_~+/=", ""},
		{[]string{"bearer  abc "}, "abc", ""},
		{[]string{"Bearer"}, "", "token_missing"},
		{[]string{"Bearer "}, "", "token_missing"},
		{[]string{"Basic YTpi"}, "", "token_missing"},
		{[]string{"Bearer a b"}, "", "token_invalid"},
		{[]string{"Bearer a\tb"}, "", "token_invalid"},
		{[]string{"Bearer é"}, "", "token_invalid"},
		{[]string{"Bearer a", "Bearer b"}, "", "token_invalid"},
	}
	for _, tt := range tests {
		token, err := httpx.Bearer(http.Header{"Authorization": tt.headers})
		if token != tt.token || fault.CodeOf(err) != tt.code {
			t.Errorf("%q: %q, %v", tt.headers, token, err)
		}
	}
}

func FuzzBearer(f *testing.F) {
	f.Add("Bearer abc")
	f.Fuzz(func(t *testing.T, value string) {
		token, err := httpx.Bearer(http.Header{"Authorization": {value}})
		if (err == nil) == (token == "") || err != nil && fault.KindOf(err) != fault.Unauthenticated {
			t.Fatalf("%q: %q, %v", value, token, err)
		}
	})
}

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
			t.Errorf("%q: %q, %v, %v", tt.headers, key, present, ok)
		}
	}
	if _, present, ok := api.IdempotencyKey(nil); present || !ok {
		t.Error("no header is no key")
	}
}

func FuzzIdempotencyKey(f *testing.F) {
	f.Add(`"a\"b"`)
	f.Fuzz(func(t *testing.T, value string) {
		key, _, ok := api.IdempotencyKey([]string{value})
		if ok && (len(key) < 1 || len(key) > 255 || len(key) > len(value)) {
			t.Fatalf("%q: %q", value, key)
		}
	})
}

func TestDigits(t *testing.T) {
	for typed, want := range map[string]string{
		"493817": "493817", " 493 817 ": "493817", "４９３８１７": "493817", "٤٩٣٨١٧": "493817", "४९३८१७": "493817", "𝟒𝟗𝟑𝟖𝟏𝟕": "493817",
		"": "", "12345a": "", "123": "", "12345678901": "", "-12345": "", "½½½½½½": "",
	} {
		got, ok := api.Digits(typed)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", typed, got, ok)
		}
	}
}
