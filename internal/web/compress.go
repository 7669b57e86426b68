package web

import (
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzhttp"
)

const (
	// compressFrom is the size in bytes below which compression gains nothing.
	compressFrom = 1 << 10
	// compressionJitter is added to compressed pages at random, in bytes, so that their
	// size does not reveal secrets next to text of an attacker (BREACH).
	compressionJitter = 64
)

// compress returns the middleware that compresses pages. All routes share it, because
// making one costs as much as compressing a page.
var compress = sync.OnceValue(func() func(http.Handler) http.HandlerFunc {
	// gzip makes pages a tenth smaller than the fastest zstd, which gzhttp prefers.
	wrapper, err := gzhttp.NewWrapper(gzhttp.PreferZstd(false), gzhttp.MinSize(compressFrom), gzhttp.RandomJitter(compressionJitter, 0, false),
		gzhttp.ExceptContentTypes([]string{"text/event-stream", "image/jpeg", "image/png", "image/webp", "application/pdf", "application/zip"}))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrapper
})
