package config

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/phone"
)

// derive sets the defaults that depend on other settings, and normalizes values that
// have several spellings.
func (c *Config) derive() {
	c.DefaultRegion = strings.ToUpper(c.DefaultRegion)
	for i, country := range c.Countries {
		c.Countries[i] = strings.ToUpper(country)
	}
	c.PublicURL = normalURL(c.PublicURL)
	c.SMS = SecretURL(strings.Join(splitSMS(c.SMS.Reveal()), ","))
	if !c.isSet("PUBLIC_URL") {
		c.PublicURL = c.publicURL(c.Addr)
	}
	if !c.isSet("DATABASE_URL") {
		c.DatabaseURL = c.defaultDatabase()
	}
	if !c.isSet("LOG_CHECKPOINT") && !c.isSet("DATABASE_URL") {
		c.LogCheckpoint = filepath.Join(c.DataDir, "log-checkpoint")
	}
	if !c.isSet("ERASURES") && !c.isSet("DATABASE_URL") {
		c.erasuresByDefault = filepath.Join(c.DataDir, "erasures")
		c.Erasures = c.erasuresByDefault
	}
	if !c.isSet("FILES") {
		c.Files = c.defaultFiles()
	}
	if !c.isSet("COUNTRIES") {
		c.Countries = []string{c.DefaultRegion}
		if c.SMS == smsLog {
			c.Countries = []string{"*"} // no SMS is sent
		}
	}
	if !c.isSet("ACCESS_LOG") {
		c.AccessLog = c.LogFormat == "json"
	}
	if !c.isSet("REFRESH_TOKEN_IDLE") {
		// A session cannot be idle longer than it lives.
		c.RefreshTokenIdle = min(c.RefreshTokenIdle, c.RefreshTokenLifetime)
	}
	c.derivePrivacy()
	c.SMSCurrency = RegionCurrency(c.DefaultRegion)
	if len(c.SMSPrices) > 0 && c.SMSPrices[0].Currency != "" {
		c.SMSCurrency = c.SMSPrices[0].Currency
	}
	if c.Development() {
		if !c.isSet("WHATSAPP") {
			c.WhatsApp = []string{whatsAppLog}
		}
		if !c.isSet("VOICE") {
			c.Voice = voiceLog
		}
	}
	for _, s := range table() {
		if c.offInDevelopment(s) {
			s.value(c).SetZero()
		}
	}
}

// offInDevelopment reports whether development mode turns the limit s off.
func (c *Config) offInDevelopment(s setting) bool {
	return s.offInDevelopment && !c.isSet(s.key) && c.Development()
}

// normalURL returns a PUBLIC_URL as browsers write its origin: scheme and host in lower case,
// without the default port and without a final slash. It returns an invalid one unchanged.
func normalURL(text string) string {
	text = strings.TrimSuffix(text, "/")
	u, err := url.Parse(text)
	if err != nil || checkServerURL(text) != "" {
		return text
	}
	return u.Scheme + "://" + strings.TrimSuffix(strings.ToLower(u.Host), ":"+defaultPorts[u.Scheme])
}

// WithListenAddr returns a copy of c whose PUBLIC_URL, unless it is set, has the port of
// addr, the address of the open listener. With port 0 in ADDR the system chooses the port.
func (c *Config) WithListenAddr(addr net.Addr) *Config {
	cfg := *c
	host, _, err := net.SplitHostPort(c.Addr)
	_, port, err2 := net.SplitHostPort(addr.String())
	if !c.isSet("PUBLIC_URL") && err == nil && err2 == nil {
		cfg.PublicURL = c.publicURL(net.JoinHostPort(host, port))
	}
	return &cfg
}

// HTTPSOnly reports whether clients must use https: PUBLIC_URL has it, and INSECURE_HTTP is off.
func (c *Config) HTTPSOnly() bool { return c.PublicHTTPS() && !c.InsecureHTTP }

// PublicHTTPS reports whether clients reach the service by https, of the service or of a proxy.
func (c *Config) PublicHTTPS() bool { return strings.HasPrefix(c.PublicURL, "https://") }

// PublicURLSet reports whether PUBLIC_URL is set. If not, it follows from ADDR and differs
// between replicas.
func (c *Config) PublicURLSet() bool { return c.isSet("PUBLIC_URL") }

// App returns the URL that opens the app, or "" if APP_URL is none.
func (c *Config) App() string {
	if c.AppURL == none {
		return ""
	}
	return c.AppURL
}

// NoticeFolder returns NOTICE, or "" for the built-in notice.
func (c *Config) NoticeFolder() string {
	if c.Notice == BuiltIn {
		return ""
	}
	return c.Notice
}

// TextsFolder returns TEXTS, or "" for the built-in texts.
func (c *Config) TextsFolder() string {
	if c.Texts == BuiltIn {
		return ""
	}
	return c.Texts
}

// OfferedLanguages returns LANGUAGES, or nil for all that are complete and checked.
func (c *Config) OfferedLanguages() []string {
	if len(c.Languages) == 1 && c.Languages[0] == "all" {
		return nil
	}
	return c.Languages
}

// Contact returns the address to which families write: the sender of MAIL, or "" without mail.
func (c *Config) Contact() string {
	from, err := mail.ParseAddress(c.MailServer().From)
	if err != nil {
		return ""
	}
	return from.Address
}

// AppHash returns ANDROID_APP_HASH, or "" without one.
func (c *Config) AppHash() string {
	if c.AndroidAppHash == none {
		return ""
	}
	return c.AndroidAppHash
}

// publicURL returns the URL of a listener on addr for a browser on this machine.
func (c *Config) publicURL(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "" // ADDR is invalid: Validate reports it
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	if domains := c.AutocertDomains(); len(domains) > 0 && checkDomain(domains[0]) == "" {
		return "https://" + domains[0] // ACME requires port 443
	}
	scheme := "http"
	if c.TLSOn() {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// Development reports whether the service listens on loopback only, prints SMS instead
// of sending them, and has no PUBLIC_URL. Limits on OTPs and messages are then off,
// unless they are set: no SMS is sent, and all requests come from one address.
func (c *Config) Development() bool {
	return IsLoopback(c.Addr) && c.SMS == smsLog && !c.isSet("PUBLIC_URL")
}

// DevelopmentPhones reports whether /dev/phones shows the messages: in development, unless one of them
// reaches a person by WhatsApp or by a call.
func (c *Config) DevelopmentPhones() bool {
	return c.Development() && (!c.HasWhatsApp() || c.WhatsAppLog()) && (!c.HasVoice() || c.VoiceLog())
}

// IsLoopback reports whether only this machine reaches a listener on addr, host:port.
func IsLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && isLoopback(host)
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() || err != nil && strings.EqualFold(host, "localhost")
}

// InFlightLimit returns MAX_IN_FLIGHT, or 0 if it is adaptive.
func (c *Config) InFlightLimit() int {
	n, _ := strconv.Atoi(c.MaxInFlight) // "adaptive" is not a number
	return n
}

// CountryAllowed reports whether COUNTRIES allows an SMS to a number of region, as
// phone.Number.Region returns it. A number without a country requires *.
func (c *Config) CountryAllowed(region string) bool {
	return slices.Contains(c.Countries, "*") || slices.Contains(c.Countries, region)
}

// SMSAllowed reports whether COUNTRIES allows an SMS to n. It skips the lookup of the
// country if all are allowed.
func (c *Config) SMSAllowed(n phone.Number) bool {
	return slices.Contains(c.Countries, "*") || c.CountryAllowed(n.Region())
}

func (c *Config) defaultDatabase() SecretURL {
	return SecretURL("sqlite:" + filepath.Join(c.DataDir, "touchline.db"))
}

// ErasuresFile returns the file ERASURES, or "". A service with another database may have no DATA_DIR.
func (c *Config) ErasuresFile() string {
	if c.Erasures == c.erasuresByDefault && !c.isSet("ERASURES") && c.DatabaseURL != c.defaultDatabase() {
		return ""
	}
	return c.Erasures
}

// inMemory is the DATA_DIR of a service whose data ends with it.
const inMemory = ":memory:"

// InMemory reports whether the data of the service ends with it.
func (c *Config) InMemory() bool { return c.DataDir == inMemory }

// WithDataDir returns a copy of c with another DATA_DIR.
func (c *Config) WithDataDir(dir string) *Config {
	cfg := *c
	cfg.DataDir = dir
	cfg.derive()
	return &cfg
}

// CreateDataDir creates DATA_DIR, accessible only by its owner, unless DATABASE_URL is set: then
// the database is elsewhere.
func (c *Config) CreateDataDir() error {
	if c.isSet("DATABASE_URL") {
		return nil
	}
	if c.InMemory() {
		return errors.New("DATA_DIR=" + inMemory + " is for serve alone: other commands need the folder that it prints")
	}
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return fmt.Errorf("create DATA_DIR: %w", err)
	}
	return nil
}

// TestCode returns the fixed OTP of a test number. It returns false for other numbers,
// and after the last day.
func (c *Config) TestCode(n phone.Number, now time.Time) (Secret, bool) {
	for _, t := range c.TestNumbers {
		if t.Number == n && now.Before(t.Until) {
			return t.Code, true
		}
	}
	return "", false
}
