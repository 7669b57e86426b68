package wire

import (
	"net/http"
	"strconv"
	"strings"
)

// Acceptable reports whether the Accept header admits mediaType (RFC 9110, section
// 12.5.1). The most specific range decides, and q=0 excludes. Invalid elements are
// ignored.
func Acceptable(h http.Header, mediaType string) bool {
	values := h.Values("Accept")
	if len(values) == 0 {
		return true
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	best, admitted, present := 0, false, false
	for element := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameters, _ := strings.Cut(element, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "" {
			continue
		}
		present = true
		specificity := 0
		switch name {
		case mediaType:
			specificity = 3
		case kind + "/*":
			specificity = 2
		case "*/*", "*":
			specificity = 1
		}
		if specificity > best {
			best, admitted = specificity, quality(parameters) > 0
		} else if specificity == best && specificity > 0 {
			admitted = admitted || quality(parameters) > 0
		}
	}
	return admitted || !present
}

// AcceptsEncoding reports whether the Accept-Encoding header names coding with q
// above 0 (RFC 9110, section 12.5.3). It ignores "*": a client that does not name
// the coding gets the plain response.
func AcceptsEncoding(h http.Header, coding string) bool {
	for element := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, parameters, _ := strings.Cut(element, ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			return quality(parameters) > 0
		}
	}
	return false
}

// quality returns the q parameter, or 1 if it is absent or invalid.
func quality(parameters string) float64 {
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
