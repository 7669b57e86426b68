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
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	// askLimit bounds a request without a body, its retries included.
	askLimit = 20 * time.Second
	// stallLimit bounds how long the server may be silent.
	stallLimit = 20 * time.Second
	// slowest is the speed, in bytes a second, below which an upload is given up.
	slowest = 64 << 10
	// tries is how often a request is sent in all.
	tries = 3
)

// bucket keeps each key as an object under prefix.
type bucket struct {
	client *minio.Core
	name   string
	prefix string
}

func openS3(address string, getenv func(string) string) (*bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return nil, errors.New("a bucket is s3://<key>:<secret>@<bucket>/<prefix>?endpoint=<url>&region=<region>")
	}
	key, secret, token := u.User.Username(), "", ""
	if key != "" {
		secret, _ = u.User.Password()
	} else {
		key, secret, token = getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN")
	}
	if key == "" || secret == "" {
		return nil, errors.New("a bucket wants credentials: in its address, or in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	opts := &minio.Options{
		Creds: credentials.NewStaticV4(key, secret, token), Secure: true,
		Region: u.Query().Get("region"), Transport: transport(), MaxRetries: tries,
	}
	if opts.Region == "" {
		opts.Region = getenv("AWS_REGION")
	}
	host := "s3.amazonaws.com"
	if endpoint := u.Query().Get("endpoint"); endpoint != "" {
		e, err := url.Parse(endpoint)
		if err != nil || e.Host == "" || strings.Trim(e.Path, "/") != "" || e.Scheme != "http" && e.Scheme != "https" {
			return nil, errors.New("a bucket's endpoint is http://host:port or https://host:port")
		}
		host, opts.Secure, opts.BucketLookup = e.Host, e.Scheme == "https", minio.BucketLookupPath
		if opts.Region == "" {
			opts.Region = "us-east-1"
		}
	}
	client, err := minio.NewCore(host, opts)
	if err != nil {
		return nil, fmt.Errorf("use the bucket %s: %w", u.Host, err)
	}
	return &bucket{client, u.Host, strings.Trim(path.Clean("/"+u.Path), "/")}, nil
}

// transport gives up on a server that does not answer.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: stallLimit,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       time.Minute,
		MaxIdleConnsPerHost:   8,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
	}
}

// object is the name of key's object. As in a folder the slash becomes a dot:
// servers that keep objects in files have no "a/b" beside an "a".
func (b *bucket) object(key string) string {
	return path.Join(b.prefix, strings.ReplaceAll(key, "/", "."))
}

// Put implements Store: one request, so that the object is there whole or not at
// all. The hash goes ahead of the bytes and the server compares it, so nothing is
// kept that was changed on the way, and nothing need be held in memory.
func (b *bucket) Put(ctx context.Context, key string, r io.ReadSeeker, size int64, mediaType string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return b.put(ctx, key, r, size, minio.PutObjectOptions{ContentType: mediaType})
}

// create keeps data under key unless the key holds something. A server that does
// not know the condition lets the last of those that race win.
func (b *bucket) create(ctx context.Context, key string, data []byte) error {
	opts := minio.PutObjectOptions{ContentType: "text/plain"}
	opts.SetMatchETagExcept("*")
	err := b.put(ctx, key, bytes.NewReader(data), int64(len(data)), opts)
	if status(err) == http.StatusPreconditionFailed || status(err) == http.StatusConflict {
		return nil
	}
	return err
}

func (b *bucket) put(ctx context.Context, key string, r io.ReadSeeker, size int64, opts minio.PutObjectOptions) error {
	limited, cancel := context.WithTimeout(ctx, askLimit+time.Duration(size/slowest)*time.Second)
	defer cancel()
	sum, err := hashed(limited, r, size)
	opts.DisableContentSha256 = true // the client's own, which sends signatures among the bytes
	if err == nil {
		_, err = b.client.PutObject(limited, b.name, b.object(key), r, size, "", sum, opts)
	}
	return down(ctx, "keep", key, b.absent(err))
}

// hashed returns the SHA-256 of r's size bytes and leaves r at its start.
func hashed(ctx context.Context, r io.ReadSeeker, size int64) (string, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, &heeding{ctx, io.LimitReader(r, size)})
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
	limited, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	info, err := b.client.StatObject(limited, b.name, b.object(key), minio.StatObjectOptions{})
	if err = b.absent(err); errors.Is(err, ErrAbsent) {
		// The answer is the same where there is no such bucket.
		if there, err := b.client.BucketExists(limited, b.name); err != nil || !there {
			return nil, 0, down(ctx, "read", key, errors.Join(errors.New("there is no bucket "+b.name), err))
		}
	}
	if err != nil {
		return nil, 0, down(ctx, "read", key, err)
	}
	return &object{bucket: b, ctx: ctx, key: key, etag: info.ETag, size: info.Size}, info.Size, nil
}

// Delete implements Store.
func (b *bucket) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	err := b.absent(b.client.RemoveObject(limited, b.name, b.object(key), minio.RemoveObjectOptions{}))
	if errors.Is(err, ErrAbsent) {
		return nil
	}
	return down(ctx, "delete", key, err)
}

// Close implements Store.
func (b *bucket) Close() error { return nil }

// absent tells a key that holds nothing from a bucket that is not there.
func (b *bucket) absent(err error) error {
	if code := minio.ToErrorResponse(err).Code; err != nil && (code == minio.NoSuchKey || code == "NotFound") {
		return ErrAbsent
	}
	return err
}

func status(err error) int {
	if e, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return e.StatusCode
	}
	return 0
}
