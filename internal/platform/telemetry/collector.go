package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// firstRetry is the wait before the second attempt at an export; each later wait is twice as long.
const firstRetry = time.Second

// collector sends spans to an OpenTelemetry collector by http/protobuf. It is the client of otlptrace in place of otlptracehttp, which links gRPC
// without a call of it: 66 packages.
type collector struct {
	http    *http.Client
	url     string
	header  http.Header
	timeout time.Duration
	gzip    bool
}

// variable returns the value of a variable OTEL_EXPORTER_OTLP_… of the traces, or else of all signals.
func variable(name string) string {
	if value := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_" + name); value != "" {
		return value
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_" + name)
}

// newCollector reads the variables OTEL_EXPORTER_OTLP_… (OpenTelemetry specification, OTLP exporter). It does not connect.
func newCollector() (*collector, error) {
	c := &collector{http: &http.Client{}, timeout: 10 * time.Second, header: http.Header{"Content-Type": {"application/x-protobuf"}}}
	c.url = os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if c.url == "" {
		c.url = strings.TrimSuffix(os.Getenv(endpoint), "/") + "/v1/traces"
	}
	if target, err := url.Parse(c.url); err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return nil, errors.New(endpoint + " is not a URL such as http://collector:4318")
	}
	for pair := range strings.SplitSeq(variable("HEADERS"), ",") {
		pair = strings.TrimSpace(pair)
		if pair == "" {
			continue
		}
		name, escaped, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(escaped))
		if !found || err != nil {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS is not a list such as key=value,other=value")
		}
		c.header.Set(strings.TrimSpace(name), value)
	}
	if text := variable("TIMEOUT"); text != "" {
		milliseconds, err := strconv.Atoi(text)
		if err != nil || milliseconds <= 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q, not a number of milliseconds", text)
		}
		c.timeout = time.Duration(milliseconds) * time.Millisecond
	}
	c.gzip = variable("COMPRESSION") == "gzip"
	if c.gzip {
		c.header.Set("Content-Encoding", "gzip")
	}
	return c, c.trust(variable("CERTIFICATE"), variable("CLIENT_CERTIFICATE"), variable("CLIENT_KEY"))
}

// trust reads the certificates of files in PEM: that of the collector's authority, and that of this client. Empty paths are left out.
func (c *collector) trust(authority, certificate, key string) error {
	if authority == "" && certificate == "" {
		return nil
	}
	config := &tls.Config{}
	if authority != "" {
		pem, err := os.ReadFile(authority)
		if err != nil {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return errors.New("OTEL_EXPORTER_OTLP_CERTIFICATE has no certificate")
		}
	}
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	c.http.Transport = transport
	return nil
}

// Start implements otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It repeats an attempt that the collector could not take for now, until its timeout.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	// TracesData has the bytes of an ExportTraceServiceRequest, whose package links gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err == nil && c.gzip {
		body, err = compressed(body)
	}
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	for wait := firstRetry; ; wait *= 2 {
		after, err := c.post(ctx, body)
		if after < 0 || err == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(max(wait, after)):
		}
	}
}

// post sends a body once. After an error the wait is how long the collector asks to wait, negative if another attempt would fail, too.
func (c *collector) post(ctx context.Context, body []byte) (wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	request.Header = c.header.Clone()
	response, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // so that the connection can be used again
	switch response.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return time.Duration(max(seconds, 0)) * time.Second, fmt.Errorf("the collector responded %d", response.StatusCode)
	}
	return -1, fmt.Errorf("the collector responded %d", response.StatusCode)
}

func compressed(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}
