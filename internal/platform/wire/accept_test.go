package wire_test

import (
	"net/http"
	"testing"

	"github.com/touchline/touchline/internal/platform/wire"
)

func TestAcceptable(t *testing.T) {
	tests := []struct {
		accept       []string
		json, events bool
	}{
		{nil, true, true},
		{[]string{""}, true, true},
		{[]string{"*/*"}, true, true},
		{[]string{"application/json"}, true, false},
		{[]string{"Application/*;q=0.1"}, true, false},
		{[]string{"text/event-stream"}, false, true},
		{[]string{"text/html, application/xhtml+xml"}, false, false},
		{[]string{"text/html, */*;q=0.1"}, true, true},
		{[]string{"application/json;q=0, */*"}, false, true},
		{[]string{"*/*, application/json;q=0"}, false, true},
		{[]string{"application/*;q=0, application/json"}, true, false},
		{[]string{"*/*;q=0"}, false, false},
		{[]string{"application/json;q=high"}, true, false},
		{[]string{"text/html", "application/json; charset=utf-8"}, true, false},
		{[]string{"nonsense"}, false, false},
	}
	for _, tt := range tests {
		h := http.Header{}
		if tt.accept != nil {
			h["Accept"] = tt.accept
		}
		for mediaType, want := range map[string]bool{"application/json": tt.json, "text/event-stream": tt.events} {
			if got := wire.Acceptable(h, mediaType); got != want {
				t.Errorf("Accept %q: %s acceptable is %v, want %v", tt.accept, mediaType, got, want)
			}
		}
	}
}

func TestAcceptsEncoding(t *testing.T) {
	tests := []struct {
		accept []string
		want   bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{"gzip"}, true},
		{[]string{"GZIP;q=0.5"}, true},
		{[]string{"br, gzip"}, true},
		{[]string{"br", "gzip"}, true},
		{[]string{"gzip;q=0"}, false},
		{[]string{"gzip;q=0.0, br"}, false},
		{[]string{"*"}, false},
		{[]string{"gzipped"}, false},
	}
	for _, tt := range tests {
		if got := wire.AcceptsEncoding(http.Header{"Accept-Encoding": tt.accept}, "gzip"); got != tt.want {
			t.Errorf("Accept-Encoding %q: got %v, want %v", tt.accept, got, tt.want)
		}
	}
}

func FuzzAcceptable(f *testing.F) {
	f.Add("application/json;q=0, */*")
	f.Add("a/b;q=;q=1,,;")
	f.Fuzz(func(t *testing.T, accept string) {
		h := http.Header{"Accept": {accept}}
		first := wire.Acceptable(h, "application/json")
		if wire.Acceptable(h, "application/json") != first {
			t.Fatalf("%q: two calls differ", accept)
		}
		if !wire.Acceptable(http.Header{"Accept": {accept, "application/json"}}, "application/json") {
			t.Fatalf("%q: the exact type was added and is not acceptable", accept)
		}
		wire.AcceptsEncoding(http.Header{"Accept-Encoding": {accept}}, "gzip")
	})
}

func TestPreferred(t *testing.T) {
	for accept, want := range map[string]string{
		"": "application/json", "*/*": "application/json", "text/csv": "text/csv", "text/*": "text/csv",
		"application/json, text/csv": "application/json", "application/json;q=0.5, text/csv": "text/csv",
		"text/csv;q=0.2, */*;q=0.1": "text/csv", "text/html": "application/json",
	} {
		h := http.Header{}
		if accept != "" {
			h.Set("Accept", accept)
		}
		if got := wire.Preferred(h, "application/json", "text/csv"); got != want {
			t.Errorf("%q prefers %s, want %s", accept, got, want)
		}
	}
}
