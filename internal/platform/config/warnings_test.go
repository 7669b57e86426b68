package config_test

import (
	"strings"
	"testing"
	"time"
)

// TestWarnings: each dangerous setting is one line, and safe settings have none.
func TestWarnings(t *testing.T) {
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	const gateway, noSends = "SMS=https://gateway.example/send", "OTP_SENDS_PER_HOUR=0 OTP_SENDS_PER_DAY=0 OTP_SENDS_PER_ADDRESS_HOUR=0 OTP_SENDS_TOTAL_HOUR=0"
	for _, tt := range []struct {
		variables string
		want      string // parts of the warnings, separated by |
	}{
		{"", ""},
		{gateway + " ADDR=:8080 PUBLIC_URL=https://t.example TRUSTED_PROXIES=10.0.0.0/8", ""},
		{gateway, "PUBLIC_URL is not set: the links in messages begin with http://127.0.0.1:8080"},
		{gateway + " PUBLIC_URL=http://127.0.0.1:8080", ""},
		{"ADDR=:8080 INSECURE_HTTP=on PUBLIC_URL=http://t.example", "PUBLIC_URL is http on t.example|SMS is log, but ADDR"},
		{gateway + " INSECURE_HTTP=on PUBLIC_URL=http://t.example", "PUBLIC_URL is http on t.example"},
		{gateway + " ADDR=:8080", "ADDR is not a loopback address, and neither|begin with http://localhost:8080"},
		{gateway + " INSECURE_HTTP=on PUBLIC_URL=https://t.example", "INSECURE_HTTP is on"},
		{gateway + " INSECURE_HTTP=on ADDR=192.0.2.1:80", "PUBLIC_URL is http on 192.0.2.1"},
		{"PUBLIC_URL=https://t.example", "SMS is log, but PUBLIC_URL is https"},
		{"PUBLIC_URL=http://localhost:8080", "SMS is log, which is for development"},
		{"ADDR=:8080 PUBLIC_URL=https://t.example", "SMS is log, but ADDR|SMS is log, but PUBLIC_URL is https"},
		{"TRUSTED_PROXIES=10.0.0.0/8,0.0.0.0/0", "TRUSTED_PROXIES trusts every address"},
		{"TRUSTED_PROXIES=::/0", "TRUSTED_PROXIES trusts every address"},
		{gateway + " PUBLIC_URL=https://t.example COUNTRIES=* " + noSends, "and COUNTRIES is *"},
		{gateway + " PUBLIC_URL=https://t.example COUNTRIES=IN " + noSends, ""},
		{gateway + " PUBLIC_URL=https://t.example COUNTRIES=* " + noSends + " OTP_SENDS_TOTAL_HOUR=100", ""},
		{"COUNTRIES=* " + noSends, ""}, // development
		{"OTP_LENGTH=4", ""},
		{"OTP_LENGTH=4 OTP_TRIES=100", "there are 10000 OTPs, and OTP_TRIES and OTP_WRONG_PER_DAY allow 100 attempts"},
		{"OTP_LENGTH=5 OTP_WRONG_PER_DAY=1000", "allow 1000 attempts"},
		{"OTP_TRIES=100 OTP_WRONG_PER_DAY=1000", ""},
		{"PRIVACY_PROFILE=eu", "NOTICE is built-in"},
		{"PRIVACY_PROFILE=eu NOTICE=/etc/touchline/notice", ""},
		{"MAX_CONNECTIONS=4000", "STREAMS (4000) is not below MAX_CONNECTIONS (4000)"},
		{"MAX_CONNECTIONS=4001", ""},
		{"TEST_NUMBERS=+919900000001=123456@2027-01-31", ""},
		{"TEST_NUMBERS=+919900000001=123456@2099-01-31,+919900000002=123456@2026-11-21", "is more than a year away|has passed"},
	} {
		values := map[string]string{} // the last value of a name counts
		for _, pair := range strings.Fields(tt.variables) {
			name, value, _ := strings.Cut(pair, "=")
			values[name] = value
		}
		var pairs []string
		for name, value := range values {
			pairs = append(pairs, name+"="+value)
		}
		got := load(t, nil, env(pairs...)).Warnings(now)
		var want []string
		if tt.want != "" {
			want = strings.Split(tt.want, "|")
		}
		if len(got) != len(want) {
			t.Errorf("%s: got %q, want %q", tt.variables, got, want)
			continue
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) || strings.Contains(got[i], "9900000") {
				t.Errorf("%s: got %q, want %q", tt.variables, got[i], want[i])
			}
		}
	}
}
