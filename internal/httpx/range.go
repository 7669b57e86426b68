package httpx

import (
	"net/http"
	"strings"
)

// beyond is a position that no file has.
const beyond = "999999999999999999"

// oneRange returns the Range of a request as http.ServeContent reads it rightly;
// "" is to answer the whole file. RFC 9110, section 14.2, wants a unit that is
// not known to be ignored, and lets a server ignore what is malformed and several
// ranges at once, which would make one read of the file store each.
func oneRange(h http.Header) string {
	sent := h.Values("Range")
	if len(sent) != 1 {
		return ""
	}
	unit, set, _ := strings.Cut(sent[0], "=")
	first, last, dash := strings.Cut(strings.Trim(set, " \t"), "-")
	if !strings.EqualFold(unit, "bytes") || !dash || first+last == "" || !isDigits(first+last) {
		return ""
	}
	first, last = position(first), position(last)
	switch {
	case first != "" && last != "" && before(last, first):
		return ""
	case first == "" && last == "0":
		first, last = beyond, "" // the last 0 bytes are no range of any file
	}
	return "bytes=" + first + "-" + last
}

// position writes a number without leading zeros, and one that is too large for
// any file as one that can be read.
func position(digits string) string {
	if digits == "" {
		return ""
	}
	digits = strings.TrimLeft(digits[:len(digits)-1], "0") + digits[len(digits)-1:]
	if len(digits) > len(beyond) {
		return beyond
	}
	return digits
}

// before says whether the number a is smaller than b; both are positions.
func before(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

func isDigits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}
