package httpx

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

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
	from, to := position(first), position(last)
	switch {
	case first == "" && to == 0: // the last 0 bytes: not satisfiable, so 416
		return fmt.Sprintf("bytes=%d-", math.MaxInt64)
	case first == "":
		return fmt.Sprintf("bytes=-%d", to)
	case last == "":
		return fmt.Sprintf("bytes=%d-", from)
	case to < from:
		return ""
	}
	return fmt.Sprintf("bytes=%d-%d", from, to)
}

// position returns the number in digits, or math.MaxInt64 if it is larger.
func position(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

func isDigits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}
