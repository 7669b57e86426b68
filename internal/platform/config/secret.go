package config

import (
	"fmt"
	"io"
	"log/slog"
)

// masked replaces a secret in output.
const masked = "••••••"

// Secret is a value that only Reveal returns; printing, JSON and logs mask it.
type Secret string

// Reveal returns the secret.
func (s Secret) Reveal() string { return string(s) }

// String returns dots, or "" for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return masked
}

// Format writes String for every verb, including %#v and %x.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText keeps the value out of JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue keeps the value out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
