package wire

import "strings"

// ETagMatches reports whether an If-None-Match header names etag, by weak comparison (RFC
// 9110, section 13.1.2).
func ETagMatches(header, etag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}
