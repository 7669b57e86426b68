package browser_test

import (
	"bytes"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// formClient is a coach who uses the pages without a browser, for tests to which a browser
// adds nothing.
type formClient struct {
	t       testing.TB
	url     string
	client  *http.Client
	account string
}

// newFormClient registers a coach and signs it in to the pages.
func newFormClient(t testing.TB, s *touchlinetest.Service, number string) (*touchlinetest.User, *formClient) {
	t.Helper()
	coach := s.Coach(t, number)
	c := newVisitor(t, s.URL)
	c.account = coach.ID
	s.Clock.Skip(2 * time.Minute) // past OTP_RESEND_AFTER
	c.signIn(s, "coach", number)
	return coach, c
}

// newVisitor returns a client without cookies.
func newVisitor(t testing.TB, url string) *formClient {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &formClient{t: t, url: url, client: &http.Client{Jar: jar, Timeout: touchlinetest.CallLimit}}
	t.Cleanup(c.client.CloseIdleConnections)
	return c
}

// signIn signs the client in to the pages of a role.
func (c *formClient) signIn(s *touchlinetest.Service, role, number string) {
	c.t.Helper()
	sent := s.Sent(number, "otp")
	c.post("/sign-in/"+role, "number", number, "remember", "yes")
	c.post("/sign-in/code", "code", s.OTP(number, sent))
}

// answer is a page with its status and the path at which redirects ended. Its entities
// are decoded.
type answer struct {
	t      testing.TB
	status int
	path   string
	body   string
	raw    string // body before its entities were decoded
	header http.Header
}

func (c *formClient) get(path string) answer {
	c.t.Helper()
	return c.do("GET", path, "", nil)
}

// post sends a form; the pairs are names and values in turn.
func (c *formClient) post(path string, pairs ...string) answer {
	c.t.Helper()
	form := url.Values{"account": {c.account}}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return c.do("POST", path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

// upload sends a form with a file.
func (c *formClient) upload(path string, file []byte, pairs ...string) answer {
	c.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := 0; i < len(pairs); i += 2 {
		_ = w.WriteField(pairs[i], pairs[i+1])
	}
	part, _ := w.CreateFormFile("file", "players.csv")
	_, _ = part.Write(file)
	_ = w.Close()
	return c.do("POST", path, w.FormDataContentType(), &body)
}

func (c *formClient) do(method, path, mediaType string, body io.Reader) answer {
	c.t.Helper()
	req, err := http.NewRequest(method, c.url+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Accept-Language", "en")
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
		req.Header.Set("Referer", c.url+path)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{c.t, resp.StatusCode, resp.Request.URL.RequestURI(), html.UnescapeString(string(content)), string(content), resp.Header}
}

// want fails the test unless the page has this status and every text.
func (a answer) want(status int, texts ...string) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: got status %d, want %d\n%s", a.path, a.status, status, a.body)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			a.t.Errorf("%s: the page does not have %q:\n%s", a.path, text, a.body)
		}
	}
	return a
}

// without fails the test if the page has one of the texts.
func (a answer) without(texts ...string) answer {
	a.t.Helper()
	for _, text := range texts {
		if strings.Contains(a.body, text) {
			a.t.Errorf("%s: the page has %q", a.path, text)
		}
	}
	return a
}
