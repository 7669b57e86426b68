package config

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
)

// masked stands where a secret would.
const masked = "••••••"

// Secret is a value that no printing shows, whatever the verb: only Reveal does.
type Secret string

// Reveal returns the value itself, for the one place that needs it.
func (s Secret) Reveal() string { return string(s) }

// String returns dots, or nothing for the empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return masked
}

// Format writes dots for every verb, %#v and %x among them.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText keeps the value out of JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue keeps the value out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// SecretURL is an address that may hold a password or a key. Printing shows what
// tells one address from another and hides the rest; Reveal returns all of it.
type SecretURL string

// Reveal returns the address itself.
func (s SecretURL) Reveal() string { return string(s) }

// String returns the address less what may be secret. Of postgres://… it shows
// user, host and database; of http:<url> scheme and host, as gateways take keys in
// path and query alike; of s3://… bucket, path and endpoint. What is no address at all is hidden whole.
func (s SecretURL) String() string {
	scheme, rest, found := strings.Cut(string(s), ":")
	switch {
	case s == "" || s == "log":
		return string(s)
	case !found:
		return masked
	case scheme == "file":
		return string(s)
	case scheme == "sqlite":
		path, _, hasQuery := strings.Cut(rest, "?")
		if hasQuery {
			return "sqlite:" + path + "?" + masked
		}
		return string(s)
	case scheme == "http":
		u, err := url.Parse(rest)
		if err != nil || u.Host == "" {
			return "http:" + masked
		}
		shown := "http:" + u.Scheme + "://" + u.Host
		if u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
			shown += "/" + masked
		}
		return shown
	case scheme == "s3":
		u, err := url.Parse(string(s))
		if err != nil {
			return "s3:" + masked
		}
		shown := "s3://"
		if u.User != nil {
			shown += masked + "@"
		}
		shown += u.Host + u.Path
		if endpoint := u.Query().Get("endpoint"); endpoint != "" {
			if e, err := url.Parse(endpoint); err == nil && e.Host != "" {
				shown += "?endpoint=" + e.Scheme + "://" + e.Host
			}
		}
		return shown
	case scheme == "postgres" || scheme == "postgresql":
		u, err := url.Parse(string(s))
		if err != nil {
			return scheme + ":" + masked
		}
		shown := scheme + "://"
		if u.User != nil {
			shown += url.User(u.User.Username()).String()
			if _, has := u.User.Password(); has {
				shown += ":" + masked
			}
			shown += "@"
		}
		shown += u.Host + u.Path
		if u.RawQuery != "" {
			shown += "?" + masked
		}
		return shown
	default:
		return masked
	}
}

// Format writes String for every verb.
func (s SecretURL) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText keeps what is secret out of JSON.
func (s SecretURL) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue keeps what is secret out of logs.
func (s SecretURL) LogValue() slog.Value { return slog.StringValue(s.String()) }
