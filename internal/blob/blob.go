// Package blob keeps bytes under keys: in a folder, or in a bucket of a server
// that speaks S3. It knows nothing of documents: which key belongs to what, who
// may read it and when it goes is told by those who use it.
//
// An upload goes through a Spool, which bounds, counts and hashes it on disk:
//
//	spool, err := blob.NewSpool(dir, 10<<20)
//	defer spool.Close()
//	_, err = io.Copy(spool, part)                        // blob.ErrTooLarge past the limit
//	err = store.Put(ctx, key, spool, spool.Size(), mediaType)
//
// Whatever keeps a store from answering (away, full, credentials refused) is a
// fault.Down, 503; a key that it does not hold is ErrAbsent.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/touchline/touchline/internal/fault"
)

// ErrAbsent says that the store holds nothing under a key.
var ErrAbsent = errors.New("blob: nothing is kept under this key")

// Store keeps bytes under keys. A key is one or two names with a slash between,
// each of 1 to 100 of a–z, 0–9, - and _ and beginning with a letter or digit:
// "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", ".../small" for what was made of it. Any
// other is refused: keys are made by us, never by whoever uploads. It may be used
// by many goroutines and by many replicas at once.
type Store interface {
	// Put keeps the size bytes that r holds from its start, instead of what the key
	// held. When it returns nil they are safe: synced to disk, or accepted by the
	// server. Until then nobody sees any of them. It reads r in pieces, perhaps
	// more than once.
	Put(ctx context.Context, key string, r io.ReadSeeker, size int64, mediaType string) error
	// Open returns what the key holds, and its size in bytes. The reader belongs to
	// one goroutine, lives no longer than ctx, and must be closed.
	Open(ctx context.Context, key string) (io.ReadSeekCloser, int64, error)
	// Delete removes what the key holds and what a Put that was cut short left of
	// it. That there is nothing is no error.
	Delete(ctx context.Context, key string) error
	// Close gives back what the store itself holds open.
	Close() error
}

// Options of Open; the zero value is what production wants.
type Options struct {
	// Getenv reads the environment, for credentials that the address does not have.
	Getenv func(string) string
}

// Open opens the store that address names:
//
//	file:<path>
//	s3://<key>:<secret>@<bucket>/<prefix>?endpoint=<url>&region=<region>
//
// A folder is made where there is none. Of a bucket nothing is asked yet: see
// Identify. Errors do not repeat the address, which may hold a secret.
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
		return nil, errors.New("a file store is file:<path> or s3://…")
	}
}

// checkKey refuses what is no key. That is a mistake of ours, so no fault.
func checkKey(key string) error {
	first, second, two := strings.Cut(key, "/")
	if !isName(first) || two && !isName(second) {
		return fmt.Errorf("blob: %q is no key", key)
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

// down makes fault.Down of whatever a store did not do, but for what its caller
// can tell apart: a key that holds nothing, and a caller who left.
func down(ctx context.Context, doing, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrAbsent):
		return fmt.Errorf("%s %s: %w", doing, key, ErrAbsent)
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	default:
		return fault.Down(fmt.Errorf("%s %s: %w", doing, key, err))
	}
}
