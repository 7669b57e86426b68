package httpx

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Download sends a file that write produces, for the browser to save under name. Its length
// is unknown when it begins. Each write may take WriteTimeout, and all FileTimeout. For HEAD the
// first write fails, so that write stops.
//
// If write fails before it has written anything, Download returns its error and nothing was
// sent. Later it panics, which aborts the connection, so that the client sees that the file
// is incomplete.
func Download(w http.ResponseWriter, r *http.Request, name, mediaType string, write func(io.Writer) error) error {
	out := &download{
		deadlineWriter: deadlineWriter{w, http.NewResponseController(w), time.Now().Add(FileTimeout)},
		header:         http.Header{"Content-Type": {mediaType}, "Content-Disposition": {File{Name: name, Attachment: true}.disposition()}},
		head:           r.Method == http.MethodHead,
	}
	err := write(out)
	switch {
	case err == nil:
		out.extend() // for the end of the response, which the server writes
		return nil
	case !out.begun:
		return err
	case out.head:
		return nil
	case out.clientGone:
		panic(http.ErrAbortHandler)
	}
	panic(incompleteError{fmt.Errorf("write %s: %w", name, err)})
}

// incompleteError is the panic of a handler that cannot complete a response that has begun.
// The middleware logs it as the error of a request and aborts the connection.
type incompleteError struct{ error }

// download sets the headers before the first byte.
type download struct {
	deadlineWriter
	header            http.Header
	begun, clientGone bool
	// head is true for a response without a body.
	head bool
}

// errHead ends the writing of a response to HEAD.
var errHead = errors.New("a response to HEAD has no body")

// Write implements io.Writer.
func (d *download) Write(p []byte) (int, error) {
	if !d.begun {
		d.begun = true
		for name, values := range d.header {
			d.Header()[name] = values
		}
	}
	if d.head {
		return 0, errHead
	}
	n, err := d.deadlineWriter.Write(p)
	d.clientGone = d.clientGone || err != nil
	return n, err
}
