package wire

import (
	"net/http"
	"strconv"
	"strings"
)

// Acceptable says whether the Accept header admits a media type. The most specific range
// that matches decides, and a weight of 0 excludes (RFC 9110, section 12.5.1).
// What cannot be read is passed over.
func Acceptable(h http.Header, mediaType string) bool {
	values := h.Values("Accept")
	if len(values) == 0 {
		return true
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	best, admitted, seen := 0, false, false
	for element := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameters, _ := strings.Cut(element, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "" {
			continue
		}
		seen = true
		exact := 0
		switch name {
		case mediaType:
			exact = 3
		case kind + "/*":
			exact = 2
		case "*/*", "*":
			exact = 1
		}
		if exact > best {
			best, admitted = exact, weight(parameters) > 0
		} else if exact == best && exact > 0 {
			admitted = admitted || weight(parameters) > 0
		}
	}
	return admitted || !seen
}

// TakesCoding says whether the Accept-Encoding header asks for a coding by its name
// (RFC 9110, section 12.5.3). Whoever does not name it gets the plain answer, which
// everybody takes.
func TakesCoding(h http.Header, coding string) bool {
	for element := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, parameters, _ := strings.Cut(element, ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			return weight(parameters) > 0
		}
	}
	return false
}

// weight returns the q among the parameters of a media range; 1 where there is none.
func weight(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			return q
		}
	}
	return 1
}
