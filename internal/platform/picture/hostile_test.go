package picture_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/picture"
	"github.com/touchline/touchline/internal/platform/picture/picturetest"
)

// TestHostileUploads checks that each hostile upload is refused with its code or
// made harmless, and that none takes minutes.
func TestHostileUploads(t *testing.T) {
	for _, u := range hostileUploads() {
		t.Run(u.Name, func(t *testing.T) {
			start := time.Now()
			info, err := picture.Inspect(bytes.NewReader(u.Bytes), int64(len(u.Bytes)))
			var files map[string][]byte
			if err == nil && info.IsPicture() {
				_, files, err = process(t, u.Bytes, picture.ProfileSizes)
			}
			if took := time.Since(start); took > 2*time.Minute { // with the race detector on a busy machine; alone the slowest takes 1.6 s
				t.Errorf("took %s", took)
			}
			if u.Want != "" {
				wantFileError(t, err, u.Want)
				return
			}
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			for size, file := range files {
				decodeImage(t, file)
				for _, trace := range []string{"alert", "PK\x03\x04", "GPS", "Exif"} {
					if bytes.Contains(file, []byte(trace)) {
						t.Errorf("output %s contains %q", size, trace)
					}
				}
			}
		})
	}
}

func wantFileError(t *testing.T, err error, code string) {
	t.Helper()
	r, ok := errors.AsType[*picture.FileError](err)
	if !ok || r.Code != code {
		t.Fatalf("got error %v, want code %s", err, code)
	}
	problem := r.Fault("/file")
	if code == picture.UnsupportedType {
		if fault.KindOf(problem) != fault.UnsupportedMedia || fault.CodeOf(problem) != "unsupported_media_type" {
			t.Errorf("got fault %v, want unsupported_media_type", problem)
		}
		return
	}
	e, ok := errors.AsType[*fault.Error](problem)
	if !ok || e.Kind != fault.Invalid || e.Fields[0].Pointer != "/file" || e.Fields[0].Code != code || e.Fields[0].Detail == "" {
		t.Errorf("got fault %+v, want 422 with code %s at /file", e, code)
	}
}

func TestLimitsCheckedBeforeDecoding(t *testing.T) {
	for _, u := range hostileUploads() {
		switch {
		case u.Want == picture.TooManyPixels, u.Want == picture.TooComplex, u.Want == picture.Animated, strings.Contains(u.Name, "its canvas"),
			u.Want == picture.NeedsTooMuchMemory && !strings.Contains(u.Name, "codes"): // its size is not in the header
			_, err := picture.Inspect(bytes.NewReader(u.Bytes), int64(len(u.Bytes)))
			if err == nil {
				t.Errorf("%s: got no error", u.Name)
				continue
			}
			wantFileError(t, err, u.Want)
		}
	}
}

// TestZIPSignaturesAcrossBlocks moves a ZIP archive in a PDF over the blocks that are read at
// once.
func TestZIPSignaturesAcrossBlocks(t *testing.T) {
	archive := zipArchive()
	for pad := 32<<10 - len(archive) - 200; pad < 32<<10+8; pad++ {
		file := pdfWith(slices.Concat(make([]byte, pad), archive, make([]byte, 70_000)))
		_, err := picture.Inspect(bytes.NewReader(file), int64(len(file)))
		if e, ok := errors.AsType[*picture.FileError](err); !ok || e.Code != picture.Ambiguous {
			t.Fatalf("archive after %d bytes: got %v, want %s", pad, err, picture.Ambiguous)
		}
	}
}

// countingReader counts the calls of ReadAt.
type countingReader struct {
	io.ReaderAt
	reads int
}

func (r *countingReader) ReadAt(p []byte, at int64) (int, error) {
	r.reads++
	return r.ReaderAt.ReadAt(p, at)
}

// TestReadsAreBounded checks that no upload costs more than some thousand reads: a file of
// empty chunks would else cost one for each 8 bytes.
func TestReadsAreBounded(t *testing.T) {
	for _, u := range hostileUploads() {
		r := &countingReader{ReaderAt: bytes.NewReader(u.Bytes)}
		_, _ = picture.Inspect(r, int64(len(u.Bytes)))
		if r.reads > 25_000 {
			t.Errorf("%s: %d reads of %d bytes", u.Name, r.reads, len(u.Bytes))
		}
	}
}

// TestTruncatedFiles cuts a file of each type at every length.
func TestTruncatedFiles(t *testing.T) {
	for name, file := range map[string][]byte{
		"png": picturetest.PNG(picturetest.FourCorners(9, 7)), "jpeg": picturetest.JPEG(picturetest.FourCorners(9, 7)),
		"webp": picturetest.FlatLossless(9, 7, true), "lossy webp": testdata(t, "blue-purple-pink.lossy.webp"), "pdf": []byte(smallPDF),
	} {
		for n := 0; n < len(file)-1; n++ {
			if name == "jpeg" && n == len(file)-2 {
				continue // no pixel is missing: see TestJPEGWithoutEnd
			}
			info, err := picture.Inspect(bytes.NewReader(file[:n]), int64(n))
			if err == nil && info.IsPicture() {
				_, _, err = process(t, file[:n], picture.DocumentSizes)
			}
			if _, ok := errors.AsType[*picture.FileError](err); !ok {
				t.Errorf("%s cut at %d of %d: got error %v, want a FileError", name, n, len(file), err)
			}
		}
	}
}

// TestCancelStopsProcess cancels one decode and two callers that wait for the slot.
func TestCancelStopsProcess(t *testing.T) {
	file := picturetest.SyntheticJPEG(0xc2, 4096, 4096, picturetest.YUV420, 30)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			_, err := picture.Process(ctx, bytes.NewReader(file), int64(len(file)), picture.Options{
				Sizes: picture.ProfileSizes, Create: func(picture.Size) (io.Writer, error) { return io.Discard, nil },
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("err = %v", err)
			}
		})
	}
	time.Sleep(50 * time.Millisecond) // some have begun by then; a context that ends before they do has the same result
	start := time.Now()
	cancel()
	all.Wait()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Process returned %s after the cancel, want at most 5 s", took)
	}
}

func TestCancelWhileWaitingForSlot(t *testing.T) {
	file := picturetest.PNG(picturetest.FourCorners(64, 48))
	started, release, ended := make(chan bool), make(chan bool), make(chan error)
	go func() {
		_, err := picture.Process(context.Background(), bytes.NewReader(file), int64(len(file)), picture.Options{
			Sizes: picture.DocumentSizes, Create: func(picture.Size) (io.Writer, error) { close(started); <-release; return io.Discard, nil },
		})
		ended <- err
	}()
	<-started
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	waited := make(chan error, 1)
	go func() {
		_, err := picture.Process(ctx, bytes.NewReader(file), int64(len(file)), picture.Options{})
		waited <- err
	}()
	select {
	case err := <-waited:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("Process still waits 5 s after its deadline")
	}
	close(release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWriterErrorIsReturned(t *testing.T) {
	file, full := picturetest.PNG(picturetest.FourCorners(64, 48)), fault.Down(errors.New("no space"))
	for _, create := range []func(picture.Size) (io.Writer, error){
		func(picture.Size) (io.Writer, error) { return nil, full },
		func(picture.Size) (io.Writer, error) { return failingWriter{full}, nil },
	} {
		_, err := picture.Process(context.Background(), bytes.NewReader(file), int64(len(file)), picture.Options{Sizes: picture.ProfileSizes, Create: create})
		if !errors.Is(err, full) {
			t.Errorf("err = %v", err)
		}
	}
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

// FuzzInspect checks that Inspect returns an Info within the limits or a FileError,
// and that Process writes readable pictures or returns a FileError.
func FuzzInspect(f *testing.F) {
	for _, u := range hostileUploads() {
		if len(u.Bytes) < 20_000 {
			f.Add(u.Bytes)
		}
	}
	for _, name := range []string{"blue-purple-pink.lossy.webp", "gopher-doc.with-alpha.lossless.webp", "gopher-doc.8bpp.lossless.webp"} {
		f.Add(testdata(f, name))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		info, err := picture.Inspect(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			if _, ok := errors.AsType[*picture.FileError](err); !ok {
				t.Fatal(err)
			}
			return
		}
		if !info.IsPicture() {
			return
		}
		if info.Width < 1 || info.Height < 1 || info.Width > picture.MaxSide || info.Height > picture.MaxSide || info.Width*info.Height > picture.MaxPixels {
			t.Fatalf("%+v", info)
		}
		if info.Width*info.Height > 1<<20 {
			return // too slow for fuzzing
		}
		made, files, err := process(t, file, picture.ProfileSizes)
		if _, refused := errors.AsType[*picture.FileError](err); refused {
			return
		}
		if err != nil || len(made.Pictures) != 3 {
			t.Fatal(err, made)
		}
		for _, p := range made.Pictures {
			if got := decodeImage(t, files[p.Name]).Bounds(); got.Dx() != p.Width || got.Dy() != p.Height || max(p.Width, p.Height) > p.Longest {
				t.Fatalf("Process reported %+v, the file has %v", p, got)
			}
		}
	})
}

// TestIsEncrypted: the entry of a trailer, a trailer as a stream, also over blocks, and nothing else.
func TestIsEncrypted(t *testing.T) {
	for entry, want := range map[string]bool{
		"/Encrypt 12 0 R": true, "/Encrypt\r\n12 0 R": true, "/Encrypt<</Filter/Standard>>": true, "/Encrypt <<": true,
		"/EncryptMetadata false": false, "/Encrypt": false, "Encrypt 12 0 R": false, "/Encrypt true": false, "": false,
	} {
		for _, before := range []int{0, 32_768 - 70, 32_768 - 20, 32_768 - 8, 32_768, 100_000} {
			file := pdfWith([]byte(strings.Repeat(" ", before) + entry))
			got, err := picture.IsEncrypted(bytes.NewReader(file), int64(len(file)))
			if err != nil || got != want {
				t.Errorf("%q after %d bytes: %t, %v", entry, before, got, err)
			}
		}
	}
}
