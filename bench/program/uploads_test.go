package program

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/internal/platform/picture/picturetest"
)

const (
	// concurrentUploads is how many coaches upload at the same time.
	concurrentUploads = 8
	// uploadRounds is how often each uploads its PDF file.
	uploadRounds = 5
)

// uploads is the memory that concurrent uploads need and the time that they take. Lower is better for all.
type uploads struct {
	// Resident memory in bytes: Idle before the first upload; PDFs the peak while eight PDF files of 10 MiB arrive; Pictures
	// the peak while four PDF files and four copies of a picture arrive, for each of the heaviest pictures.
	Idle, PDFs, Pictures int64
	// The slowest upload of the eight PDF files, and of the rounds with pictures.
	PDF, Picture time.Duration
}

// BenchmarkUploads uploads as eight coaches at once, with files in a folder and in S3. One iteration is a whole measurement:
//
//	go -C bench test ./program -run '^$' -bench Uploads -benchtime 1x
//
// Lower is better for every figure.
func BenchmarkUploads(b *testing.B) {
	for _, engine := range Engines {
		for _, storage := range []string{"folder", "s3"} {
			b.Run(engine+"/"+storage, func(b *testing.B) {
				for b.Loop() {
					u, err := measureUploads(b.Context(), engine, storage)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(u.Idle)/1e6, "idle-MB")
					b.ReportMetric(float64(u.PDFs)/1e6, "pdf-MB")
					b.ReportMetric(u.PDF.Seconds(), "pdf-s")
					b.ReportMetric(float64(u.Pictures)/1e6, "pictures-MB")
					b.ReportMetric(u.Picture.Seconds(), "pictures-s")
				}
			})
		}
	}
}

// measureUploads builds and starts the program and uploads files to it as eight coaches at once.
func measureUploads(ctx context.Context, engine, storage string) (uploads, error) {
	env := []string{testNumbers()}
	if storage == "s3" {
		address, closeBucket, err := openBucket()
		if err != nil {
			return uploads{}, err
		}
		defer closeBucket()
		env = append(env, "TOUCHLINE_FILES="+address)
	}
	s, err := NewServer(ctx, "", engine, "log", env...)
	if err != nil {
		return uploads{}, err
	}
	defer s.Close()
	p, err := s.Start(ctx)
	if err != nil {
		return uploads{}, err
	}
	defer stop(p)
	u := &uploader{client: newClient(s.URL()), pid: p.PID()}
	if err := u.signIn(ctx); err != nil {
		return uploads{}, err
	}
	return u.measure(ctx)
}

// openBucket starts an in-memory S3 server in this process and returns the setting FILES for its bucket.
func openBucket() (string, func(), error) {
	backend := s3mem.New()
	if err := backend.CreateBucket("files"); err != nil {
		return "", nil, err
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	u := url.URL{Scheme: "s3", User: url.UserPassword("key", "secret"), Host: "files", Path: "/"}
	u.RawQuery = url.Values{"endpoint": {server.URL}, "region": {"us-east-1"}}.Encode()
	return u.String(), server.Close, nil
}

// uploader uploads as several coaches.
type uploader struct {
	client  *client
	pid     int
	coaches [concurrentUploads]http.Header
}

// testOTP is the fixed OTP of the coaches' numbers, which get no SMS.
const testOTP = "424242"

func testNumber(i int) string { return fmt.Sprintf("+9199000001%02d", i) }

// testNumbers is the setting TEST_NUMBERS with the coaches' numbers.
func testNumbers() string {
	var numbers []string
	for i := range concurrentUploads {
		numbers = append(numbers, testNumber(i)+"="+testOTP+"@"+time.Now().AddDate(0, 1, 0).Format(time.DateOnly))
	}
	return "TOUCHLINE_TEST_NUMBERS=" + strings.Join(numbers, ",")
}

func (u *uploader) signIn(ctx context.Context) error {
	for i := range u.coaches {
		access, _, err := u.client.signIn(ctx, testNumber(i), "coach", func() string { return testOTP })
		if err != nil {
			return err
		}
		u.coaches[i] = bench.BearerHeader(access)
	}
	return nil
}

func (u *uploader) measure(ctx context.Context) (found uploads, err error) {
	if found.Idle, _, err = bench.Memory(u.pid); err != nil {
		return found, err
	}
	pdf := form("certification", "a.pdf", append(bytes.Repeat([]byte("%PDF-1.7\n"), 10<<20/9), "\n%%EOF\n"...)[:10<<20])
	for range uploadRounds {
		took, err := u.atOnce(ctx, func(int) upload { return pdf })
		if err != nil {
			return found, err
		}
		found.PDF = max(found.PDF, took)
	}
	if _, found.PDFs, err = bench.Memory(u.pid); err != nil {
		return found, err
	}
	for _, h := range picturetest.HeavyPictures() {
		file := h.Make()
		if !h.Accepted || len(file) > 10<<20 {
			continue
		}
		picture := form("certification", "a", file)
		took, err := u.atOnce(ctx, func(i int) upload {
			if i%2 == 0 {
				return picture
			}
			return pdf
		})
		if err != nil {
			return found, fmt.Errorf("%s: %w", h.Name, err)
		}
		found.Picture = max(found.Picture, took)
	}
	_, found.Pictures, err = bench.Memory(u.pid)
	return found, err
}

// upload is the body of an upload with its media type.
type upload struct {
	mediaType string
	body      []byte
}

func form(kind, name string, file []byte) upload {
	if name == "a.pdf" {
		copy(file[len(file)-7:], "\n%%EOF\n")
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.WriteField("kind", kind)            // writing to a buffer does not fail
	part, _ := w.CreateFormFile("file", name) // as above
	_, _ = part.Write(file)
	_ = w.Close()
	return upload{w.FormDataContentType(), b.Bytes()}
}

// atOnce uploads one file as each coach, deletes it again, and returns the time of the slowest upload.
func (u *uploader) atOnce(ctx context.Context, file func(i int) upload) (slowest time.Duration, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i, coach := range u.coaches {
		wg.Go(func() {
			took, failure := u.uploadOnce(ctx, coach, file(i))
			mu.Lock()
			defer mu.Unlock()
			slowest = max(slowest, took)
			if failure != nil {
				err = failure
			}
		})
	}
	wg.Wait()
	return slowest, err
}

func (u *uploader) uploadOnce(ctx context.Context, coach http.Header, file upload) (took time.Duration, err error) {
	header := coach.Clone()
	header.Set("Content-Type", file.mediaType)
	start := time.Now()
	document, err := u.client.send(ctx, http.MethodPost, "/api/coach/documents", header, file.body)
	took = time.Since(start)
	if err != nil {
		return took, err
	}
	id, err := bench.StringMember(document, "document_id")
	if err != nil {
		return took, err
	}
	_, err = u.client.send(ctx, http.MethodDelete, "/api/coach/documents/"+id, coach, nil)
	return took, err
}
