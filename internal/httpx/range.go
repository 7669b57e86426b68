package httpx

import (
	"net/http"
	"strings"
)

// maxPosition is beyond the end of every file.
const maxPosition = "999999999999999999"

// singleRange returns the Range of a request in a form that http.ServeContent reads
// correctly, or "" to send the whole file. RFC 9110, section 14.2, requires a server
// to ignore an unknown unit and lets it ignore a malformed header and several ranges.
// Several ranges would cost one read of the file store each.
func singleRange(h http.Header) string {
	values := h.Values("Range")
	if len(values) != 1 {
		return ""
	}
	unit, bounds, _ := strings.Cut(values[0], "=")
	first, last, dash := strings.Cut(strings.Trim(bounds, " \t"), "-")
	if !strings.EqualFold(unit, "bytes") || !dash || first+last == "" || !isDigits(first+last) {
		return ""
	}
	first, last = normalize(first), normalize(last)
	switch {
	case first != "" && last != "" && less(last, first):
		return ""
	case first == "" && last == "0":
		first, last = maxPosition, "" // the last 0 bytes: not satisfiable, so 416
	}
	return "bytes=" + first + "-" + last
}

// normalize removes leading zeros and limits the number to maxPosition, which fits
// an int64.
func normalize(digits string) string {
	if digits == "" {
		return ""
	}
	digits = strings.TrimLeft(digits[:len(digits)-1], "0") + digits[len(digits)-1:]
	if len(digits) > len(maxPosition) {
		return maxPosition
	}
	return digits
}

// less reports whether the normalized number a is smaller than b.
func less(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

func isDigits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}
