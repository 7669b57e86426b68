package httpx_test

import (
	"net/http"
	"testing"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
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
			t.Errorf("%q: got %q, %v, want %q, %s", tt.headers, token, err, tt.token, tt.code)
		}
	}
}

func FuzzBearer(f *testing.F) {
	f.Add("Bearer abc")
	f.Fuzz(func(t *testing.T, value string) {
		token, err := httpx.Bearer(http.Header{"Authorization": {value}})
		if (err == nil) == (token == "") || err != nil && fault.KindOf(err) != fault.Unauthenticated {
			t.Fatalf("%q: got %q, %v", value, token, err)
		}
	})
}
