package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/touchline/touchline/internal/platform/httpx"
)

const (
	// attemptTimeout limits an attempt. The specification recommends 15 to 30 s.
	attemptTimeout = 15 * time.Second
	dialTimeout    = 5 * time.Second
	idleTimeout    = 30 * time.Second
	// maxResponse bounds how much of a response is read, in bytes, so that its connection can
	// be used again.
	maxResponse = 16 << 10
	// maxIdleConns limits the connections that stay open for further messages.
	maxIdleConns, maxIdleConnsPerHost = 64, 8
)

// Message is one message to one endpoint.
type Message struct {
	// ID is the same in every attempt.
	ID   string
	URL  string
	Body []byte
	// Secrets sign the message.
	Secrets []string
}

// Response says what an endpoint responded.
type Response struct {
	// Status is the HTTP status, or 0 if there was no response.
	Status int
	// Error says why there was no response. It names neither the URL nor an address.
	Error string
	// RetryAfter is the time for which the endpoint asks to wait, or 0.
	RetryAfter time.Duration
	// Body is the beginning of the body, at most MaxBody characters of valid UTF-8.
	Body string
	// Took is the duration of the attempt.
	Took time.Duration
}

// Sender sends messages. It is safe for concurrent use.
type Sender struct {
	now    func() time.Time
	client *Client
}

// NewSender returns a Sender to public addresses and to private ones in networks. It sends by
// plain http to addresses in networks only. now returns the time for signatures.
func NewSender(networks Networks, now func() time.Time) *Sender {
	return &Sender{now: now, client: NewClient(networks)}
}

// NewOperatorSender returns a Sender to URLs in the settings: to any address, also by plain http, and through the proxy of
// the environment.
func NewOperatorSender(now func() time.Time) *Sender {
	client := newClient(func(netip.Addr) bool { return true })
	client.Transport.(*http.Transport).Proxy = http.ProxyFromEnvironment
	return &Sender{now: now, client: &Client{secure: client, plain: client}}
}

// Client sends requests to URLs that other people chose. It is safe for concurrent use.
type Client struct{ secure, plain *http.Client }

// NewClient returns a Client to public addresses and to private ones in networks. Requests by
// plain http go to networks alone.
func NewClient(networks Networks) *Client {
	return &Client{secure: newClient(networks.Allows), plain: newClient(networks.Contains)}
}

// Do sends a request.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "http" {
		return c.plain.Do(r)
	}
	return c.secure.Do(r)
}

// newClient returns a client that connects to allowed addresses only. It checks the address
// of each connection, because a name can resolve to any address, and to another one later. It
// uses no proxy, which would connect in its place, and follows no redirect.
func newClient(allowed func(netip.Addr) bool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: newDialer(allowed).DialContext, TLSHandshakeTimeout: dialTimeout, ForceAttemptHTTP2: true,
			MaxIdleConns: maxIdleConns, MaxIdleConnsPerHost: maxIdleConnsPerHost, IdleConnTimeout: idleTimeout,
			MaxResponseHeaderBytes: maxResponse, DisableCompression: true,
			TLSClientConfig: tlsConfig(),
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       attemptTimeout,
	}
}

// newDialer returns a dialer that connects to allowed addresses only.
func newDialer(allowed func(netip.Addr) bool) *net.Dialer {
	return &net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		addr, err := netip.ParseAddrPort(address)
		if err != nil || !allowed(addr.Addr()) {
			return errForbidden
		}
		return nil
	}}
}

func tlsConfig() *tls.Config { return &tls.Config{MinVersion: tls.VersionTLS12} }

// Check connects to the host of a URL, with TLS if it is https, and sends no request. Its error names neither the URL nor an address.
func Check(ctx context.Context, networks Networks, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("the URL is invalid")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*dialTimeout)
	defer cancel()
	host, dial := net.JoinHostPort(u.Hostname(), "443"), (&tls.Dialer{NetDialer: newDialer(networks.Allows), Config: tlsConfig()}).DialContext
	if u.Scheme == "http" {
		host, dial = net.JoinHostPort(u.Hostname(), "80"), newDialer(networks.Contains).DialContext
	}
	if u.Port() != "" {
		host = u.Host
	}
	conn, err := dial(ctx, "tcp", host)
	if err != nil {
		return errors.New(describe(err))
	}
	return conn.Close()
}

// errForbidden says that the address of an endpoint is private.
var errForbidden = errors.New("webhook: the address is private")

// Send makes one attempt. It returns an error only if the message cannot be signed.
func (s *Sender) Send(ctx context.Context, m Message) (Response, error) {
	at := s.now()
	signature, err := sign(m.Secrets, m.ID, at, m.Body)
	if err != nil {
		return Response{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return Response{Error: "the URL is invalid"}, nil // the error would repeat it
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "Webhook-Id": {m.ID},
		"Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)}, "Webhook-Signature": {signature},
	}
	r, _ := s.Attempt(req)
	return r, nil
}

// Attempt sends a request. It returns also the body, up to maxResponse bytes, or nil if the connection broke before its end.
func (s *Sender) Attempt(req *http.Request) (Response, []byte) {
	at := s.now()
	req.Header.Set("User-Agent", "Touchline")
	resp, err := s.client.Do(req)
	if err != nil {
		return Response{Error: describe(err), Took: s.now().Sub(at)}, nil
	}
	defer resp.Body.Close()
	// The status decides, whether the body arrives or not. Reading to the end lets the connection be
	// used again.
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	r := Response{
		Status: resp.StatusCode, RetryAfter: httpx.RetryAfter(resp.Header.Get("Retry-After"), at),
		Body: text(body, err != nil || len(body) == maxResponse), Took: s.now().Sub(at),
	}
	if err != nil {
		return r, nil
	}
	return r, body
}

// describe returns a phrase for the log of an endpoint. The error itself has the URL, whose
// path may hold a secret.
func describe(err error) string {
	if errors.Is(err, errForbidden) {
		return "its address is private"
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return "timed out"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "its name does not resolve"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is invalid"
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	return "closed the connection or did not respond with HTTP"
}
