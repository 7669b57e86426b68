package picture

import (
	"context"
	"errors"
	"image/jpeg"
	"io"
	"runtime"
	"runtime/metrics"
	"time"
)

// decodeBudget is how many bytes one decode may hold. A process may use 192 MB:
// about 28 when idle, 20 for other requests, the rest is this. It is enough for a
// picture of 16 megapixels with 8 bytes a pixel, for a progressive 4:2:0 JPEG of 16 megapixels, and for an ordinary one of 50
// together with its copy of 4096 × 3072.
const decodeBudget = 140 << 20

// MemoryLimit is the least value for debug.SetMemoryLimit, in bytes, in a process that
// decodes pictures: the budget and the rest of the heap. Without a limit the heap grows
// to a multiple of a picture before the collector runs. The service has a higher one.
const MemoryLimit = decodeBudget + 18<<20

// freeMemoryAbove is the decode size, in bytes, above which memory is returned to
// the system between two steps.
const freeMemoryAbove = 8 << 20

const (
	// decodeTimeout bounds the time of one decode.
	decodeTimeout = 20 * time.Second
	// maxRead bounds the bytes per read: a few bytes may cause much work, so checks
	// must be frequent.
	maxRead = 256
	// heapCheckEvery is the number of bytes between two checks of the heap.
	heapCheckEvery = 4 << 10
	// minGrowth is how much the heap must grow, in bytes, before the next forced collection.
	minGrowth = 8 << 20
)

// decodeReader feeds a decoder. It fails once the caller has left, the decode takes
// too long or the heap has grown by more than the budget. Decoders have no such
// limits, and the size of the tables of a lossless WebP, up to 130 MB, is not in
// its header.
type decodeReader struct {
	ctx      context.Context
	r        io.Reader
	deadline time.Time
	// base is the heap size before the decode; maxGrowth is how much it may grow.
	base, maxGrowth uint64

	untilHeapCheck int
	lastLive       uint64
	// stopErr is the error returned to the decoder: decoders hide errors of their reader.
	stopErr error
}

func newDecodeReader(ctx context.Context, r io.Reader, info Info) *decodeReader {
	// Reserve memory for the allocation at the end of the decode.
	return &decodeReader{ctx: ctx, r: r, deadline: time.Now().Add(decodeTimeout), base: heapBytes(), maxGrowth: uint64(decodeBudget - info.lateMemory)}
}

// Read implements io.Reader.
func (d *decodeReader) Read(p []byte) (int, error) {
	if d.stopErr == nil {
		d.stopErr = d.check()
	}
	if d.stopErr != nil {
		return 0, d.stopErr
	}
	n, err := d.r.Read(p[:min(len(p), maxRead)])
	d.untilHeapCheck -= n
	if err != nil && err != io.EOF {
		d.stopErr = err
	}
	return n, err
}

func (d *decodeReader) check() error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	if time.Now().After(d.deadline) {
		return fileError(TooComplex, "The picture takes too long to decode. Save it again, or send another one.")
	}
	if d.untilHeapCheck <= 0 {
		d.untilHeapCheck = heapCheckEvery
		if d.overBudget() {
			return fileError(NeedsTooMuchMemory, "The picture needs more than %d MB to decode. Send a smaller one.", decodeBudget>>20)
		}
	}
	return nil
}

// overBudget reports whether live memory exceeds the limit. It collects garbage
// before it decides.
func (d *decodeReader) overBudget() bool {
	now := heapBytes()
	if now < d.base+d.maxGrowth || now < d.lastLive+minGrowth {
		return false
	}
	runtime.GC()
	d.lastLive = heapBytes()
	return d.lastLive > d.base+d.maxGrowth
}

// heapBytes returns the size of all heap objects, including garbage.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// isUnsupported reports whether a JPEG is whole, but of a kind that image/jpeg does not read, such as a rare ratio of brightness and colour.
func isUnsupported(err error) bool {
	_, ok := errors.AsType[jpeg.UnsupportedError](err)
	return ok
}

// decodeError returns the reason for a failed decode: stopErr if set, else a FileError.
func (d *decodeReader) decodeError(err error) error {
	switch {
	case d.stopErr != nil:
		return d.stopErr
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return truncatedIfEOF(err)
	case isUnsupported(err):
		return fileError(Unreadable, "The JPEG uses a rare coding of colours. Open it and save it as an ordinary JPEG, or send a screenshot of it.")
	default:
		return fileError(Unreadable, "The picture is damaged. Send another file.")
	}
}
