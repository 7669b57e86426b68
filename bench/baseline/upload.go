package baseline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/internal/picture/picturetest"
)

// uploadsAtOnce is how many coaches upload at the same time, uploadRounds how often.
const (
	uploadsAtOnce = 8
	uploadRounds  = 5
)

// Storages are where the released program may keep files.
var Storages = []string{"folder", "s3"}

// Uploads is what uploads take of the released program.
type Uploads struct {
	// Idle is the memory in RAM before the first, PDFs the most there ever was while eight PDF files of 10 MiB came in at once,
	// again and again, Pictures the same with the heaviest pictures that are taken in between. All in bytes.
	Idle, PDFs, Pictures int64
	// PDF is how long one of eight took, Picture one picture with its wait for its turn: the longest.
	PDF, Picture time.Duration
}

// String says what was found.
func (u Uploads) String() string {
	mb := func(n int64) float64 { return float64(n) / 1e6 }
	return fmt.Sprintf("%.1f MB resident when idle, at most %.1f MB with eight PDF files of 10 MiB at once (each within %s), at most %.1f MB with the heaviest pictures beside them (each within %s)",
		mb(u.Idle), mb(u.PDFs), u.PDF.Round(10*time.Millisecond), mb(u.Pictures), u.Picture.Round(10*time.Millisecond))
}

// MeasureUploads has eight coaches upload at once.
func MeasureUploads(ctx context.Context, engine, storage string) (Uploads, error) {
	s, err := NewServer(ctx, engine, "log")
	if err != nil {
		return Uploads{}, err
	}
	defer s.Close()
	if storage == "s3" {
		address, done, err := openBucket()
		if err != nil {
			return Uploads{}, err
		}
		defer done()
		s.env = append(s.env, "TOUCHLINE_FILES="+address)
	}
	p, err := s.Start(ctx)
	if err != nil {
		return Uploads{}, err
	}
	defer p.Stop(ctx) //nolint:errcheck // what it leaves is removed
	u := &uploader{url: "http://" + s.address, pid: p.PID()}
	if err := u.signIn(); err != nil {
		return Uploads{}, err
	}
	return u.measure()
}

// openBucket starts an S3 server in this process, in memory, and returns the address of a bucket.
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

// uploader is eight coaches.
type uploader struct {
	url    string
	pid    int
	tokens [uploadsAtOnce]string
}

func (u *uploader) signIn() error {
	for i := range u.tokens {
		number := testNumber(i)
		if _, err := u.send(http.MethodPost, "/auth/request-otp", "", "application/json", `{"mobile_number":"`+number+`"}`); err != nil {
			return err
		}
		answer, err := u.send(http.MethodPost, "/auth/login", "", "application/json", `{"mobile_number":"`+number+`","otp":"`+testCode+`"}`)
		if err != nil {
			return err
		}
		var in struct {
			AccessToken string `json:"access_token"`
		}
		if err := json.Unmarshal(answer, &in); err != nil {
			return err
		}
		u.tokens[i] = in.AccessToken
	}
	return nil
}

func (u *uploader) measure() (found Uploads, err error) {
	if found.Idle, err = bench.Resident(u.pid); err != nil {
		return found, err
	}
	pdf := form("certification", "a.pdf", append(bytes.Repeat([]byte("%PDF-1.7\n"), 10<<20/9), "\n%%EOF\n"...)[:10<<20])
	for range uploadRounds {
		took, err := u.atOnce(func(int) upload { return pdf })
		if err != nil {
			return found, err
		}
		found.PDF = max(found.PDF, took)
	}
	if found.PDFs, err = bench.Peak(u.pid); err != nil {
		return found, err
	}
	for _, h := range picturetest.HeavyPictures() {
		file := h.Make()
		if !h.Accepted || len(file) > 10<<20 {
			continue
		}
		picture := form("certification", "a", file)
		took, err := u.atOnce(func(i int) upload {
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
	found.Pictures, err = bench.Peak(u.pid)
	return found, err
}

// upload is one that can be sent again and again.
type upload struct{ mediaType, body string }

func form(kind, name string, file []byte) upload {
	if name == "a.pdf" {
		copy(file[len(file)-7:], "\n%%EOF\n")
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.WriteField("kind", kind)            // a buffer takes everything
	part, _ := w.CreateFormFile("file", name) // as above
	_, _ = part.Write(file)
	_ = w.Close()
	return upload{w.FormDataContentType(), b.String()}
}

// atOnce has each coach upload one file and delete it, and returns the longest time that an upload took.
func (u *uploader) atOnce(file func(i int) upload) (longest time.Duration, err error) {
	var wait sync.WaitGroup
	var mu sync.Mutex
	for i := range u.tokens {
		wait.Go(func() {
			sent := file(i)
			start := time.Now()
			answer, failure := u.send(http.MethodPost, "/api/coach/documents", u.tokens[i], sent.mediaType, sent.body)
			took := time.Since(start)
			if failure == nil {
				var made struct {
					ID string `json:"document_id"`
				}
				if failure = json.Unmarshal(answer, &made); failure == nil {
					_, failure = u.send(http.MethodDelete, "/api/coach/documents/"+made.ID, u.tokens[i], "", "")
				}
			}
			mu.Lock()
			defer mu.Unlock()
			longest = max(longest, took)
			if failure != nil {
				err = failure
			}
		})
	}
	wait.Wait()
	return longest, err
}

func (u *uploader) send(method, path, token, mediaType, body string) ([]byte, error) {
	req, err := http.NewRequest(method, u.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", mediaType)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode > 299 {
		err = fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, answer)
	}
	return answer, err
}
