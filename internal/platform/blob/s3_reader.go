package blob

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
)

// objectReader reads an object with one request from the current offset to the end,
// and with another after a seek.
type objectReader struct {
	bucket *bucket
	ctx    context.Context
	key    string
	etag   string
	size   int64

	offset int64 // of the next Read
	body   io.ReadCloser
	cancel context.CancelFunc
	// stalled is set when the server has sent nothing for too long.
	stalled atomic.Bool
	closed  bool
}

// Read implements io.Reader. It fails once the server sends nothing for the stall time.
func (o *objectReader) Read(p []byte) (int, error) {
	switch {
	case o.closed:
		return 0, errors.New("blob: read after close")
	case o.offset >= o.size:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	if o.body == nil {
		if err := o.openBody(); err != nil {
			return 0, unavailable(o.ctx, "read", o.key, mapError(err))
		}
	}
	cancel := o.cancel
	stalled := time.AfterFunc(o.bucket.stall, func() {
		o.stalled.Store(true)
		cancel()
	})
	n, err := o.body.Read(p)
	stalled.Stop()
	o.offset += int64(n)
	switch {
	case o.offset >= o.size:
		o.closeBody()
		return n, nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	case err != nil && o.stalled.Load():
		err = errStalled
	}
	if err != nil {
		o.closeBody()
		return n, unavailable(o.ctx, "read", o.key, err)
	}
	return n, nil
}

func (o *objectReader) openBody() error {
	ctx, cancel := context.WithCancel(o.ctx)
	stalled := time.AfterFunc(requestTimeout, cancel)
	defer stalled.Stop()
	var opts minio.GetObjectOptions
	if o.offset > 0 {
		if err := opts.SetRange(o.offset, 0); err != nil {
			cancel()
			return err
		}
	}
	if o.etag != "" {
		if err := opts.SetMatchETag(o.etag); err != nil { // the object must not change between two requests
			cancel()
			return err
		}
	}
	body, _, _, err := o.bucket.client.GetObject(ctx, o.bucket.name, o.bucket.object(o.key), opts)
	if err != nil {
		cancel()
		return err
	}
	o.body, o.cancel = body, cancel
	return nil
}

func (o *objectReader) closeBody() {
	if o.body != nil {
		o.cancel()
		_ = o.body.Close()
		o.body = nil
	}
}

// Seek implements io.Seeker without a request.
func (o *objectReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.offset
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, errors.New("blob: seek before the start")
	}
	if offset != o.offset {
		o.closeBody()
	}
	o.offset = offset
	return offset, nil
}

// Close implements io.Closer.
func (o *objectReader) Close() error {
	o.closeBody()
	o.closed = true
	return nil
}
