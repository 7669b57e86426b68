package upload

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/wire"
)

// The limits of an upload, in bytes. That of its file is coach.MaxFile.
const (
	maxText = 8 << 10                // of a part that is a text
	MaxBody = coach.MaxFile + 64<<10 // of the whole body
	// maxPartHeader limits the boundary and the header before the content of a part, which
	// are held in memory.
	maxPartHeader = 16 << 10
	maxParts      = 50
)

// Form is an upload that was read: texts by name, and at most one file.
type Form struct {
	Texts map[string]string
	File  coach.Spool // nil if the client sent none
	// FileName is the name that the client gave the file.
	FileName string
	Faults   wire.Faults
}

// Close frees the spool.
func (f *Form) Close() {
	if f.File != nil {
		_ = f.File.Close() // the file was read or is not needed
	}
}

// Fingerprint identifies the upload for its Idempotency-Key. The body itself does not: a
// repeated upload has other boundaries.
func (f *Form) Fingerprint() []byte {
	same := struct {
		Texts          map[string]string
		FileName, Hash string
	}{Texts: f.Texts, FileName: f.FileName}
	if f.File != nil {
		same.Hash = f.File.SHA256()
	}
	text, _ := json.Marshal(same) // a struct of strings cannot fail
	sum := sha256.Sum256(text)
	return sum[:]
}

// formReader reads a multipart/form-data body (RFC 7578) part by part: texts into memory,
// the file into a spool.
type formReader struct {
	body *Body
	// names are the names of the texts that the form may have.
	names []string
	spool func() (coach.Spool, error)
	form  *Form
}

// ReadForm reads a form from body: texts with these names, and a file, which goes into a
// spool. The caller closes the form. Errors: payload_too_large, malformed_request, or that
// of the storage.
func ReadForm(body *Body, header http.Header, spool func() (coach.Spool, error), names ...string) (*Form, error) {
	return (&formReader{body: body, names: names, spool: spool}).read(header)
}

// read returns the form with the faults of its parts. It returns payload_too_large,
// malformed_request or a storage error; then it has closed the form.
func (fr *formReader) read(header http.Header) (*Form, error) {
	_, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || parameters["boundary"] == "" {
		return nil, errForm("Its Content-Type has no boundary.")
	}
	fr.form = &Form{Texts: map[string]string{}}
	parts := multipart.NewReader(fr.body, parameters["boundary"])
	for n := 0; ; n++ {
		fr.body.partHeaderLeft = maxPartHeader
		part, err := parts.NextRawPart()
		if err == io.EOF && n > 0 {
			if err = fr.body.readEnd(); err == nil {
				return fr.form, nil
			}
		}
		if err == nil && n == maxParts {
			err = errForm("It has too many parts.")
		}
		if err == nil {
			fr.body.partHeaderLeft = -1
			err = fr.part(part)
		}
		if err != nil {
			fr.form.Close()
			return nil, fr.failure(err)
		}
	}
}

// part reads one part to its end.
func (fr *formReader) part(part *multipart.Part) error {
	name := part.FormName()
	f := &fr.form.Faults
	_, twice := fr.form.Texts[name]
	switch {
	case name == "":
		return errForm("One of its parts has no name.")
	case !utf8.ValidString(name) || name != "file" && !slices.Contains(fr.names, name):
		f.Add(wire.PointTo("", safeName(name)), "unknown_field", "There is no such field.")
	case twice || name == "file" && fr.form.File != nil:
		f.Add(wire.PointTo("", name), "duplicate_field", "This field is here twice.")
	case name == "file":
		return fr.file(part)
	default:
		return fr.text(part, name)
	}
	_, err := io.Copy(io.Discard, part)
	return err
}

// safeName returns a name from the client, for a problem document.
func safeName(name string) string {
	if len(name) > 100 || !utf8.ValidString(name) {
		return "?"
	}
	return name
}

func (fr *formReader) text(part *multipart.Part, name string) error {
	raw, err := io.ReadAll(io.LimitReader(part, maxText+1))
	if err != nil {
		return err
	}
	text := string(raw)
	switch {
	case len(raw) > maxText:
		fr.form.Faults.Add(wire.PointTo("", name), "too_long", "This has more than 8 KiB.")
		text = ""
		_, err = io.Copy(io.Discard, part)
	case !utf8.ValidString(text):
		fr.form.Faults.Add(wire.PointTo("", name), "invalid_characters", "This must be UTF-8.")
		text = ""
	}
	fr.form.Texts[name] = text
	return err
}

func (fr *formReader) file(part *multipart.Part) error {
	spool, err := fr.spool()
	if err != nil {
		return err
	}
	fr.form.File, fr.form.FileName = spool, part.FileName()
	// Read one byte more than the limit, to learn whether the file is longer.
	_, err = io.Copy(spool, io.LimitReader(part, coach.MaxFile+1))
	if err == nil && spool.Size() > coach.MaxFile {
		err = errUploadSize
	}
	return err
}

// failure returns err as the problem of a body that could not be read.
func (fr *formReader) failure(err error) error {
	var known *fault.Error
	switch {
	case errors.As(err, &known): // malformed, too large, or the disk is full
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errForm("It came too slowly: no byte for %s, or more than %s in all. Try again on a better network.", fr.body.stall, fr.body.timeout)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errForm("It ends before its last boundary.")
	default:
		return errForm("It cannot be read.").Because(err)
	}
}

var errUploadSize = endpoint.ErrUploadTooLarge(MaxBody)

func errForm(format string, args ...any) *fault.Error {
	return fault.New(fault.Malformed, "malformed_request", "The body must be multipart/form-data. %s", fmt.Sprintf(format, args...))
}
