package sms

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/touchline/touchline/internal/phone"
)

// maxAnswer is how much of a gateway's answer is read, in bytes: only its status
// counts, and what is read to the end keeps the connection.
const maxAnswer = 64 << 10

// maxWait bounds how long a gateway may keep us away.
const maxWait = 24 * time.Hour

// HTTP posts messages as JSON to a gateway:
//
//	{"id": "…", "to": "+919876543210", "text": "…", "kind": "otp"}
//
// Any 2xx accepts. 400, 410 and 422 refuse for good; everything else, redirects
// among it, may be tried again, after Retry-After where the gateway says so.
type HTTP struct {
	url            string
	user, password string
	host           string
	limit          time.Duration
	client         *http.Client
	now            func() time.Time
}

// NewHTTP returns an HTTP that posts to address, which may hold a user and a
// password, and gives up after limit.
func NewHTTP(address string, limit time.Duration) (*HTTP, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		// Neither address nor err are repeated: they may hold a password.
		return nil, errors.New("an SMS gateway's address must be http or https with a host")
	}
	password, _ := u.User.Password()
	h := &HTTP{user: u.User.Username(), password: password, host: u.Host, limit: limit, now: time.Now}
	u.User = nil
	h.url = u.String()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.MaxResponseHeaderBytes = maxAnswer
	h.client = &http.Client{
		Transport: transport,
		// A message goes where the configuration says and nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return h, nil
}

// Send posts m.
func (h *HTTP) Send(ctx context.Context, m Message) error {
	limited, cancel := context.WithTimeout(ctx, h.limit)
	defer cancel()
	req, err := h.request(limited, m)
	if err != nil {
		return err
	}
	res, err := h.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &Failure{Reason: "gateway " + h.host + " " + reason(err)}
	}
	defer res.Body.Close()
	// A body that cannot be read changes nothing: the status was the answer.
	_, _ = io.CopyN(io.Discard, res.Body, maxAnswer)
	return h.judge(res)
}

func (h *HTTP) request(ctx context.Context, m Message) (*http.Request, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(struct {
		ID   string       `json:"id"`
		To   phone.Number `json:"to"`
		Text string       `json:"text"`
		Kind Kind         `json:"kind"`
	}{m.ID, m.To, m.Text, m.Kind})
	if err != nil {
		return nil, &Failure{Refused: true, Reason: "the message cannot be written as JSON"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, &body)
	if err != nil {
		return nil, &Failure{Refused: true, Reason: "the gateway's address cannot be used"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Touchline")
	if h.user != "" || h.password != "" {
		req.SetBasicAuth(h.user, h.password)
	}
	return req, nil
}

func (h *HTTP) judge(res *http.Response) error {
	failure := &Failure{Reason: fmt.Sprintf("gateway %s answered %d", h.host, res.StatusCode)}
	switch {
	case res.StatusCode >= 200 && res.StatusCode < 300:
		return nil
	case res.StatusCode == http.StatusBadRequest, res.StatusCode == http.StatusGone, res.StatusCode == http.StatusUnprocessableEntity:
		failure.Refused = true
	default:
		failure.Wait = wait(res.Header.Get("Retry-After"), h.now())
	}
	return failure
}

// wait reads a Retry-After (RFC 9110, section 10.2.3): seconds or a date.
func wait(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxWait)
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(max(at.Sub(now), 0), maxWait)
	}
	return 0
}

// reason is a phrase for err. The errors themselves hold addresses with their
// keys, and bytes of answers that may repeat the message.
func reason(err error) string {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return "did not answer in time"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "has a name that cannot be resolved"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "has a certificate that is not accepted"
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return "cannot be reached: " + number.Error()
	}
	return "broke the connection, or does not speak HTTP"
}
