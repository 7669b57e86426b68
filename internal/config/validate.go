package config

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/phone"
)

// Validate reports every fault of c as Faults, or nil. Load has done so already;
// it is for a Config that was changed since.
func (c *Config) Validate() error {
	if faults := c.faults(nil); len(faults) > 0 {
		return faults
	}
	return nil
}

// checks are the rules that tags cannot say, by the setting they are about. Each
// returns what is wrong, or nothing.
var checks = map[string]func(*Config) []string{
	"ADDR":               func(c *Config) []string { return one(checkAddr(c.Addr)) },
	"PUBLIC_URL":         func(c *Config) []string { return one(checkPublicURL(c.PublicURL)) },
	"DATA_DIR":           func(c *Config) []string { return one(checkPath(c.DataDir)) },
	masterKey:            func(c *Config) []string { return one(checkMasterKey(c.MasterKeyBase64)) },
	"DATABASE_URL":       func(c *Config) []string { return one(checkDatabaseURL(c.DatabaseURL.Reveal())) },
	"ADMIN_ADDR":         (*Config).checkAdminAddr,
	"FILES":              func(c *Config) []string { return one(checkFiles(c.Files.Reveal())) },
	"TLS_CERT":           (*Config).checkTLSCert,
	"TLS_KEY":            (*Config).checkTLSKey,
	"CLAMAV":             func(c *Config) []string { return one(checkClamAV(c.ClamAV)) },
	"TIERS":              func(c *Config) []string { return one(checkTiers(c.Tiers)) },
	"SMS":                func(c *Config) []string { return one(checkSMS(c.SMS.Reveal())) },
	"DEFAULT_REGION":     (*Config).checkDefaultRegion,
	"COUNTRIES":          (*Config).checkCountries,
	"TEST_NUMBERS":       (*Config).checkTestNumbers,
	"REFRESH_TOKEN_IDLE": (*Config).checkIdle,
	"PROFILE_REQUIRED":   (*Config).checkProfile,
}

// faults judges every setting but those that could not be read.
func (c *Config) faults(unread map[string]bool) Faults {
	var faults Faults
	for _, s := range table() {
		if unread[s.key] || !c.isSet(s.key) && c.follows(s.key, unread) {
			continue
		}
		problems := one(s.check(c))
		if check := checks[s.key]; check != nil {
			problems = append(problems, check(c)...)
		}
		for _, problem := range problems {
			faults = append(faults, Fault{Name: s.Name, Value: format(s.value(c).Interface()), Problem: problem})
		}
	}
	return faults
}

// follows says whether the setting was derived from one that is at fault itself,
// so that one mistake is not reported twice.
func (c *Config) follows(key string, unread map[string]bool) bool {
	switch key {
	case "PUBLIC_URL":
		return checkAddr(c.Addr) != ""
	case "DATABASE_URL", "FILES":
		return checkPath(c.DataDir) != ""
	case "COUNTRIES":
		return !phone.KnownRegion(c.DefaultRegion)
	case "REFRESH_TOKEN_IDLE":
		s, _ := find("REFRESH_TOKEN_LIFETIME")
		return unread[s.key] || s.check(c) != ""
	default:
		return false
	}
}

// one is the list of at most one problem.
func one(problem string) []string {
	if problem == "" {
		return nil
	}
	return []string{problem}
}

// check holds the setting to its tags.
func (s setting) check(c *Config) string {
	switch v := s.value(c).Interface().(type) {
	case int:
		least, _ := strconv.Atoi(s.min)
		most, _ := strconv.Atoi(s.max)
		if v < least || v > most {
			return "must be " + s.Limits
		}
	case time.Duration:
		least, _ := time.ParseDuration(s.min)
		most, _ := time.ParseDuration(s.max)
		if v < least || v > most {
			return "must be " + s.Limits
		}
	case string:
		switch {
		case s.NotBuilt && v != "" && v != s.later:
			accepted := "leave it unset"
			if s.later != "" {
				accepted += " or say " + s.later
			}
			return "is not built yet: this release does not have it; " + accepted
		case s.oneof != nil && !slices.Contains(s.oneof, v):
			return "must be one of " + s.Limits
		}
	}
	return ""
}

func checkAddr(addr string) string {
	const accepted = "must be host:port, such as 127.0.0.1:8080 or :8080"
	host, port, err := net.SplitHostPort(addr)
	if err != nil || strings.ContainsAny(host, " /@?#") {
		return accepted
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return accepted + ", the port from 0 to 65535"
	}
	return ""
}

func checkPublicURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#") {
		return "must be an http or https address without path or query, such as https://touchline.example"
	}
	return ""
}

func checkPath(path string) string {
	if path == "" || strings.ContainsRune(path, 0) {
		return "must be a path"
	}
	return ""
}

func checkMasterKey(key Secret) string {
	if key == "" {
		return ""
	}
	if _, err := decodeKey(key.Reveal()); err != nil {
		return err.Error()
	}
	return ""
}

func checkDatabaseURL(text string) string {
	const accepted = "must be sqlite:<path> or postgres://user:password@host/database"
	scheme, rest, _ := strings.Cut(text, ":")
	switch scheme {
	case "sqlite":
		switch {
		case rest == "" || strings.ContainsRune(rest, 0):
			return accepted
		case strings.ContainsAny(rest, "?#"):
			return "a path to a SQLite file has no ? and no #; the service sets SQLite's options itself"
		case rest == ":memory:":
			return "must be a file: the connections of a pool do not share a database in memory"
		}
		return ""
	case "postgres", "postgresql":
		u, err := url.Parse(text)
		if err != nil || u.Host == "" && u.Query().Get("host") == "" {
			return accepted
		}
		return ""
	default:
		return accepted
	}
}

func checkSMS(text string) string {
	const known = "this release knows log and http:<url>"
	kind, rest, _ := strings.Cut(text, ":")
	switch {
	case text == "log":
		return ""
	case kind == "http" || kind == "https":
		u, err := url.Parse(rest)
		if kind == "https" || err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			return "after http: comes the whole address, as in http:https://gateway.example/send"
		}
		return ""
	case isName(kind):
		return fmt.Sprintf("the provider %s is not built yet; %s", kind, known)
	default:
		return "this provider is not built yet; " + known
	}
}

// isName says whether s can be repeated as a provider's name: a key that was set
// by mistake is hardly a short word.
func isName(s string) bool {
	return s != "" && len(s) <= 16 && !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
}

func (c *Config) checkDefaultRegion() []string {
	if !phone.KnownRegion(c.DefaultRegion) {
		return []string{"must be an ISO 3166 country of two letters, such as IN"}
	}
	return nil
}

func (c *Config) checkCountries() []string {
	if len(c.Countries) == 0 {
		return []string{"must name a country; * is all"}
	}
	if len(c.Countries) > 1 && slices.Contains(c.Countries, "*") {
		return []string{"must be * alone or countries alone"}
	}
	var problems []string
	for _, country := range c.Countries {
		if country != "*" && !phone.KnownRegion(country) {
			problems = append(problems, fmt.Sprintf("%q is no ISO 3166 country of two letters", country))
		}
	}
	return problems
}

func (c *Config) checkTestNumbers() []string {
	var problems []string
	for i, t := range c.TestNumbers {
		code := t.Code.Reveal()
		if len(code) != c.OTPLength || strings.ContainsFunc(code, func(r rune) bool { return r < '0' || r > '9' }) {
			problems = append(problems, fmt.Sprintf("entry %d: the code must have %d digits, as OTP_LENGTH says", i+1, c.OTPLength))
		}
	}
	return problems
}

func (c *Config) checkIdle() []string {
	if c.RefreshTokenIdle > c.RefreshTokenLifetime {
		return []string{"must not be longer than REFRESH_TOKEN_LIFETIME, " + formatDuration(c.RefreshTokenLifetime)}
	}
	return nil
}

func (c *Config) checkProfile() []string {
	known := []string{"name", "bio", "experience_years", "sports", "email", "certifications", "profile_picture"}
	var problems []string
	for _, field := range c.ProfileRequired {
		if !slices.Contains(known, field) {
			problems = append(problems, fmt.Sprintf("%q is not one of %s", field, strings.Join(known, ", ")))
		}
	}
	return problems
}

// decodeKey reads 32 bytes in base64, of either alphabet, padded or not.
func decodeKey(text string) ([]byte, error) {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	text = strings.NewReplacer("-", "+", "_", "/").Replace(text)
	key, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("must be %d bytes in base64; openssl rand -base64 %d makes them", keySize, keySize)
	}
	return key, nil
}
