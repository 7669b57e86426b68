package picture_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/picture"
	"github.com/touchline/touchline/internal/picture/picturetest"
)

// TestHostile: what strangers send is refused with a code that says why, or is made
// harmless, and soon.
func TestHostileUploads(t *testing.T) {
	for _, u := range picturetest.Hostile() {
		t.Run(u.Name, func(t *testing.T) {
			start := time.Now()
			info, err := picture.Inspect(bytes.NewReader(u.Bytes), int64(len(u.Bytes)))
			var files map[string][]byte
			if err == nil && info.IsPicture() {
				_, files, err = process(t, u.Bytes, picture.ProfileSizes)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
			if u.Want != "" {
				wantRefusal(t, err, u.Want)
				return
			}
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			for size, file := range files {
				decodeImage(t, file)
				for _, trace := range []string{"alert", "PK\x03\x04", "GPS", "Exif"} {
					if bytes.Contains(file, []byte(trace)) {
						t.Errorf("%s holds %q", size, trace)
					}
				}
			}
		})
	}
}

func wantRefusal(t *testing.T, err error, code string) {
	t.Helper()
	r, ok := errors.AsType[*picture.FileError](err)
	if !ok || r.Code != code {
		t.Fatalf("err = %v, want %s", err, code)
	}
	problem := r.Fault("/file")
	if code == picture.UnsupportedType {
		if fault.KindOf(problem) != fault.UnsupportedMedia || fault.CodeOf(problem) != "unsupported_media_type" {
			t.Errorf("problem %v", problem)
		}
		return
	}
	e, ok := errors.AsType[*fault.Error](problem)
	if !ok || e.Kind != fault.Invalid || e.Fields[0].Pointer != "/file" || e.Fields[0].Code != code || e.Fields[0].Detail == "" {
		t.Errorf("problem %+v", e)
	}
}

// TestBeforeDecoding: what is too much is refused by what the headers say.
func TestLimitsCheckedBeforeDecoding(t *testing.T) {
	for _, u := range picturetest.Hostile() {
		switch {
		case u.Want == picture.TooManyPixels, u.Want == picture.TooComplex, u.Want == picture.Animated, strings.Contains(u.Name, "its canvas"),
			u.Want == picture.NeedsTooMuchMemory && !strings.Contains(u.Name, "codes"): // those show in no header
			_, err := picture.Inspect(bytes.NewReader(u.Bytes), int64(len(u.Bytes)))
			if err == nil {
				t.Errorf("%s is taken", u.Name)
				continue
			}
			wantRefusal(t, err, u.Want)
		}
	}
}

// TestTruncated: a file of each kind, cut at every length, never passes whole, and
// never fails otherwise than with a Refusal.
func TestTruncatedFiles(t *testing.T) {
	for name, file := range map[string][]byte{
		"png": picturetest.PNG(picturetest.FourCorners(9, 7)), "jpeg": picturetest.JPEG(picturetest.FourCorners(9, 7)),
		"webp": picturetest.FlatLossless(9, 7, true), "lossy webp": testdata(t, "blue-purple-pink.lossy.webp"), "pdf": []byte(picturetest.PDF),
	} {
		for n := 0; n < len(file)-1; n++ {
			info, err := picture.Inspect(bytes.NewReader(file[:n]), int64(n))
			if err == nil && info.IsPicture() {
				_, _, err = process(t, file[:n], picture.DocumentSizes)
			}
			if _, ok := errors.AsType[*picture.FileError](err); !ok {
				t.Errorf("%s cut at %d of %d: %v", name, n, len(file), err)
			}
		}
	}
}

// TestLeaving: a caller who leaves ends the wait for a turn, and the decoding.
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
	time.Sleep(50 * time.Millisecond)
	start := time.Now()
	cancel()
	all.Wait()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("left after %s", took)
	}
}

// TestWaiting: whoever waits for a turn may leave while another is at work.
func TestCancelWhileWaitingForSlot(t *testing.T) {
	file := picturetest.PNG(picturetest.FourCorners(64, 48))
	begun, end, ended := make(chan bool), make(chan bool), make(chan error)
	go func() {
		_, err := picture.Process(context.Background(), bytes.NewReader(file), int64(len(file)), picture.Options{
			Sizes: picture.DocumentSizes, Create: func(picture.Size) (io.Writer, error) { close(begun); <-end; return io.Discard, nil },
		})
		ended <- err
	}()
	<-begun
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	left := make(chan error, 1)
	go func() {
		_, err := picture.Process(ctx, bytes.NewReader(file), int64(len(file)), picture.Options{})
		left <- err
	}()
	select {
	case err := <-left:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("it waits on")
	}
	close(end)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestWriting: what Create or its writer says comes back as it is.
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

// FuzzInspect: whatever comes, Inspect answers with an Info within the limits or a
// Refusal; and what it takes, Process takes or refuses, and can be read again.
func FuzzInspect(f *testing.F) {
	for _, u := range picturetest.Hostile() {
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
			return // it would take long
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
				t.Fatalf("%+v is %v", p, got)
			}
		}
	})
}
