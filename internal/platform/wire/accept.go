package wire

import (
	"net/http"
	"strconv"
	"strings"
)

// Acceptable reports whether the Accept header admits mediaType (RFC 9110, section
// 12.5.1). The most specific range decides, and q=0 excludes. Invalid elements are
// ignored.
func Acceptable(h http.Header, mediaType string) bool { return acceptQuality(h, mediaType) > 0 }

// Preferred returns the media type that the Accept header prefers: the first of those with
// the highest quality.
func Preferred(h http.Header, mediaTypes ...string) string {
	best := mediaTypes[0]
	for _, mediaType := range mediaTypes[1:] {
		if acceptQuality(h, mediaType) > acceptQuality(h, best) {
			best = mediaType
		}
	}
	return best
}

// acceptQuality returns the quality of mediaType in the Accept header: 1 without a header.
func acceptQuality(h http.Header, mediaType string) float64 {
	values := h.Values("Accept")
	if len(values) == 0 {
		return 1
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	best, admitted, present := 0, 0.0, false
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
			best, admitted = specificity, quality(parameters)
		} else if specificity == best && specificity > 0 {
			admitted = max(admitted, quality(parameters))
		}
	}
	if !present {
		return 1
	}
	return admitted
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
