package endpoint

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/bodies"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// maxBody limits every body but an upload, in bytes; see Route.MaxBody.
const maxBody = 64 << 10

const (
	mediaJSON = "application/json"
	// AnyMedia is the Produces of a route that ignores the Accept header.
	AnyMedia = "*/*"
)

// BodyKind is the kind of body that a route takes.
type BodyKind int

// The kinds of bodies.
const (
	NoBody       BodyKind = iota // no body; see strayBody
	JSON                         // one JSON value
	OptionalJSON                 // one JSON value, or no body
	MergePatch                   // a JSON merge patch (RFC 7396)
	Form                         // application/x-www-form-urlencoded
	Multipart                    // multipart/form-data, which the handler reads
	CSV                          // a text with separated cells in any encoding, which the handler reads
	AnyBody                      // any body of a provider's call; a form is parsed, others are not
)

// isUpload reports whether the handler reads the body, under its own limits.
func (k BodyKind) isUpload() bool { return k == Multipart || k == CSV }

// readBody reads and parses the body and checks the Accept header. Its checks are
// errors of 413, 415, 406 and 400, in this order. The caller must call release when the body is
// no longer needed, also after an error.
func (a *Adapter[C]) readBody(w http.ResponseWriter, r *http.Request, rt *Route[C]) (body Body, release func(), err error) {
	kind, produces := rt.Body, rt.mediaTypes()
	release = func() {}
	if kind.isUpload() {
		body, err = openUpload(w, r, kind, rt.MaxUpload, produces)
		return body, release, err
	}
	if rt.takesBody(r) {
		info := infoOf(r)
		received, err := a.Bodies.Read(bodies.Holder{AccountID: info.AccountID, Address: info.Client}, r.Body, r.ContentLength, max(maxBody, rt.MaxBody))
		body.Raw, release = received.Bytes, received.Release
		if err != nil {
			if fault.KindOf(err) != fault.Malformed {
				closeConnection(w) // the rest of the body is not read
			}
			return Body{}, release, err
		}
		if kind != NoBody && kind.checksMediaType(r.Header, body.Raw) && !kind.matches(r.Header) {
			return Body{}, release, kind.errMediaType()
		}
	}
	if !acceptable(r.Header, produces) {
		return Body{}, release, errNotAcceptable(produces)
	}
	err = body.parse(kind, r.Header)
	return body, release, err
}

// parse parses a body that was read.
func (body *Body) parse(kind BodyKind, header http.Header) (err error) {
	switch {
	case kind == NoBody:
		body.Faults = append(body.Faults, body.strayMembers(header)...)
	case kind == OptionalJSON && len(body.Raw) == 0:
	case kind == AnyBody:
		if Form.matches(header) {
			body.form, _ = url.ParseQuery(string(body.Raw)) // without its invalid parts
		}
	case kind == Form:
		body.form, err = url.ParseQuery(string(body.Raw))
		if err != nil {
			err = MalformedForm("It cannot be read.")
		}
	default:
		body.json, err = wire.Parse(body.Raw, &body.Faults)
	}
	return err
}

// takesBody reports whether the body of r is read: also that of a call that has none but changes something, because
// a caller who sends a member there believes that it counts. Outside of /api and /auth, providers send what they like.
func (rt *Route[C]) takesBody(r *http.Request) bool {
	stray := r.ContentLength != 0 && r.Method != http.MethodGet && r.Method != http.MethodHead && rt.isAPI()
	return rt.Body != NoBody || stray
}

// strayMembers returns a fault for each member of a JSON body that no call asked for.
func (body *Body) strayMembers(header http.Header) (f wire.Faults) {
	if len(body.Raw) == 0 || !JSON.matches(header) {
		return nil
	}
	var ignored wire.Faults
	if members, err := wire.Parse(body.Raw, &ignored); err == nil && members != nil {
		wire.Bind(members, new(struct{}), &f)
	}
	body.Raw = nil
	return f
}

// openUpload checks the headers of an upload. If it refuses the upload, it closes the
// connection, because the rest of the body is not read.
func openUpload(w http.ResponseWriter, r *http.Request, kind BodyKind, maxUpload int64, produces []string) (Body, error) {
	var err error
	switch {
	case r.ContentLength > maxUpload:
		err = ErrUploadTooLarge(maxUpload)
	case !kind.matches(r.Header):
		err = kind.errMediaType()
	case !acceptable(r.Header, produces):
		err = errNotAcceptable(produces)
	}
	if err != nil {
		closeConnection(w)
		return Body{}, err
	}
	return Body{upload: Upload{Reader: r.Body, Control: http.NewResponseController(w)}}, nil
}

func closeConnection(w http.ResponseWriter) { w.Header().Set("Connection", "close") }

// ErrUploadTooLarge returns payload_too_large for an upload of more than limit bytes.
func ErrUploadTooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "payload_too_large", "A file may have at most %d MiB.", limit>>20)
}

// MalformedForm returns malformed_request for a form. Its member error is defined by RFC
// 6749, section 5.2.
func MalformedForm(detail string) error {
	return fault.New(fault.Malformed, "malformed_request", "The body must be a form. %s", detail).With("error", "invalid_request")
}

func acceptable(h http.Header, produces []string) bool {
	return slices.ContainsFunc(produces, func(mediaType string) bool {
		return mediaType == AnyMedia || wire.Acceptable(h, mediaType)
	})
}

func errNotAcceptable(produces []string) error {
	return fault.New(fault.NotAcceptable, "not_acceptable", "This call returns %s, but the Accept header excludes it. Add it, or leave the header out.", strings.Join(produces, " or "))
}

// mediaTypes are the media types of a body of this kind.
func (k BodyKind) mediaTypes() []string {
	switch k {
	case MergePatch:
		return []string{"application/merge-patch+json", mediaJSON}
	case Form:
		return []string{"application/x-www-form-urlencoded"}
	case Multipart:
		return []string{"multipart/form-data"}
	case CSV:
		return []string{"text/csv", "text/tab-separated-values"}
	default:
		return []string{mediaJSON}
	}
}

// checksMediaType reports whether a body must have a media type of this kind. A request with
// neither a body nor a Content-Type is malformed_request where the call needs JSON.
func (k BodyKind) checksMediaType(h http.Header, raw []byte) bool {
	switch {
	case k == AnyBody:
		return false
	case len(raw) > 0:
		return true
	case k == JSON || k == MergePatch:
		return h.Get("Content-Type") != ""
	default:
		return k != OptionalJSON
	}
}

// matches reports whether the Content-Type and the Content-Encoding fit.
func (k BodyKind) matches(h http.Header) bool {
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return false
	}
	name, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || len(h.Values("Content-Type")) != 1 {
		return false
	}
	if charset, ok := parameters["charset"]; ok && !k.isUpload() && !strings.EqualFold(charset, "utf-8") {
		return false
	}
	for _, mediaType := range k.mediaTypes() {
		if name == mediaType {
			return true
		}
	}
	return false
}

func (k BodyKind) errMediaType() error {
	charset := " in UTF-8"
	if k == Form || k.isUpload() {
		charset = ""
	}
	return fault.New(fault.UnsupportedMedia, "unsupported_media_type", "Send the body as %s%s, without a Content-Encoding.", strings.Join(k.mediaTypes(), " or "), charset)
}
