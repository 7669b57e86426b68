package blob

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/minio/minio-go/v7"
)

// object reads an object piece by piece: one request from where reading begins to
// the end, another after a seek elsewhere.
type object struct {
	bucket *bucket
	ctx    context.Context
	key    string
	etag   string
	size   int64

	at     int64 // where Read goes on
	body   io.ReadCloser
	cancel context.CancelFunc
	closed bool
}

// Read implements io.Reader. A server that falls silent is given up.
func (o *object) Read(p []byte) (int, error) {
	switch {
	case o.closed:
		return 0, errors.New("blob: read after close")
	case o.at >= o.size:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	if o.body == nil {
		if err := o.request(); err != nil {
			return 0, down(o.ctx, "read", o.key, o.bucket.absent(err))
		}
	}
	stalled := time.AfterFunc(stallLimit, o.cancel)
	n, err := o.body.Read(p)
	stalled.Stop()
	o.at += int64(n)
	switch {
	case o.at >= o.size:
		o.end()
		return n, nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		o.end()
		return n, down(o.ctx, "read", o.key, err)
	}
	return n, nil
}

func (o *object) request() error {
	ctx, cancel := context.WithCancel(o.ctx)
	stalled := time.AfterFunc(askLimit, cancel)
	defer stalled.Stop()
	var opts minio.GetObjectOptions
	if o.at > 0 {
		if err := opts.SetRange(o.at, 0); err != nil {
			cancel()
			return err
		}
	}
	if o.etag != "" {
		if err := opts.SetMatchETag(o.etag); err != nil { // never half of one and half of another
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

func (o *object) end() {
	if o.body != nil {
		o.cancel()
		_ = o.body.Close()
		o.body = nil
	}
}

// Seek implements io.Seeker; it asks the server nothing.
func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.at
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, errors.New("blob: seek before the start")
	}
	if offset != o.at {
		o.end()
	}
	o.at = offset
	return offset, nil
}

// Close implements io.Closer.
func (o *object) Close() error {
	o.end()
	o.closed = true
	return nil
}
