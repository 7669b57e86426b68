package config

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
)

// SecretURL is a URL that may hold a password or a key, or several URLs separated by
// commas. Printing, JSON and logs show the host and mask the secret parts; Reveal returns
// the whole text.
type SecretURL string

// Reveal returns the URL with its secrets.
func (s SecretURL) Reveal() string { return string(s) }

// String returns the URL without its secrets. It masks URLs of unknown schemes entirely.
func (s SecretURL) String() string {
	if first, others, found := strings.Cut(string(s), ","); found && isProvider(first) {
		return SecretURL(first).String() + "," + SecretURL(others).String()
	}
	scheme, rest, found := strings.Cut(string(s), ":")
	switch {
	case s == "" || s == off || s == smsLog || s == voiceTwilio:
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
	case isProvider(string(s)):
		return maskGateway(scheme, rest)
	case scheme == "s3":
		return maskBucket(string(s))
	case scheme == "postgres" || scheme == "postgresql" || scheme == "smtp" || scheme == "smtps":
		return maskPassword(scheme, string(s))
	default:
		return masked
	}
}

func isProvider(text string) bool {
	kind, _, _ := strings.Cut(text, ":")
	_, known := smsForms[kind]
	return known
}

// maskGateway returns only scheme and host of a provider's URL, because SMS gateways accept keys in
// the path and in the query.
func maskGateway(scheme, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return scheme + ":" + masked
	}
	shown := scheme + ":" + u.Scheme + "://" + u.Host
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		shown += "/" + masked
	}
	return shown
}

// maskBucket returns bucket, path and endpoint of s3://….
func maskBucket(address string) string {
	u, err := url.Parse(address)
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
}

// maskPassword returns user, host and path of postgres://… and smtp://….
func maskPassword(scheme, address string) string {
	u, err := url.Parse(address)
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
}

// Format writes String for every verb.
func (s SecretURL) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText keeps the secrets out of JSON.
func (s SecretURL) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue keeps the secrets out of logs.
func (s SecretURL) LogValue() slog.Value { return slog.StringValue(s.String()) }
