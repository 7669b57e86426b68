package wire

import (
	"errors"
	"io"
	"net/http"

	"github.com/touchline/touchline/internal/fault"
)

// ReadAll reads a body of at most limit bytes. It does not read the rest of a larger
// body: the server closes the connection.
func ReadAll(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	tooLarge := func() error {
		w.Header().Set("Connection", "close")
		return fault.New(fault.TooLarge, "payload_too_large", "A body may have at most %d KiB.", limit>>10)
	}
	if r.ContentLength > limit {
		return nil, tooLarge()
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if int64(len(raw)) > limit {
		return nil, tooLarge()
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, Malformed("The body ends before it is complete.")
	}
	if err != nil {
		return nil, Malformed("The body cannot be read.").Because(err)
	}
	return raw, nil
}
