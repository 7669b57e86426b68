package config

import (
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/witness"
)

// format returns a value as an operator would write it, without its secrets.
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
	case []SMSPrice:
		return formatList(v)
	case []SMSTemplate:
		return formatList(v)
	case []PasskeyApp:
		return formatList(v)
	case []TestNumber:
		return formatList(v)
	case []witness.Witness:
		return formatList(v)
	default:
		return fmt.Sprint(v)
	}
}

// formatDuration returns d.String() without zeros at the end: 1h instead of 1h0m0s.
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

// String returns the entry as an operator would write it, with the number and the OTP
// masked.
func (t TestNumber) String() string {
	return fmt.Sprintf("%s=%s@%s", t.Number.Mask(), t.Code, t.Until.AddDate(0, 0, -1).Format(time.DateOnly))
}

// Format writes String for every verb, so that no verb shows the OTP.
func (t TestNumber) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// MarshalText keeps the number and the OTP out of JSON.
func (t TestNumber) MarshalText() ([]byte, error) { return []byte(t.String()), nil }
