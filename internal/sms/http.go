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

	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
)

// maxResponse bounds how much of a response is read, in bytes. Only the status
// matters; the body is read to the end so that the connection can be reused.
const maxResponse = 64 << 10

// maxWait bounds Retry-After.
const maxWait = 24 * time.Hour

// HTTP posts messages as JSON to a gateway:
//
//	{"id": "…", "to": "+919876543210", "text": "…", "kind": "otp"}
//
// A 2xx status means accepted. 400, 410 and 422 are permanent failures. Any other
// status, redirects included, is a temporary failure; Retry-After is respected.
type HTTP struct {
	url            string
	user, password string
	host           string
	timeout        time.Duration
	client         *http.Client
	now            func() time.Time
}

// NewHTTP returns an HTTP that posts to address, which may contain a user and a
// password. Each attempt ends after timeout.
func NewHTTP(address string, timeout time.Duration) (*HTTP, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		// The error repeats neither address nor err: both may contain a password.
		return nil, errors.New("an SMS gateway's address must be http or https with a host")
	}
	password, _ := u.User.Password()
	h := &HTTP{user: u.User.Username(), password: password, host: u.Host, timeout: timeout, now: time.Now}
	u.User = nil
	h.url = u.String()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.MaxResponseHeaderBytes = maxResponse
	h.client = &http.Client{
		Transport: transport,
		// Messages go to the configured host only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return h, nil
}

// Send posts m.
func (h *HTTP) Send(ctx context.Context, m Message) error {
	bounded, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	req, err := h.request(bounded, m)
	if err != nil {
		return err
	}
	res, err := h.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &notify.SendError{Reason: "gateway " + h.host + " " + describe(err)}
	}
	defer res.Body.Close()
	// A read error does not matter: the status already decided.
	_, _ = io.CopyN(io.Discard, res.Body, maxResponse)
	return h.result(res)
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
		return nil, &notify.SendError{Permanent: true, Reason: "encode message as JSON"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, &body)
	if err != nil {
		return nil, &notify.SendError{Permanent: true, Reason: "invalid gateway address"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Touchline")
	if h.user != "" || h.password != "" {
		req.SetBasicAuth(h.user, h.password)
	}
	return req, nil
}

// result maps the status to nil or a SendError.
func (h *HTTP) result(res *http.Response) error {
	failed := &notify.SendError{Reason: fmt.Sprintf("gateway %s responded %d", h.host, res.StatusCode)}
	switch {
	case res.StatusCode >= 200 && res.StatusCode < 300:
		return nil
	case res.StatusCode == http.StatusBadRequest, res.StatusCode == http.StatusGone, res.StatusCode == http.StatusUnprocessableEntity:
		failed.Permanent = true
	default:
		failed.Wait = retryAfter(res.Header.Get("Retry-After"), h.now())
	}
	return failed
}

// retryAfter parses a Retry-After header (RFC 9110, section 10.2.3): seconds or a
// date. It returns zero if the header is absent or invalid.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxWait)
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(max(at.Sub(now), 0), maxWait)
	}
	return 0
}

// describe returns a safe phrase for err. The error itself may contain the URL with
// its credentials, or response bytes that repeat the message.
func describe(err error) string {
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return "timed out"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "does not resolve"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "has an invalid certificate"
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return "is unreachable: " + number.Error()
	}
	return "closed the connection or did not respond with HTTP"
}
