package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	// requestTimeout bounds a request without a body, retries included.
	requestTimeout = 20 * time.Second
	// stallTimeout bounds how long the server may send nothing.
	stallTimeout = 20 * time.Second
	// minUploadRate, in bytes a second, sets the timeout of an upload.
	minUploadRate = 64 << 10
	// maxAttempts is how often one request is sent in all.
	maxAttempts = 3
)

// bucket stores each key as one object under prefix.
type bucket struct {
	client *minio.Core
	name   string
	prefix string
	// stall is how long a server may send nothing during a download.
	stall time.Duration
}

// errNotS3 is the error of a response that S3 does not send.
var errNotS3 = errors.New("the response did not come from S3: check the endpoint and its proxy")

// errStalled is the error of a download that the server does not continue.
var errStalled = errors.New("the server stopped sending")

func openS3(address string, getenv func(string) string) (*bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return nil, errors.New("bucket address must be s3://<key>:<secret>@<bucket>/<prefix>?endpoint=<url>&region=<region>")
	}
	key, secret, token := u.User.Username(), "", ""
	if key != "" {
		secret, _ = u.User.Password()
	} else {
		key, secret, token = getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN")
	}
	if key == "" || secret == "" {
		return nil, errors.New("bucket has no credentials: set them in its address, or in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	opts := &minio.Options{
		Creds: credentials.NewStaticV4(key, secret, token), Secure: true,
		Region: u.Query().Get("region"), Transport: checkedTransport{transport()}, MaxRetries: maxAttempts,
	}
	if opts.Region == "" {
		opts.Region = getenv("AWS_REGION")
	}
	host := "s3.amazonaws.com"
	if endpoint := u.Query().Get("endpoint"); endpoint != "" {
		e, err := url.Parse(endpoint)
		if err != nil || e.Host == "" || strings.Trim(e.Path, "/") != "" || e.Scheme != "http" && e.Scheme != "https" {
			return nil, errors.New("bucket endpoint must be http://host:port or https://host:port")
		}
		host, opts.Secure, opts.BucketLookup = e.Host, e.Scheme == "https", minio.BucketLookupPath
		if opts.Region == "" {
			opts.Region = "us-east-1"
		}
	}
	client, err := minio.NewCore(host, opts)
	if err != nil {
		return nil, fmt.Errorf("create a client for bucket %s: %w", u.Host, err)
	}
	return &bucket{client, u.Host, strings.Trim(path.Clean("/"+u.Path), "/"), stallTimeout}, nil
}

// transport returns an HTTP transport whose timeouts detect a server that does not respond.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: stallTimeout,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       time.Minute,
		MaxIdleConnsPerHost:   8,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
	}
}

// checkedTransport refuses a success that did not come from S3, for example from a proxy that
// has no route to it: minio-go takes each 2xx as done. S3 sends an ETag for each object that it
// stores, and 204 for each that it deletes.
type checkedTransport struct{ base http.RoundTripper }

func (t checkedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		body := &attemptBody{ReadCloser: r.Body}
		defer body.end()
		r = r.WithContext(r.Context())
		r.Body = body
	}
	resp, err := t.base.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	if r.Method == http.MethodDelete || r.Method == http.MethodPut && resp.Header.Get("ETag") == "" {
		return nil, errors.Join(errNotS3, resp.Body.Close())
	}
	return resp, nil
}

// attemptBody is the body of one attempt. After an early response, http.Transport may still read
// it while minio-go rewinds the same content for the next attempt.
type attemptBody struct {
	io.ReadCloser
	mu    sync.Mutex
	ended bool
}

func (b *attemptBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.ReadCloser.Read(p)
}

// end waits for a running Read and refuses later ones.
func (b *attemptBody) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
}

// object returns the object name of key. The slash becomes a dot: a server that
// stores objects as files cannot have both "a" and "a/b".
func (b *bucket) object(key string) string {
	return path.Join(b.prefix, strings.ReplaceAll(key, "/", "."))
}

// Put implements Store with one request, so that the object appears whole or not at
// all. It sends the SHA-256 of the content first and the server compares it;
// nothing is buffered in memory.
func (b *bucket) Put(ctx context.Context, key string, r io.ReadSeeker, size int64, mediaType string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return b.put(ctx, key, r, size, minio.PutObjectOptions{ContentType: mediaType})
}

// create stores data under key unless the key has content. On a server without
// conditional writes the last of several concurrent writers wins.
func (b *bucket) create(ctx context.Context, key string, data []byte) error {
	opts := minio.PutObjectOptions{ContentType: "text/plain"}
	opts.SetMatchETagExcept("*")
	err := b.put(ctx, key, bytes.NewReader(data), int64(len(data)), opts)
	if statusCode(err) == http.StatusPreconditionFailed || statusCode(err) == http.StatusConflict {
		return nil
	}
	return err
}

func (b *bucket) put(ctx context.Context, key string, r io.ReadSeeker, size int64, opts minio.PutObjectOptions) error {
	limited, cancel := context.WithTimeout(ctx, requestTimeout+time.Duration(size/minUploadRate)*time.Second)
	defer cancel()
	sum, err := sha256Of(limited, r, size)
	opts.DisableContentSha256 = true // the client's own method mixes signatures into the body
	if err == nil {
		_, err = b.client.PutObject(limited, b.name, b.object(key), r, size, "", sum, opts)
	}
	err = mapError(err)
	if errors.Is(err, ErrNotFound) {
		err = errNotS3 // S3 never misses the object that it is to store
	}
	return unavailable(ctx, "put", key, err)
}

// sha256Of returns the hex SHA-256 of the size bytes of r, and rewinds r.
func sha256Of(ctx context.Context, r io.ReadSeeker, size int64) (string, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, &contextReader{ctx, io.LimitReader(r, size)})
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", err
	}
	_, err = r.Seek(0, io.SeekStart)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Open implements Store.
func (b *bucket) Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error) {
	if err := checkKey(key); err != nil {
		return nil, 0, err
	}
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	info, err := b.client.StatObject(limited, b.name, b.object(key), minio.StatObjectOptions{})
	if err != nil {
		return nil, 0, unavailable(ctx, "read", key, b.missing(limited, mapError(err)))
	}
	return &objectReader{bucket: b, ctx: ctx, key: key, etag: info.ETag, size: info.Size}, info.Size, nil
}

// Delete implements Store.
func (b *bucket) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := b.missing(limited, mapError(b.client.RemoveObject(limited, b.name, b.object(key), minio.RemoveObjectOptions{})))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return unavailable(ctx, "delete", key, err)
}

// missing returns err, or another error if err is ErrNotFound and the bucket is missing, which
// gives the same response as a missing key. So does a proxy that has no route to the server.
func (b *bucket) missing(ctx context.Context, err error) error {
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	if exists, existsErr := b.client.BucketExists(ctx, b.name); existsErr != nil || !exists {
		return errors.Join(fmt.Errorf("no bucket %s", b.name), existsErr)
	}
	return err
}

// Close implements Store.
func (b *bucket) Close() error { return nil }

// mapError maps the error of a missing key to ErrNotFound, and adds the code of S3, such as
// SlowDown, to others: minio-go prints the message alone.
func mapError(err error) error {
	e, ok := errors.AsType[minio.ErrorResponse](err)
	switch {
	case !ok:
		return err
	case e.Code == minio.NoSuchKey || e.Code == "NotFound":
		return ErrNotFound
	case e.Code == "" || strings.Contains(e.Error(), e.Code):
		return err
	}
	return fmt.Errorf("%s: %w", e.Code, err)
}

func statusCode(err error) int {
	if e, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return e.StatusCode
	}
	return 0
}
