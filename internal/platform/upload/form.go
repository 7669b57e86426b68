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
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// The limits of an upload, in bytes.
const (
	maxText = 8 << 10 // of a part that is a text
	// MaxTexts is of all texts and boundaries of a form, and of a form without a file.
	MaxTexts = 64 << 10
	MaxFile  = 10 << 20
	MaxBody  = MaxFile + MaxTexts // of the whole body
	// maxPartHeader limits the boundary and the header before the content of a part, which
	// are held in memory.
	maxPartHeader = 16 << 10
	maxParts      = 50
)

// File is a complete file that can be read repeatedly.
type File interface {
	io.ReadSeeker
	io.ReaderAt
	Size() int64
	SHA256() string // in hex
}

// Spool is a File that is first written, then read. Close removes it.
type Spool interface {
	File
	io.WriteCloser
}

// Form is an upload that was read: texts by name, and at most one file.
type Form struct {
	Texts map[string]string
	File  Spool // nil if the client sent none, or an empty one without a name
	// FileName is the name that the client gave the file.
	FileName string
	// Pasted is the text Fields.Pasted; nil if the client sent none.
	Pasted Spool
	Faults wire.Faults
}

// Close frees the spools.
func (f *Form) Close() {
	for _, spool := range []Spool{f.File, f.Pasted} {
		if spool != nil {
			_ = spool.Close() // it was read or is not needed
		}
	}
}

// Keep leaves a spool of the form open when the form is closed: another owner closes it.
func (f *Form) Keep(spool Spool) {
	if f.File == spool {
		f.File = nil
	}
	if f.Pasted == spool {
		f.Pasted = nil
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

// Fields are the fields of a form.
type Fields struct {
	// Texts are the names of the texts that the form may have.
	Texts []string
	// Pasted is the name of a text that may be as long as a file, and is spooled; "" for none.
	Pasted string
}

// formReader reads a multipart/form-data body (RFC 7578) part by part: texts into memory,
// the file into a spool.
type formReader struct {
	body   *Body
	fields Fields
	spool  func() (Spool, error)
	form   *Form
}

// ReadForm reads a form from body: texts, and a file, which goes into a spool. The caller
// closes the form. Errors: payload_too_large, malformed_request, or the error of the storage.
func ReadForm(body *Body, header http.Header, spool func() (Spool, error), fields Fields) (*Form, error) {
	fr := &formReader{body: body, fields: fields, spool: spool, form: &Form{Texts: map[string]string{}}}
	mediaType, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	switch {
	case err == nil && mediaType == "application/x-www-form-urlencoded" && fields.Pasted != "":
		err = fr.readPasted()
	case err != nil || parameters["boundary"] == "":
		err = errForm("Its Content-Type has no boundary.")
	default:
		err = fr.read(parameters["boundary"])
	}
	if err != nil {
		fr.form.Close()
		return nil, failure(err, body, errForm)
	}
	return fr.form, nil
}

// read reads a multipart/form-data body.
func (fr *formReader) read(boundary string) error {
	parts := multipart.NewReader(fr.body, boundary)
	for n := 0; ; n++ {
		fr.body.partHeaderLeft = maxPartHeader
		part, err := parts.NextRawPart()
		if err == io.EOF && n > 0 {
			fr.dropUnchosen()
			return fr.body.readEnd()
		}
		if err == nil && n == maxParts {
			err = errForm("It has too many parts.")
		}
		if err == nil {
			fr.body.partHeaderLeft = -1
			err = fr.part(part)
		}
		if err != nil {
			return err
		}
	}
}

// dropUnchosen removes the file of a form in which no file was chosen: browsers send an empty
// one without a name.
func (fr *formReader) dropUnchosen() {
	if form := fr.form; form.File != nil && form.FileName == "" && form.File.Size() == 0 {
		_ = form.File.Close() // it is empty
		form.File = nil
	}
}

// readPasted reads a form without a file (application/x-www-form-urlencoded). Fields that the
// form does not have are ignored.
func (fr *formReader) readPasted() error {
	fr.body.bytesLeft = min(fr.body.bytesLeft, MaxTexts)
	raw, err := io.ReadAll(fr.body)
	if err != nil {
		return err
	}
	values, err := url.ParseQuery(string(raw))
	if err != nil {
		return errForm("It cannot be read.").Because(err)
	}
	for _, name := range fr.fields.Texts {
		fr.form.Texts[name] = values.Get(name)
	}
	return fr.fill(&fr.form.Pasted, strings.NewReader(values.Get(fr.fields.Pasted)))
}

// part reads one part to its end.
func (fr *formReader) part(part *multipart.Part) error {
	name := part.FormName()
	f := &fr.form.Faults
	_, twice := fr.form.Texts[name]
	switch {
	case name == "":
		return errForm("One of its parts has no name.")
	case !utf8.ValidString(name) || name != "file" && name != fr.fields.Pasted && !slices.Contains(fr.fields.Texts, name):
		f.Add(wire.PointTo("", safeName(name)), "unknown_field", "There is no such field.")
	case twice || name == "file" && fr.form.File != nil || name == fr.fields.Pasted && fr.form.Pasted != nil:
		f.Add(wire.PointTo("", name), "duplicate_field", "This field is here twice.")
	case name == "file":
		fr.form.FileName = part.FileName()
		return fr.fill(&fr.form.File, part)
	case name == fr.fields.Pasted:
		return fr.fill(&fr.form.Pasted, part)
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

// fill copies content into a new spool of the form.
func (fr *formReader) fill(spool *Spool, content io.Reader) (err error) {
	*spool, err = fr.spool()
	if err != nil {
		*spool = nil // not an interface with a nil pointer
		return err
	}
	// Read one byte more than the limit, to learn whether the file is longer.
	_, err = io.Copy(*spool, io.LimitReader(content, MaxFile+1))
	if err == nil && (*spool).Size() > MaxFile {
		err = fr.body.tooLarge
	}
	return err
}

// ReadFile reads a body that is a file into a spool, which the caller closes. Errors:
// payload_too_large, malformed_request, or the error of the storage.
func ReadFile(body *Body, spool func() (Spool, error)) (Spool, error) {
	file, err := spool()
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(file, body); err != nil {
		_ = file.Close() // it is not needed
		return nil, failure(err, body, errFile)
	}
	return file, nil
}

// failure returns err as the problem of a body that could not be read.
func failure(err error, body *Body, malformed func(format string, args ...any) *fault.Error) error {
	var known *fault.Error
	switch {
	case errors.As(err, &known): // malformed, too large, or the disk is full
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return malformed("It came too slowly: no byte for %s, or more than %s in all. Try again on a better network.", body.stall, body.timeout)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return malformed("It ends before it is complete.")
	default:
		return malformed("It cannot be read.").Because(err)
	}
}

var errUploadSize = endpoint.ErrUploadTooLarge(MaxBody)

func errForm(format string, args ...any) *fault.Error {
	return fault.New(fault.Malformed, "malformed_request", "The body must be multipart/form-data. %s", fmt.Sprintf(format, args...))
}

func errFile(format string, args ...any) *fault.Error {
	return fault.New(fault.Malformed, "malformed_request", "The file could not be read. %s", fmt.Sprintf(format, args...))
}
