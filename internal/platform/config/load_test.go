package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
)

// env adds the prefix to each NAME=value.
func env(pairs ...string) []string {
	for i, pair := range pairs {
		pairs[i] = "TOUCHLINE_" + pair
	}
	return pairs
}

func load(t *testing.T, args []string, environ []string) *config.Config {
	t.Helper()
	c, err := config.Load(args, environ)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDefaults checks every default that operators and apps rely on.
func TestDefaults(t *testing.T) {
	c := load(t, nil, env("SMS=http:https://gw.example/send"))
	development := config.Defaults()
	for name, ok := range map[string]bool{
		"ADDR":                        c.Addr == "127.0.0.1:8080",
		"PUBLIC_URL":                  c.PublicURL == "http://127.0.0.1:8080",
		"BRAND, APP_URL":              c.Brand == "Touchline" && c.App() == "",
		"TRUSTED_PROXIES":             len(c.TrustedProxies) == 0,
		"DATA_DIR":                    c.DataDir == "touchline-data",
		"DATABASE_URL":                c.DatabaseURL.Reveal() == "sqlite:touchline-data/touchline.db",
		"SMS":                         development.SMS == "log",
		"DEFAULT_REGION":              c.DefaultRegion == "IN",
		"COUNTRIES":                   c.CountryAllowed("IN") && !c.CountryAllowed("US"),
		"COUNTRIES in development":    development.CountryAllowed("IN") && development.CountryAllowed("US") && development.CountryAllowed("001"),
		"OTP":                         c.OTPLength == 6 && c.OTPValidity == 5*time.Minute && c.OTPTries == 5 && c.OTPResendAfter == time.Minute,
		"OTP limits":                  c.OTPSendsPerHour == 5 && c.OTPSendsPerDay == 10 && c.OTPSendsPerAddressHour == 20 && c.OTPSendsTotalHour == 1000 && c.OTPWrongPerDay == 10,
		"tokens":                      c.AccessTokenLifetime == 15*time.Minute && c.RefreshTokenIdle == 14*24*time.Hour && c.RefreshTokenLifetime == 30*24*time.Hour && c.RefreshGrace == 30*time.Second,
		"requests":                    c.ResendAfter == 48*time.Hour && c.RemindersPerWindow == 2 && c.ReminderWindow == 7*24*time.Hour && c.LinkValidity == 14*24*time.Hour,
		"PENDING_REMINDER":            c.PendingReminderAfter == 72*time.Hour && c.PendingReminderEvery == 72*time.Hour,
		"PROFILE_REQUIRED":            strings.Join(c.ProfileRequired, " ") == "name bio experience_years sports",
		"switches":                    c.OTPFraudRule && !c.RequireGuardianForMinors && !c.AllowCoachAsContact,
		"REQUESTS_PER_ADDRESS_MINUTE": c.RequestsPerAddressMinute == 600,
		"messages":                    c.MessagesPerNumberFromCoach == 6 && c.MessagesPerNumber == 20 && c.MessagesPerCoach == 200,
		"development":                 development.Development() && !c.Development(),
		"valid":                       c.Validate() == nil && development.Validate() == nil,
	} {
		if !ok {
			t.Errorf("the default of %s has changed", name)
		}
	}
}

// TestDevelopmentLimits: in development the limits on sending OTPs and on messages are
// off, unless they are set; wrong attempts stay limited.
func TestDevelopmentLimits(t *testing.T) {
	off := regexp.MustCompile(`^TOUCHLINE_(OTP_SENDS_.*|OTP_RESEND_AFTER|MESSAGES_.*)$`)
	for _, tt := range []struct {
		name    string
		environ []string
		on      bool
		set     string
	}{
		{"nothing is set", nil, true, ""},
		{"another loopback address", env("ADDR=[::1]:0"), true, ""},
		{"a limit is set", env("OTP_SENDS_PER_HOUR=5"), true, "TOUCHLINE_OTP_SENDS_PER_HOUR"},
		{"PUBLIC_URL", env("PUBLIC_URL=http://127.0.0.1:8080"), false, ""},
		{"ADDR", env("ADDR=:8080"), false, ""},
		{"SMS", env("SMS=http:https://gw.example/send"), false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, nil, tt.environ)
			var out bytes.Buffer
			if err := c.PrintJSON(&out); err != nil {
				t.Fatal(err)
			}
			var rows []struct{ Name, Value, Default, Source string }
			if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
				t.Fatal(err)
			}
			if c.Development() != tt.on {
				t.Errorf("Development = %t, want %t", c.Development(), tt.on)
			}
			seen := 0
			for _, row := range rows {
				switch matches := off.MatchString(row.Name); {
				case matches && tt.on && row.Name != tt.set:
					seen++
					if row.Source != "development" || row.Value != "0" && row.Value != "0s" || row.Default == row.Value {
						t.Errorf("got %+v, want 0 from development", row)
					}
				case (row.Name == "TOUCHLINE_WHATSAPP" || row.Name == "TOUCHLINE_VOICE") && tt.on:
					if row.Source != "development" || row.Value != "log" {
						t.Errorf("got %+v, want log from development", row)
					}
				case row.Source == "development" || matches && row.Value != row.Default:
					t.Errorf("got %+v, want the default", row)
				}
			}
			if tt.on && seen < 7 {
				t.Errorf("%d limits are off, want at least 7", seen)
			}
			if c.OTPTries != 5 || c.OTPWrongPerDay != 10 {
				t.Errorf("wrong attempts: got %d and %d a day, want 5 and 10", c.OTPTries, c.OTPWrongPerDay)
			}
		})
	}
}

func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte("sqlite:from-file.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		args    []string
		environ []string
		want    string
	}{
		{"default", nil, nil, "sqlite:touchline-data/touchline.db"},
		{"environment", nil, env("DATABASE_URL=sqlite:env.db"), "sqlite:env.db"},
		{"file by environment", nil, env("DATABASE_URL_FILE=" + file), "sqlite:from-file.db"},
		{"flag", []string{"--database-url=sqlite:flag.db"}, env("DATABASE_URL=sqlite:env.db"), "sqlite:flag.db"},
		{"flag, apart", []string{"--database-url", "sqlite:flag.db"}, nil, "sqlite:flag.db"},
		{"flag, one dash", []string{"-database-url", "sqlite:flag.db"}, nil, "sqlite:flag.db"},
		{"flag over file", []string{"--database-url=sqlite:flag.db"}, env("DATABASE_URL_FILE=" + file), "sqlite:flag.db"},
		{"file by flag", []string{"--database-url-file", file}, env("DATABASE_URL=sqlite:env.db"), "sqlite:from-file.db"},
		{"empty is not set", []string{"--database-url="}, env("DATABASE_URL="), "sqlite:touchline-data/touchline.db"},
		{"the last flag", []string{"--database-url=sqlite:1", "--database-url=sqlite:2"}, nil, "sqlite:2"},
		{"follows DATA_DIR", []string{"--data-dir", "/srv/t"}, nil, "sqlite:/srv/t/touchline.db"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := load(t, tt.args, tt.environ).DatabaseURL.Reveal(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	for _, arg := range []string{"-h", "--help", "-help"} {
		if _, err := config.Load([]string{"--addr", ":1", arg}, nil); !errors.Is(err, config.ErrHelp) {
			t.Errorf("%s: err = %v", arg, err)
		}
	}
	var out strings.Builder
	if err := config.Usage(&out); err != nil || !strings.Contains(out.String(), "--otp-length") {
		t.Errorf("usage: %v\n%s", err, out.String())
	}
}

// TestAutocertDomains: the domains turn TLS on, name the service, and contradict files.
func TestAutocertDomains(t *testing.T) {
	c := load(t, nil, env("TLS_AUTOCERT_DOMAINS=touchline.example, www.touchline.example", "ADDR=:443"))
	if !c.TLSOn() || c.TLSFiles() || c.PublicURL != "https://touchline.example" || len(c.AutocertDomains()) != 2 {
		t.Errorf("TLSOn %t, TLSFiles %t, PublicURL %s, AutocertDomains %v", c.TLSOn(), c.TLSFiles(), c.PublicURL, c.AutocertDomains())
	}
	_, err := config.Load(nil, env("TLS_AUTOCERT_DOMAINS=t.example", "TLS_CERT=cert.pem", "TLS_KEY=key.pem"))
	if err == nil || !strings.Contains(err.Error(), "contradicts TLS_CERT and TLS_KEY") {
		t.Errorf("files and domains: err = %v", err)
	}
}

// TestKeyWithPassword: the error of a TLS key with a password says how to remove it.
func TestKeyWithPassword(t *testing.T) {
	for _, key := range []string{
		"-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIH0\n-----END ENCRYPTED PRIVATE KEY-----\n",
		"-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIH0\n-----END EC PRIVATE KEY-----\n",
	} {
		file := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := config.Load(nil, env("TLS_CERT=load_test.go", "TLS_KEY="+file))
		if err == nil || !strings.Contains(err.Error(), "the key has a password") {
			t.Errorf("got %v", err)
		}
	}
}

// TestDerivedPublicURLWithTLS: with TLS the derived PUBLIC_URL is https.
func TestDerivedPublicURLWithTLS(t *testing.T) {
	c := config.Defaults()
	c.TLSCert, c.TLSKey = "cert.pem", "key.pem"
	c = c.WithListenAddr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8443})
	if c.PublicURL != "https://127.0.0.1:8443" {
		t.Errorf("PublicURL = %s, want https://127.0.0.1:8443", c.PublicURL)
	}
}

func TestDerived(t *testing.T) {
	tests := []struct {
		args []string
		ok   func(*config.Config) bool
	}{
		{[]string{"--addr=:9000"}, func(c *config.Config) bool { return c.PublicURL == "http://localhost:9000" && !c.Development() }},
		{[]string{"--sms=http:https://gw.example/send"}, func(c *config.Config) bool { return c.SMS == "http:https://gw.example/send" }},
		{[]string{"--sms=https://a.example/x, http:https://b.example/?x=1%2C2"}, func(c *config.Config) bool {
			return slices.Equal(c.SMSProviders(), []config.SMSProvider{{Kind: "http", URL: "https://a.example/x"}, {Kind: "http", URL: "https://b.example/?x=1%2C2"}})
		}},
		{[]string{"--sms=kannel:http://u:a%2Cb@k:1/cgi-bin/sendsms?from=+15005550006&reply_secret=0123456789abcdef&rate=0.5,http:http://gw/#rate=2"}, func(c *config.Config) bool {
			return slices.Equal(c.SMSProviders(), []config.SMSProvider{
				{Kind: "kannel", URL: "http://k:1/cgi-bin/sendsms", User: "u", Password: "a,b", Sender: "+15005550006", ReplySecret: "0123456789abcdef", Rate: 0.5},
				{Kind: "http", URL: "http://gw/", Rate: 2},
			})
		}},
		{[]string{"--mail=smtp://u:p%40ss@h?from=Sunrise Academy <a+b@c.example>&bounce_secret=0123456789abcdef"}, func(c *config.Config) bool {
			return c.MailServer() == config.MailServer{URL: "smtp://u@h:587", Password: "p@ss", From: "Sunrise Academy <a+b@c.example>", BounceSecret: "0123456789abcdef"}
		}},
		{[]string{"--mail=smtps://h?from=a@b.example"}, func(c *config.Config) bool { return c.MailServer().URL == "smtps://h:465" }},
		{[]string{"--sms=twilio:https://" + twilioSID + ":t@api.twilio.com?from=+15005550006,msg91:https://k@control.msg91.com?header=TLINES&entity_id=12", "--msg91-templates=otp_coach.en=a/1"}, func(c *config.Config) bool {
			return slices.Equal(c.SMSProviders(), []config.SMSProvider{
				{Kind: "twilio", URL: "https://api.twilio.com", User: twilioSID, Password: "t", Sender: "+15005550006"},
				{Kind: "msg91", URL: "https://control.msg91.com", User: "k", Sender: "TLINES", EntityID: "12"},
			})
		}},
		{[]string{"--sms=https://gw.example/send"}, func(c *config.Config) bool { return c.SMS == "http:https://gw.example/send" }},
		{[]string{"--addr=[::]:9000"}, func(c *config.Config) bool { return c.PublicURL == "http://localhost:9000" }},
		{[]string{"--addr=[::1]:9000"}, func(c *config.Config) bool { return c.PublicURL == "http://[::1]:9000" && c.Development() }},
		{[]string{"--addr=localhost:0"}, func(c *config.Config) bool { return c.Development() }},
		{[]string{"--app-url=https://app.example/open"}, func(c *config.Config) bool { return c.App() == "https://app.example/open" }},
		{[]string{"--public-url=https://t.example/"}, func(c *config.Config) bool { return c.PublicURL == "https://t.example" }},
		{[]string{"--public-url=HTTPS://T.Example:443/"}, func(c *config.Config) bool { return c.PublicURL == "https://t.example" }},
		{[]string{"--public-url=http://t.example:80", "--insecure-http=on"}, func(c *config.Config) bool { return c.PublicURL == "http://t.example" }},
		{[]string{"--public-url=http://[::1]:9000"}, func(c *config.Config) bool { return !c.HTTPSOnly() }},
		{[]string{"--public-url=https://t.example"}, func(c *config.Config) bool { return c.HTTPSOnly() }},
		{[]string{"--public-url=https://t.example", "--insecure-http=on"}, func(c *config.Config) bool { return !c.HTTPSOnly() && c.PublicHTTPS() }},
		{[]string{"--public-url=https://[2001:DB8::1]:8443"}, func(c *config.Config) bool { return c.PublicURL == "https://[2001:db8::1]:8443" }},
		{[]string{"--default-region=gb"}, func(c *config.Config) bool { return c.DefaultRegion == "GB" && c.CountryAllowed("US") }},
		{[]string{"--countries=in, gb"}, func(c *config.Config) bool { return c.CountryAllowed("GB") && !c.CountryAllowed("US") }},
		{[]string{"--sms=http:https://gw.example/send"}, func(c *config.Config) bool {
			return c.CountryAllowed("IN") && !c.CountryAllowed("GB") && !c.Development()
		}},
		{[]string{"--sms=http:https://gw.example/send", "--countries=*"}, func(c *config.Config) bool { return c.CountryAllowed("001") }},
		{[]string{"--refresh-token-lifetime=1h"}, func(c *config.Config) bool { return c.RefreshTokenIdle == time.Hour }},
		{[]string{"--otp-sends-per-hour=0", "--otp-resend-after=0"}, func(c *config.Config) bool { return c.OTPSendsPerHour == 0 && c.OTPResendAfter == 0 }},
		{[]string{"--require-guardian-for-minors=on"}, func(c *config.Config) bool { return c.RequireGuardianForMinors }},
		{[]string{"--profile-required=none"}, func(c *config.Config) bool { return len(c.ProfileRequired) == 0 }},
		{[]string{"--profile-required=name,email"}, func(c *config.Config) bool { return len(c.ProfileRequired) == 2 }},
		{[]string{"--kyc=off", "--admin-addr=off", "--otp-fraud-rule=off"}, func(c *config.Config) bool { return true }},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			if c := load(t, tt.args, nil); !tt.ok(c) {
				t.Errorf("unexpected settings: public URL %s, countries %v, idle %s", c.PublicURL, c.Countries, c.RefreshTokenIdle)
			}
		})
	}
}

func TestWithListenAddr(t *testing.T) {
	got := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 40123}
	loaded := load(t, []string{"--addr=127.0.0.1:0"}, nil)
	c := loaded.WithListenAddr(got)
	if loaded.PublicURL != "http://127.0.0.1:0" {
		t.Errorf("PublicURL of the original = %s, want the loaded value", loaded.PublicURL)
	}
	if c.PublicURL != "http://127.0.0.1:40123" {
		t.Errorf("PublicURL = %s, want http://127.0.0.1:40123", c.PublicURL)
	}
	c = load(t, []string{"--addr=127.0.0.1:0", "--public-url=https://t.example"}, nil).WithListenAddr(got)
	if c.PublicURL != "https://t.example" {
		t.Errorf("PublicURL = %s, want the value that is set", c.PublicURL)
	}
}

func TestTrustedProxies(t *testing.T) {
	c := load(t, nil, env("TRUSTED_PROXIES=10.0.0.0/8, 192.0.2.7,2001:db8::/32"))
	if got, want := fmt.Sprint(c.TrustedProxies), "[10.0.0.0/8 192.0.2.7/32 2001:db8::/32]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestCheckpointFile: LOG_CHECKPOINT is in DATA_DIR unless the database is elsewhere.
func TestCheckpointFile(t *testing.T) {
	for setting, want := range map[string]string{
		"LOG_CHECKPOINT=/srv/checkpoint": "/srv/checkpoint", "LOG_CHECKPOINT=none": "",
		"DATA_DIR=/srv": "/srv/log-checkpoint", "DATABASE_URL=sqlite:/srv/x.db": "",
	} {
		if got := load(t, nil, env(setting)).CheckpointFile(); got != want {
			t.Errorf("%s: %q, want %q", setting, got, want)
		}
	}
}

// TestWitnesses: LOG_WITNESSES has lines of a policy.
func TestWitnesses(t *testing.T) {
	const one = "witness one litewitness.example/w1+856d2e1e+BFNqsmy4EC5CXlcJ3BHze/hOWhXel21Ya277ojBcqP44 https://w.example/1"
	c := load(t, nil, env("LOG_WITNESSES="+one+"/"))
	if len(c.LogWitnesses) != 1 || c.LogWitnesses[0].String() != one || c.LogWitnesses[0].Key.Name() != "litewitness.example/w1" {
		t.Errorf("got %v", c.LogWitnesses)
	}
	for value, want := range map[string]string{
		"one": "entry 1: must be written as witness <name> <vkey> <url>", one + ",https://w.example": "entry 2: must be written",
		one + ", " + strings.Replace(one, "one", "two", 1): "entry 2 repeats", strings.Replace(one, "https", "ftp", 1): "must be http or https",
		strings.Replace(one, "856d2e1e", "856d2e1f", 1): "entry 1: the hash in the key of the witness", strings.Replace(one, "+BFN", "+AFN", 1): "must be for Ed25519 cosignatures (type 4)",
	} {
		if _, err := config.Load(nil, env("LOG_WITNESSES="+value)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", value, err, want)
		}
	}
	text, err := os.ReadFile("../../../docs/proof.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "TOUCHLINE_LOG_WITNESSES=\"")
	example, _, _ = strings.Cut(example, "\"")
	if _, err := config.Load(nil, env("LOG_WITNESSES="+example)); err != nil || example == "" {
		t.Errorf("the example of docs/proof.md: %q, %v", example, err)
	}
}

func TestTestCode(t *testing.T) {
	c := load(t, nil, env("TEST_NUMBERS=+919900000001=123456@2027-01-31, +91 99000 00002=654321@2026-01-01"))
	last := time.Date(2027, 1, 31, 23, 59, 59, 0, time.UTC)
	if code, ok := c.TestCode("+919900000001", last); !ok || code.Reveal() != "123456" {
		t.Errorf("on the last day: got %q, %v; want 123456", code.Reveal(), ok)
	}
	if _, ok := c.TestCode("+919900000001", last.Add(time.Second)); ok {
		t.Error("the OTP is still fixed after the last day")
	}
	if _, ok := c.TestCode(phone.Number("+919900000003"), last); ok {
		t.Error("a number that is not a test number has a fixed OTP")
	}
	if list := c.Warnings(last); len(list) != 1 || strings.Contains(list[0], "9900000002") {
		t.Errorf("warnings = %q, want one with a masked number", list)
	}
}

// TestAccessLogDefault: JSON logs have an access log unless ACCESS_LOG says otherwise.
func TestAccessLogDefault(t *testing.T) {
	for variables, want := range map[string]bool{
		"": false, "LOG_FORMAT=json": true, "LOG_FORMAT=text": false,
		"LOG_FORMAT=json ACCESS_LOG=off": false, "ACCESS_LOG=on": true,
	} {
		c, err := config.Load(nil, env(strings.Fields(variables)...))
		if err != nil || c.AccessLog != want {
			t.Errorf("%q: got %v, %v, want %t", variables, c, err, want)
		}
	}
}

func TestConfiguredNames(t *testing.T) {
	c := load(t, []string{"--addr=127.0.0.1:0"}, env("SMS=http:https://key@gateway.example/send"))
	if got := fmt.Sprint(c.ConfiguredNames()); got != "[TOUCHLINE_ADDR TOUCHLINE_SMS]" {
		t.Errorf("got %s", got)
	}
}

// TestPostgresWithSeveralHosts: a URL may name several servers, also only some with a port.
func TestPostgresWithSeveralHosts(t *testing.T) {
	for _, url := range []string{
		"postgres://a,b/db?target_session_attrs=read-write", "postgres://u:p@a:5432,b:5433/db", "postgres://u:p@a:5432,b/db",
		"postgres://u:p@a,b:5433", "postgres://u:p@[::1]:5432,[::2]:5432/db", "postgres:///db?host=a,b&port=1,2",
	} {
		if _, err := config.Load(nil, env("DATABASE_URL="+url)); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestMissingTLSFile: a file that cannot be read is reported also if the other one is not set.
func TestMissingTLSFile(t *testing.T) {
	for set, want := range map[string]string{
		"TLS_CERT=x.pem": "TOUCHLINE_TLS_CERT=x.pem: cannot be read: no such file or directory\nTOUCHLINE_TLS_KEY=off: must name the key of TLS_CERT",
		"TLS_KEY=x.pem":  "TOUCHLINE_TLS_CERT=off: must name the certificate of TLS_KEY\nTOUCHLINE_TLS_KEY=x.pem: cannot be read: no such file or directory",
	} {
		if _, err := config.Load(nil, env(set)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", set, err, want)
		}
	}
}

// TestWhatsAppAccount: the parts of the account are separated by commas, or by lines in a file.
func TestWhatsAppAccount(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "whatsapp")
	if err := os.WriteFile(file, []byte("phone_id=1\ntoken=a=b\napp_secret=s\nverify_token=v\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := config.WhatsAppAccount{PhoneID: "1", Token: "a=b", AppSecret: "s", VerifyToken: "v"}
	for _, environ := range [][]string{env("WHATSAPP_ACCOUNT_FILE=" + file), env("WHATSAPP_ACCOUNT=phone_id=1, token=a=b,app_secret=s,verify_token=v")} {
		if got := load(t, nil, environ).WhatsAppAccount; got != want {
			t.Errorf("%v: got another account", environ)
		}
	}
}

// TestPrivacyProfile: the profile sets the defaults, which settings can make stricter. India's age cannot be lowered.
func TestPrivacyProfile(t *testing.T) {
	for _, tt := range []struct {
		settings  string
		below     int
		freshness time.Duration
	}{
		{"", 0, 0},
		{"PRIVACY_PROFILE=india", 18, 15 * time.Minute},
		{"PRIVACY_PROFILE=eu", 16, 15 * time.Minute},
		{"PRIVACY_PROFILE=us", 13, 0},
		{"PRIVACY_PROFILE=us REQUIRE_GUARDIAN_FOR_MINORS=on APPROVAL_FRESHNESS=5m", 18, 5 * time.Minute},
		{"PRIVACY_PROFILE=eu REQUIRE_GUARDIAN_FOR_MINORS=off APPROVAL_FRESHNESS=0", 16, 0},
	} {
		c := load(t, nil, env(strings.Fields(tt.settings)...))
		if c.GuardianBelow() != tt.below || c.ApprovalFreshness != tt.freshness {
			t.Errorf("%s: a guardian below %d, freshness %v", tt.settings, c.GuardianBelow(), c.ApprovalFreshness)
		}
	}
	for _, wrong := range []string{"PRIVACY_PROFILE=mars", "PRIVACY_PROFILE=india REQUIRE_GUARDIAN_FOR_MINORS=off", "APPROVAL_FRESHNESS=25h"} {
		if _, err := config.Load(nil, env(strings.Fields(wrong)...)); err == nil {
			t.Errorf("%s was taken", wrong)
		}
	}
}

// TestPrivacyTable: docs/privacy.md has the values of each profile.
func TestPrivacyTable(t *testing.T) {
	text, err := os.ReadFile("../../../docs/privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	days := func(d time.Duration) string { return fmt.Sprintf("%d days", d/(24*time.Hour)) }
	rows := []string{"| |", "| a guardian must agree below |", "| `APPROVAL_FRESHNESS` |", "| a deleted player |", "| a player without an answer |", "| notifications |", "| deliveries |"}
	for _, p := range config.PrivacyProfiles {
		age := "–"
		if p.GuardianBelow > 0 {
			age = fmt.Sprintf("%d years", p.GuardianBelow)
		}
		fresh := "off"
		if p.ApprovalFreshness > 0 {
			fresh = fmt.Sprintf("%d minutes", p.ApprovalFreshness/time.Minute)
		}
		for i, cell := range []string{"`" + p.Name + "`", age, fresh, days(p.RetainDeleted), days(p.RetainUnanswered), days(p.RetainNotifications), days(p.RetainDeliveries)} {
			rows[i] += " " + cell + " |"
		}
	}
	for _, row := range rows {
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/privacy.md has no row %q", row)
		}
	}
}
