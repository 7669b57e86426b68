// Package blob stores bytes under keys, in a folder or in an S3 bucket. It knows
// nothing of documents: callers decide what a key belongs to, who may read it and
// when to delete it.
//
// An upload goes through a Spool, which bounds, counts and hashes it on disk:
//
//	spool, err := blob.NewSpool(dir, 10<<20)
//	defer spool.Close()
//	_, err = io.Copy(spool, part)                        // blob.ErrTooLarge past the limit
//	err = store.Put(ctx, key, spool, spool.Size(), mediaType)
//
// If the store is unreachable, full or refuses the credentials, the error is a
// fault.Down (503). A key without content is ErrNotFound.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/touchline/touchline/internal/platform/fault"
)

// ErrNotFound means that the store has nothing under a key.
var ErrNotFound = errors.New("blob: not found")

// Store stores bytes under keys. A key is one or two names with a slash between,
// each of 1 to 100 characters a–z, 0–9, - and _, beginning with a letter or digit:
// "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", or "…/small" for a smaller picture. Other
// keys are refused: the service makes keys, never a client. A Store is safe for
// concurrent use, also by several replicas.
type Store interface {
	// Put stores the size bytes of r, from its start, and replaces earlier content
	// of the key. Once it returns nil, they are durable: synced to disk, or
	// accepted by the server. No reader sees a part of the content. It may read r
	// more than once.
	Put(ctx context.Context, key string, r io.ReadSeeker, size int64, mediaType string) error
	// Open returns the content of the key and its size in bytes. The reader is for
	// one goroutine, is valid while ctx lasts, and must be closed.
	Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error)
	// Delete removes the content of the key and the temporary files of interrupted
	// Puts. A key without content is no error.
	Delete(ctx context.Context, key string) error
	// Close releases the resources of the store.
	Close() error
}

// Options configure Open. The zero value is right for production.
type Options struct {
	// Getenv reads credentials that the address does not contain; nil is os.Getenv.
	Getenv func(string) string
}

// Open opens the store at address:
//
//	file:<path>
//	s3://<key>:<secret>@<bucket>/<prefix>?endpoint=<url>&region=<region>
//
// It creates a missing folder. It does not contact a bucket: see Identify. Errors
// never contain the credentials of the address.
func Open(ctx context.Context, address string, opts Options) (Store, error) {
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "file":
		return openFolder(rest)
	case "s3":
		return openS3(address, opts.Getenv)
	default:
		return nil, errors.New("file store address must be file:<path> or s3://…")
	}
}

// checkKey returns an error for an invalid key: a bug, so it is not a fault.
func checkKey(key string) error {
	first, second, two := strings.Cut(key, "/")
	if !isName(first) || two && !isName(second) {
		return fmt.Errorf("blob: invalid key %q", key)
	}
	return nil
}

func isName(s string) bool {
	for i, c := range []byte(s) {
		if letter := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'; !letter && (i == 0 || c != '-' && c != '_') {
			return false
		}
	}
	return 1 <= len(s) && len(s) <= 100
}

// unavailable wraps err as fault.Down, except ErrNotFound and a cancelled context,
// which callers handle.
func unavailable(ctx context.Context, doing, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNotFound):
		return fmt.Errorf("%s %s: %w", doing, key, ErrNotFound)
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	default:
		return fault.Down(fmt.Errorf("file store: %s %s: %w", doing, key, err))
	}
}
