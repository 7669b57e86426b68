package config

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/phone"
)

// checks are the rules that tags cannot express, by setting. Each returns messages.
var checks = map[string]func(*Config) []string{
	"ADDR":                        func(c *Config) []string { return optional(checkAddr(c.Addr)) },
	"PUBLIC_URL":                  (*Config).checkPublicURL,
	"BRAND":                       func(c *Config) []string { return optional(checkBrand(c.Brand)) },
	"APP_URL":                     func(c *Config) []string { return optional(checkAppURL(c.AppURL)) },
	"ANDROID_APP_HASH":            func(c *Config) []string { return optional(checkAppHash(c.AndroidAppHash)) },
	"CORS_ORIGINS":                (*Config).checkCORSOrigins,
	"DATA_DIR":                    (*Config).checkDataDir,
	masterKey:                     func(c *Config) []string { return optional(checkMasterKey(c.MasterKeyBase64)) },
	newMasterKey:                  func(c *Config) []string { return optional(checkMasterKey(c.NewMasterKeyBase64)) },
	"DATABASE_URL":                (*Config).checkDatabase,
	"ADMIN_ADDR":                  (*Config).checkAdminAddr,
	"FILES":                       func(c *Config) []string { return optional(checkFiles(c.Files.Reveal())) },
	"TLS_CERT":                    (*Config).checkTLSCert,
	"TLS_KEY":                     (*Config).checkTLSKey,
	"TLS_AUTOCERT_DOMAINS":        (*Config).checkAutocert,
	"CLAMAV":                      func(c *Config) []string { return optional(checkClamAV(c.ClamAV)) },
	"TIERS":                       func(c *Config) []string { return optional(checkTiers(c.Tiers)) },
	"IDENTITY_PROVIDERS":          (*Config).checkProviders,
	"NAMES_REFUSED":               func(c *Config) []string { return optional(checkTiers(c.NamesRefused)) },
	"SMS":                         (*Config).checkSMS,
	"MSG91_TEMPLATES":             (*Config).checkTemplates,
	"WHATSAPP":                    (*Config).checkWhatsApp,
	"WHATSAPP_ACCOUNT":            (*Config).checkWhatsAppAccount,
	"VOICE":                       func(c *Config) []string { return optional(c.checkVoice()) },
	"MAIL":                        (*Config).checkMail,
	"FCM_SERVICE_ACCOUNT":         (*Config).checkServiceAccount,
	"SMS_PRICES":                  (*Config).checkPrices,
	"SMS_BUDGET":                  (*Config).checkBudget,
	"DEFAULT_REGION":              (*Config).checkDefaultRegion,
	"MOBILE_RANGES":               (*Config).checkMobileRanges,
	"COUNTRIES":                   (*Config).checkCountries,
	"TEST_NUMBERS":                (*Config).checkTestNumbers,
	"REFRESH_TOKEN_IDLE":          (*Config).checkIdle,
	"PROFILE_REQUIRED":            (*Config).checkProfile,
	"REQUIRE_GUARDIAN_FOR_MINORS": (*Config).checkGuardians,
	"MAX_IN_FLIGHT":               func(c *Config) []string { return optional(checkInFlight(c.MaxInFlight)) },
}

// validate checks every setting except those that could not be parsed.
func (c *Config) validate(unparsed map[string]bool) Errors {
	var errs Errors
	for _, s := range table() {
		if unparsed[s.key] || !c.isSet(s.key) && c.dependsOnInvalid(s.key, unparsed) {
			continue
		}
		messages := optional(s.check(c))
		if check := checks[s.key]; check != nil {
			messages = append(messages, check(c)...)
		}
		for _, message := range messages {
			errs = append(errs, Error{Name: s.Name, Value: format(s.value(c).Interface()), Message: message})
		}
	}
	return errs
}

// dependsOnInvalid reports whether the setting is derived from an invalid one. Its own
// error would report one mistake twice.
func (c *Config) dependsOnInvalid(key string, unparsed map[string]bool) bool {
	switch key {
	case "PUBLIC_URL":
		return checkAddr(c.Addr) != ""
	case "DATABASE_URL", "FILES":
		return checkPath(c.DataDir) != ""
	case "COUNTRIES":
		return !phone.KnownRegion(c.DefaultRegion)
	case "REFRESH_TOKEN_IDLE":
		s, _ := find("REFRESH_TOKEN_LIFETIME")
		return unparsed[s.key] || s.check(c) != ""
	default:
		return false
	}
}

// optional returns a list of message, empty if message is "".
func optional(message string) []string {
	if message == "" {
		return nil
	}
	return []string{message}
}

// check checks the value of the setting against its tags. It returns a message or "".
func (s setting) check(c *Config) string {
	switch v := s.value(c).Interface().(type) {
	case int:
		lowest, _ := strconv.Atoi(s.min)
		highest, _ := strconv.Atoi(s.max)
		if v < lowest || v > highest {
			return "must be " + s.Limits
		}
	case time.Duration:
		lowest, _ := time.ParseDuration(s.min)
		highest, _ := time.ParseDuration(s.max)
		if v < lowest || v > highest {
			return "must be " + s.Limits
		}
	case string:
		if s.oneof != nil && !slices.Contains(s.oneof, v) {
			return "must be one of " + s.Limits
		}
	}
	return ""
}

// adaptive is the MAX_IN_FLIGHT that follows the time that requests take.
const adaptive = "adaptive"

func checkInFlight(text string) string {
	if n, err := strconv.Atoi(text); text != adaptive && (err != nil || n < 1 || n > 1_000_000) {
		return "must be adaptive, or a number from 1 to 1000000"
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

// checkPublicURL refuses http on another host than loopback, also if PUBLIC_URL follows from ADDR.
func (c *Config) checkPublicURL() []string {
	if message := checkServerURL(c.PublicURL); message != "" {
		return []string{message}
	}
	if u, err := url.Parse(c.PublicURL); err == nil && u.Scheme == "http" && !isLoopback(u.Hostname()) && !c.InsecureHTTP {
		return []string{fmt.Sprintf("must be the https URL at which clients reach the service: others can read tokens and OTPs that are sent over http to %s; for a test set %sINSECURE_HTTP=on", u.Hostname(), prefix)}
	}
	return nil
}

// checkServerURL checks that text is the URL of a server and no more.
func checkServerURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#") || !hasValidPort(u) {
		return "must be an http or https URL without path or query, such as https://touchline.example"
	}
	return ""
}

// hasValidPort reports whether the URL has no port, or one up to 65535.
func hasValidPort(u *url.URL) bool {
	_, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Port() == "" || err == nil
}

// maxBrand is the length of the longest brand, so that an OTP fits into one SMS.
const maxBrand = 30

func checkBrand(brand string) string {
	visible := strings.ContainsFunc(brand, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	if !visible || utf8.RuneCountInString(brand) > maxBrand || strings.ContainsFunc(brand, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Sprintf("must be a name of 1 to %d characters without control characters", maxBrand)
	}
	return ""
}

func checkAppURL(text string) string {
	u, err := url.Parse(text)
	if text != none && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil) {
		return "must be none, or an http or https URL such as https://app.example/open"
	}
	return ""
}

func checkAppHash(hash string) string {
	if _, err := base64.RawStdEncoding.DecodeString(hash); hash != none && (err != nil || len(hash) != 11) {
		return "must be none, or 11 characters such as FA+9qCX9VSu"
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

// checkDataDir refuses a folder in which the SQLite file of the default DATABASE_URL cannot be.
func (c *Config) checkDataDir() []string {
	if !c.isSet("DATABASE_URL") && strings.ContainsAny(c.DataDir, "?#") {
		return []string{"a folder with the SQLite file has no ? and no # in its path; choose another one, or set DATABASE_URL"}
	}
	return optional(checkPath(c.DataDir))
}

// checkDatabase leaves the default, which follows from DATA_DIR, to checkDataDir.
func (c *Config) checkDatabase() []string {
	if !c.isSet("DATABASE_URL") {
		return nil
	}
	return optional(checkDatabaseURL(c.DatabaseURL.Reveal()))
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
		for _, one := range eachHost(text) {
			if u, err := url.Parse(one); err != nil || u.Host == "" && u.Query().Get("host") == "" {
				return accepted
			}
		}
		return ""
	default:
		return accepted
	}
}

// eachHost returns the URL with each of its hosts alone. url.Parse accepts several hosts only if
// they look like one with a port.
func eachHost(address string) []string {
	scheme, rest, _ := strings.Cut(address, "//")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	start := strings.LastIndexByte(rest[:end], '@') + 1
	var each []string
	for host := range strings.SplitSeq(rest[start:end], ",") {
		each = append(each, scheme+"//"+rest[:start]+host+rest[end:])
	}
	return each
}

func (c *Config) checkDefaultRegion() []string {
	if !phone.KnownRegion(c.DefaultRegion) {
		return []string{"must be an ISO 3166 country of two letters, such as IN"}
	}
	return nil
}

func (c *Config) checkMobileRanges() []string {
	var messages []string
	for _, start := range c.MobileRanges {
		if !phone.KnownRange(start) {
			messages = append(messages, fmt.Sprintf("%q must be written with its country code and the first digits, as in +9155", start))
		}
	}
	return messages
}

func (c *Config) checkCountries() []string {
	if len(c.Countries) == 0 {
		return []string{"must name a country; * allows all"}
	}
	if len(c.Countries) > 1 && slices.Contains(c.Countries, "*") {
		return []string{"must be * alone, or countries without *"}
	}
	var messages []string
	for _, country := range c.Countries {
		if country != "*" && !phone.KnownRegion(country) {
			messages = append(messages, fmt.Sprintf("%q is not an ISO 3166 country of two letters", country))
		}
	}
	return messages
}

func (c *Config) checkTestNumbers() []string {
	var messages []string
	for i, t := range c.TestNumbers {
		code := t.Code.Reveal()
		if len(code) != c.OTPLength || strings.ContainsFunc(code, func(r rune) bool { return r < '0' || r > '9' }) {
			messages = append(messages, fmt.Sprintf("entry %d: the code must have %d digits, as OTP_LENGTH says", i+1, c.OTPLength))
		}
	}
	return messages
}

func (c *Config) checkIdle() []string {
	if c.RefreshTokenIdle > c.RefreshTokenLifetime {
		return []string{"must not be longer than REFRESH_TOKEN_LIFETIME, " + formatDuration(c.RefreshTokenLifetime)}
	}
	return nil
}

func (c *Config) checkProfile() []string {
	known := []string{"name", "bio", "experience_years", "sports", "email", "certifications", "profile_picture"}
	var messages []string
	for _, field := range c.ProfileRequired {
		if !slices.Contains(known, field) {
			messages = append(messages, fmt.Sprintf("%q is not one of %s", field, strings.Join(known, ", ")))
		}
	}
	return messages
}

// decodeKey decodes 32 bytes in base64, of either alphabet, with or without padding.
func decodeKey(text string) ([]byte, error) {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	text = strings.NewReplacer("-", "+", "_", "/").Replace(text)
	key, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("must be %d bytes in base64; create them with openssl rand -base64 %d", keySize, keySize)
	}
	if bytes.Equal(key, make([]byte, keySize)) {
		return nil, fmt.Errorf("must not be all zeros; create a key with openssl rand -base64 %d", keySize)
	}
	return key, nil
}
