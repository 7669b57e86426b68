package config

import (
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"time"
)

// format writes a value as it would be set, less what is secret.
func format(value any) string {
	switch v := value.(type) {
	case bool:
		if v {
			return "on"
		}
		return "off"
	case time.Duration:
		return formatDuration(v)
	case slog.Level:
		return strings.ToLower(v.String())
	case []string:
		return formatList(v)
	case []netip.Prefix:
		return formatList(v)
	case []TestNumber:
		return formatList(v)
	default:
		return fmt.Sprint(v)
	}
}

// formatDuration is Go's way of writing d without the zeros at the end.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func formatList[T any](list []T) string {
	if len(list) == 0 {
		return none
	}
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fmt.Sprint(v)
	}
	return strings.Join(parts, ",")
}

// String writes the entry as it would be set, without the code and most of the
// number.
func (t TestNumber) String() string {
	return fmt.Sprintf("%s=%s@%s", t.Number.Mask(), t.Code, t.Until.AddDate(0, 0, -1).Format(time.DateOnly))
}

// Format writes String for every verb.
func (t TestNumber) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// MarshalText keeps number and code out of JSON.
func (t TestNumber) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
