package endpoint_test

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/platform/endpoint"
)

// slowBody is a body whose first byte takes a time.
type slowBody struct {
	io.Reader
	wait time.Duration
}

func (b *slowBody) Read(p []byte) (int, error) {
	time.Sleep(b.wait)
	b.wait = 0
	return b.Reader.Read(p)
}

// TestTimeoutBeginsAfterBody: a handler has its whole time, however long the client took to
// send the body.
func TestTimeoutBeginsAfterBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var left time.Duration
		h := handlerFor(route{Method: "POST", Pattern: "/things", Body: endpoint.JSON, Handle: endpoint.Handler[string]{Serve: func(ctx context.Context, _ endpoint.Meta[string], _ endpoint.Body) (response, error) {
			end, _ := ctx.Deadline()
			left = time.Until(end)
			return endpoint.NoContent(), ctx.Err()
		}}})
		r := httptest.NewRequest("POST", "/things", &slowBody{strings.NewReader("{}"), 12 * time.Second})
		r.Header.Set("Caller", "asha")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 204 || left != 10*time.Second {
			t.Errorf("got %d %s with %s left, want 204 with 10s left", w.Code, w.Body, left)
		}
	})
}
