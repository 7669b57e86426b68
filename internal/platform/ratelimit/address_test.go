package ratelimit_test

import (
	"net/netip"
	"testing"

	"github.com/touchline/touchline/internal/platform/ratelimit"
)

func TestClientNetwork(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	tests := []struct {
		remote    string
		forwarded []string
		trusted   []netip.Prefix
		want      string
	}{
		{"192.0.2.1:80", nil, nil, "192.0.2.1"},
		{"192.0.2.1:80", []string{"203.0.113.9"}, nil, "192.0.2.1"},
		{"192.0.2.1:80", []string{"203.0.113.9"}, trusted, "192.0.2.1"},
		{"10.0.0.1:80", []string{"203.0.113.9"}, trusted, "203.0.113.9"},
		{"10.0.0.1:80", []string{"1.1.1.1, 203.0.113.9, 10.9.9.9"}, trusted, "203.0.113.9"},
		{"10.0.0.1:80", []string{"1.1.1.1", "203.0.113.9:4711"}, trusted, "203.0.113.9"},
		{"10.0.0.1:80", []string{"made up"}, trusted, "10.0.0.1"},
		{"10.0.0.1:80", nil, trusted, "10.0.0.1"},
		{"10.0.0.1:80", []string{"10.0.0.7, 10.0.0.8"}, trusted, "10.0.0.7"},
		{"[fd00::1]:80", []string{"[2001:db8:1:2:3:4:5:6]:99"}, trusted, "2001:db8:1:2::/64"},
		{"[2001:db8::1%eth0]:80", nil, nil, "2001:db8::/64"},
		{"[::ffff:192.0.2.1]:80", nil, nil, "192.0.2.1"},
		{"@", nil, trusted, "invalid IP"},
	}
	for _, tt := range tests {
		if got := ratelimit.Network(ratelimit.Client(tt.remote, tt.forwarded, tt.trusted)); got != tt.want {
			t.Errorf("client of %s, X-Forwarded-For %q: got %s, want %s", tt.remote, tt.forwarded, got, tt.want)
		}
	}
}

// FuzzClient: Client does not panic, and ignores X-Forwarded-For from an untrusted address.
func FuzzClient(f *testing.F) {
	f.Add("10.0.0.1:80", "1.2.3.4, [::1]:9")
	f.Fuzz(func(t *testing.T, remote, forwarded string) {
		ratelimit.Network(ratelimit.Client(remote, []string{forwarded}, []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}))
		direct := ratelimit.Client("192.0.2.1:80", []string{forwarded}, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
		if direct != netip.MustParseAddr("192.0.2.1") {
			t.Fatalf("X-Forwarded-For of an untrusted address changed the client to %s", direct)
		}
	})
}
