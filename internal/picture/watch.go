package picture

import (
	"context"
	"errors"
	"io"
	"runtime"
	"runtime/metrics"
	"time"
)

const (
	// decodeLimit bounds the time of one decode.
	decodeLimit = 20 * time.Second
	// portion is how much a decoder gets at a time, in bytes: a few of them may
	// make it work long.
	portion = 256
	// lookEvery is after how many bytes memory is looked at.
	lookEvery = 4 << 10
	// growth is how much the heap must have grown to be collected again.
	growth = 8 << 20
)

// watch feeds a decoder, and starves it when its caller has left, its time is up,
// or it holds more than was set aside. Decoders heed nothing by themselves, and what
// the tables of a lossless WebP will take (its author's choice: up to 130 MB) shows
// in no header.
type watch struct {
	ctx   context.Context
	r     io.Reader
	until time.Time
	// base is what the heap held before, most what it may grow by.
	base, most uint64

	unseen int
	clean  uint64
	// ended is why the decoder was starved: decoders hide the errors of readers.
	ended error
}

func newWatch(ctx context.Context, r io.Reader, info Info) *watch {
	// What is allocated in one piece at the end must still fit then.
	return &watch{ctx: ctx, r: r, until: time.Now().Add(decodeLimit), base: heap(), most: uint64(budget - info.pixels)}
}

// Read implements io.Reader.
func (w *watch) Read(p []byte) (int, error) {
	if w.ended == nil {
		w.ended = w.look()
	}
	if w.ended != nil {
		return 0, w.ended
	}
	n, err := w.r.Read(p[:min(len(p), portion)])
	w.unseen -= n
	if err != nil && err != io.EOF {
		w.ended = err
	}
	return n, err
}

func (w *watch) look() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if time.Now().After(w.until) {
		return refuse(TooComplex, "Decoding the picture takes too long.")
	}
	if w.unseen <= 0 {
		w.unseen = lookEvery
		if w.tooMuch() {
			return refuse(NeedsTooMuchMemory, "Decoding the picture needs more than %d MB.", budget>>20)
		}
	}
	return nil
}

// tooMuch collects before it complains: what is on the heap may be garbage.
func (w *watch) tooMuch() bool {
	now := heap()
	if now < w.base+w.most || now < w.clean+growth {
		return false
	}
	runtime.GC()
	w.clean = heap()
	return w.clean > w.base+w.most
}

// heap is how many bytes objects take on the heap, those not yet collected too.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// judged turns a decoder's complaint into what it is for the caller.
func (w *watch) judged(err error) error {
	switch {
	case w.ended != nil:
		return w.ended
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return cutOff(err)
	default:
		return refuse(Unreadable, "The picture is damaged and cannot be decoded.")
	}
}
