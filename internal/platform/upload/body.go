// Package upload reads the files that coaches send, for the API and for pages: bodies under
// their own deadlines and limits, and forms with one file (multipart/form-data).
package upload

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/touchline/touchline/internal/platform/httpx"
)

const (
	// stallTimeout ends an upload that sends no byte.
	stallTimeout = 30 * time.Second
	// arriveTimeout ends an upload that takes too long: 10 MiB arrive in time at 50 KB/s.
	arriveTimeout = 5 * time.Minute
	// endTimeout ends a body that does not end after its last boundary.
	endTimeout = 5 * time.Second
	// WorkTimeout limits the check and the storage of a file after it has arrived.
	WorkTimeout = 45 * time.Second
)

// Timeouts limit the time in which an upload arrives.
type Timeouts struct {
	// Stall ends an upload that sends no byte; 0 means 30 s.
	Stall time.Duration
	// Arrive limits the time of a whole upload; 0 means 5 min.
	Arrive time.Duration
	// End limits the wait for the end of a body after its last boundary; 0 means 5 s.
	End time.Duration
}

// Body reads an upload under its own deadlines and size limit. The server's read
// timeout is meant for 64 KiB, but a phone on a bad network needs minutes.
type Body struct {
	source         io.Reader
	control        *http.ResponseController
	stall, timeout time.Duration
	end            time.Duration // for the bytes after the last boundary

	startedAt, extendedAt time.Time
	bytesLeft             int64 // of the body
	tooLarge              error // the error of a longer body
	partHeaderLeft        int64 // bytes until the content of the next part; negative inside a part
}

// NewBody returns the body of a request of at most MaxBody bytes. The caller calls Done
// after it has read the body.
func NewBody(source io.Reader, control *http.ResponseController, t Timeouts) *Body {
	t.Stall, t.Arrive, t.End = cmp.Or(t.Stall, stallTimeout), cmp.Or(t.Arrive, arriveTimeout), cmp.Or(t.End, endTimeout)
	// Over HTTP/2, net/http resets the stream when the server's write timeout passes,
	// even if the handler still reads.
	_ = control.SetWriteDeadline(time.Now().Add(t.Arrive + WorkTimeout + httpx.WriteTimeout))
	return &Body{
		source: source, control: control, stall: t.Stall, timeout: t.Arrive, end: t.End,
		startedAt: time.Now(), bytesLeft: MaxBody, tooLarge: errUploadSize, partHeaderLeft: -1,
	}
}

// Limit sets the largest size of the body in bytes, and the error of a longer one.
func (b *Body) Limit(size int64, tooLarge error) { b.bytesLeft, b.tooLarge = size, tooLarge }

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
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
func (b *Body) extendDeadline() {
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
func (b *Body) readEnd() error {
	b.partHeaderLeft = -1
	b.timeout = min(b.timeout, time.Since(b.startedAt)+b.end)
	b.extendedAt = time.Time{} // the next read sets the shorter deadline
	_, err := io.Copy(io.Discard, b)
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errForm("It is shorter than its Content-Length.")
	}
	return err
}

// Done sets the deadlines for the work and the response. net/http cancels the request
// when a read deadline passes, so this one ends after the work.
func (b *Body) Done() {
	deadline := time.Now().Add(WorkTimeout + httpx.WriteTimeout)
	_ = b.control.SetReadDeadline(deadline)
	_ = b.control.SetWriteDeadline(deadline)
}
