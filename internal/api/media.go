package api

import (
	"mime"
	"net/http"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/wire"
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

// acceptable says whether the Accept header admits m.
func acceptable(h http.Header, m media) bool {
	return m == mediaAny || wire.Acceptable(h, m.String())
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
	if b == bodyForm {
		return name == "multipart/form-data"
	}
	if charset, ok := parameters["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return false
	}
	return name == "application/json" || b == bodyPatch && name == "application/merge-patch+json"
}

func errMedia(b bodyKind) error {
	if b == bodyForm {
		return fault.New(fault.UnsupportedMedia, "unsupported_media_type", "Send the body as multipart/form-data, without a Content-Encoding.")
	}
	types := "application/json"
	if b == bodyPatch {
		types = "application/merge-patch+json or application/json"
	}
	return fault.New(fault.UnsupportedMedia, "unsupported_media_type", "Send the body as %s in UTF-8, without a Content-Encoding.", types)
}
