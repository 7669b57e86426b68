package api

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/fault"
)

// media is what a call answers when all is well.
type media int

const (
	mediaJSON media = iota
	mediaEvents
	// mediaAny asks nothing of Accept: a page, a key set.
	mediaAny
)

func (m media) String() string {
	if m == mediaEvents {
		return "text/event-stream"
	}
	return "application/json"
}

// acceptable says whether the Accept header admits m. The most specific range
// that matches decides, and a weight of 0 excludes (RFC 9110, section 12.5.1).
// What cannot be read is passed over.
func acceptable(h http.Header, m media) bool {
	values := h.Values("Accept")
	if m == mediaAny || len(values) == 0 {
		return true
	}
	kind, _, _ := strings.Cut(m.String(), "/")
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
		case m.String():
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

func errNotAcceptable(m media) error {
	return fault.New(fault.NotAcceptable, "not_acceptable", "This call answers %s, which the Accept header does not admit.", m)
}

// readable says whether the Content-Type is one that a body of kind b may have.
func readable(h http.Header, b bodyKind) bool {
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return false
	}
	name, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || len(h.Values("Content-Type")) != 1 {
		return false
	}
	if charset, ok := parameters["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return false
	}
	return name == "application/json" || b == bodyPatch && name == "application/merge-patch+json"
}

func errMedia(b bodyKind) error {
	types := "application/json"
	if b == bodyPatch {
		types = "application/merge-patch+json or application/json"
	}
	return fault.New(fault.UnsupportedMedia, "unsupported_media_type", "Send the body as %s in UTF-8, without a Content-Encoding.", types)
}
