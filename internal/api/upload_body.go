package api

import (
	"io"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/httpx"
)

const (
	// uploadStall ends an upload of which nothing comes, uploadWhole one that takes
	// too long: 10 MiB come in time at 50 KB/s.
	uploadStall = 30 * time.Second
	uploadWhole = 5 * time.Minute
	// uploadWork is how long it may take to look at what has come, and to keep it. It
	// is less than the time after which a keyed request counts as abandoned.
	uploadWork = 45 * time.Second
)

// uploadBody reads the body of an upload under its own limits: the server's time
// for a request is for 64 KiB, and a phone on a bad network needs minutes.
type uploadBody struct {
	source       io.Reader
	control      *http.ResponseController
	stall, whole time.Duration

	began, extended time.Time
	left            int64 // bytes of the body
	heading         int64 // bytes before the next content; below 0 while in one
}

// uploadBody begins to read the body of r.
func (s *Server) uploadBody(w http.ResponseWriter, r *http.Request) *uploadBody {
	return &uploadBody{
		source: r.Body, control: http.NewResponseController(w), stall: s.uploadStall, whole: s.uploadWhole,
		began: time.Now(), left: maxUpload, heading: -1,
	}
}

// Read implements io.Reader.
func (b *uploadBody) Read(p []byte) (int, error) {
	b.extend()
	// One byte more than there may be tells whether there is more.
	n, err := b.source.Read(p[:min(int64(len(p)), b.left+1)])
	if b.left -= int64(n); b.left < 0 {
		return 0, errUploadSize
	}
	if b.heading >= 0 {
		if b.heading -= int64(n); b.heading < 0 {
			return 0, errForm("What stands before a part is too long.")
		}
	}
	return n, err
}

// extend gives the next bytes their time. Where no deadline can be set, as with a
// recorder, there is none.
func (b *uploadBody) extend() {
	now := time.Now()
	if now.Sub(b.extended) < b.stall/30 {
		return
	}
	b.extended = now
	end := now.Add(b.stall)
	if last := b.began.Add(b.whole); last.Before(end) {
		end = last
	}
	_ = b.control.SetReadDeadline(end)
}

// done gives the work and the answer their time. The deadline for reading must go:
// when it passes, the server takes the caller for gone.
func (b *uploadBody) done() {
	_ = b.control.SetReadDeadline(time.Time{})
	_ = b.control.SetWriteDeadline(time.Now().Add(uploadWork + httpx.WriteTimeout))
}
