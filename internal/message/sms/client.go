package sms

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/httpx"
)

// maxResponse bounds how much of a response is read, in bytes.
const maxResponse = 64 << 10

// maxWait bounds Retry-After.
const maxWait = 24 * time.Hour

// client calls the HTTP interface of a gateway. Its errors contain no credential, number or
// text.
type client struct {
	host    string
	timeout time.Duration
	http    *http.Client
	now     func() time.Time
}

// newClient returns a client for the host of address, and address parsed. Each attempt
// ends after timeout.
func newClient(address string, timeout time.Duration) (*client, *url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		// The error repeats neither address nor err: both may contain a password.
		return nil, nil, errors.New("an SMS gateway's address must be http or https with a host")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 32
	transport.MaxResponseHeaderBytes = maxResponse
	return &client{host: u.Host, timeout: timeout, now: time.Now, http: &http.Client{
		Transport: transport,
		// Messages go to the configured host only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, u, nil
}

// response is the response of a gateway. body may be cut off or incomplete.
type response struct {
	status int
	header http.Header
	body   []byte
}

// do makes one attempt. The error is the context's if the caller cancelled it, else a
// temporary *message.SendError.
func (c *client) do(ctx context.Context, req *http.Request) (response, error) {
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req.Header.Set("User-Agent", "Touchline")
	res, err := c.http.Do(req.WithContext(bounded))
	if err != nil {
		if ctx.Err() != nil {
			return response{}, ctx.Err()
		}
		return response{}, &message.SendError{Outage: true, Reason: "gateway " + c.host + " " + describe(err)}
	}
	defer res.Body.Close()
	// A read error does not matter: the status already decided. Reading to the end lets the
	// connection be reused.
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	return response{res.StatusCode, res.Header, body}, nil
}

// refused returns the SendError for a response that does not accept the message.
func (c *client) refused(r response, permanent bool) *message.SendError {
	failed := &message.SendError{Permanent: permanent, Reason: fmt.Sprintf("gateway %s responded %d", c.host, r.status)}
	if !permanent {
		failed.Wait = min(httpx.RetryAfter(r.header.Get("Retry-After"), c.now()), maxWait)
		failed.Outage = r.status >= 500 || r.status == http.StatusTooManyRequests || r.status == http.StatusUnauthorized || r.status == http.StatusForbidden
	}
	return failed
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
