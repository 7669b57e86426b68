package api

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/httpx"
)

const (
	// uploadStallTimeout ends an upload that sends no byte.
	uploadStallTimeout = 30 * time.Second
	// uploadTimeout ends an upload that takes too long: 10 MiB arrive in time at 50 KB/s.
	uploadTimeout = 5 * time.Minute
	// uploadEndTimeout limits the wait for the end of a body after its last boundary.
	uploadEndTimeout = 5 * time.Second
	// uploadWorkTimeout limits the check and the storage of a file after it has arrived.
	uploadWorkTimeout = 45 * time.Second
)

// uploadBody reads an upload under its own deadlines and size limit. The server's read
// timeout is meant for 64 KiB, but a phone on a bad network needs minutes.
type uploadBody struct {
	source         io.Reader
	control        *http.ResponseController
	stall, timeout time.Duration

	startedAt, extendedAt time.Time
	bytesLeft             int64 // of the body
	tooLarge              error // the error of a longer body
	partHeaderLeft        int64 // bytes until the content of the next part; negative inside a part
}

func (s *Server) uploadBody(upload endpoint.Upload) *uploadBody {
	// Over HTTP/2, net/http resets the stream when the server's write timeout passes,
	// even if the handler still reads.
	_ = upload.Control.SetWriteDeadline(time.Now().Add(s.UploadTimeout + uploadWorkTimeout + httpx.WriteTimeout))
	return &uploadBody{
		source: upload, control: upload.Control, stall: s.UploadStallTimeout, timeout: s.UploadTimeout,
		startedAt: time.Now(), bytesLeft: maxUpload, tooLarge: errUploadSize, partHeaderLeft: -1,
	}
}

// Read implements io.Reader.
func (b *uploadBody) Read(p []byte) (int, error) {
	b.extendDeadline()
	// Read one byte more than the limit, to learn whether the body is longer.
	n, err := b.source.Read(p[:min(int64(len(p)), b.bytesLeft+1)])
	if b.bytesLeft -= int64(n); b.bytesLeft < 0 {
		return 0, b.tooLarge
	}
	if b.partHeaderLeft >= 0 {
		if b.partHeaderLeft -= int64(n); b.partHeaderLeft < 0 {
			return 0, errForm("The header of a part is too long.")
		}
	}
	return n, err
}

// extendDeadline moves the read deadline, at most 30 times per stall timeout. An
// httptest.ResponseRecorder has no deadline, so the error is ignored.
func (b *uploadBody) extendDeadline() {
	now := time.Now()
	if now.Sub(b.extendedAt) < b.stall/30 {
		return
	}
	b.extendedAt = now
	deadline := now.Add(b.stall)
	if last := b.startedAt.Add(b.timeout); last.Before(deadline) {
		deadline = last
	}
	_ = b.control.SetReadDeadline(deadline)
}

// readEnd reads what follows the last boundary. The body is incomplete if it is shorter
// than its Content-Length (RFC 9112, section 6.3): net/http would wait for the rest
// before it sends the response.
func (b *uploadBody) readEnd() error {
	b.partHeaderLeft = -1
	b.timeout = min(b.timeout, time.Since(b.startedAt)+uploadEndTimeout)
	b.extendedAt = time.Time{} // the next read sets the shorter deadline
	_, err := io.Copy(io.Discard, b)
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errForm("It is shorter than its Content-Length.")
	}
	return err
}

// done sets the deadlines for the work and the response. net/http cancels the request
// when a read deadline passes, so this one ends after the work.
func (b *uploadBody) done() {
	deadline := time.Now().Add(uploadWorkTimeout + httpx.WriteTimeout)
	_ = b.control.SetReadDeadline(deadline)
	_ = b.control.SetWriteDeadline(deadline)
}
