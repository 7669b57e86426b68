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
	decodeTimeout = 20 * time.Second
	// portion is how much a decoder gets at a time, in bytes: a few of them may
	// make it work long.
	maxRead = 256
	// lookEvery is after how many bytes memory is looked at.
	heapCheckEvery = 4 << 10
	// growth is how much the heap must have grown to be collected again.
	minGrowth = 8 << 20
)

// watch feeds a decoder, and starves it when its caller has left, its time is up,
// or it holds more than was set aside. Decoders heed nothing by themselves, and what
// the tables of a lossless WebP will take (its author's choice: up to 130 MB) shows
// in no header.
type decodeReader struct {
	ctx      context.Context
	r        io.Reader
	deadline time.Time
	// base is what the heap held before, most what it may grow by.
	base, maxGrowth uint64

	untilHeapCheck int
	lastLive       uint64
	// ended is why the decoder was starved: decoders hide the errors of readers.
	stopErr error
}

func newDecodeReader(ctx context.Context, r io.Reader, info Info) *decodeReader {
	// What is allocated in one piece at the end must still fit then.
	return &decodeReader{ctx: ctx, r: r, deadline: time.Now().Add(decodeTimeout), base: heapBytes(), maxGrowth: uint64(decodeBudget - info.lateMemory)}
}

// Read implements io.Reader.
func (w *decodeReader) Read(p []byte) (int, error) {
	if w.stopErr == nil {
		w.stopErr = w.check()
	}
	if w.stopErr != nil {
		return 0, w.stopErr
	}
	n, err := w.r.Read(p[:min(len(p), maxRead)])
	w.untilHeapCheck -= n
	if err != nil && err != io.EOF {
		w.stopErr = err
	}
	return n, err
}

func (w *decodeReader) check() error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if time.Now().After(w.deadline) {
		return fileError(TooComplex, "Decoding the picture takes too long.")
	}
	if w.untilHeapCheck <= 0 {
		w.untilHeapCheck = heapCheckEvery
		if w.overBudget() {
			return fileError(NeedsTooMuchMemory, "Decoding the picture needs more than %d MB.", decodeBudget>>20)
		}
	}
	return nil
}

// tooMuch collects before it complains: what is on the heap may be garbage.
func (w *decodeReader) overBudget() bool {
	now := heapBytes()
	if now < w.base+w.maxGrowth || now < w.lastLive+minGrowth {
		return false
	}
	runtime.GC()
	w.lastLive = heapBytes()
	return w.lastLive > w.base+w.maxGrowth
}

// heap is how many bytes objects take on the heap, those not yet collected too.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// judged turns a decoder's complaint into what it is for the caller.
func (w *decodeReader) decodeError(err error) error {
	switch {
	case w.stopErr != nil:
		return w.stopErr
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return truncatedIfEOF(err)
	default:
		return fileError(Unreadable, "The picture is damaged and cannot be decoded.")
	}
}
