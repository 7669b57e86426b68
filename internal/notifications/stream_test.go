package notifications_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/notifications"
)

// TestIdleStreamOutlivesWriteTimeout: the timeout of a write does not end a stream that
// waits for its next event, over HTTP/1.1 and HTTP/2.
func TestIdleStreamOutlivesWriteTimeout(t *testing.T) {
	t.Parallel()
	const timeout = time.Second // a write takes long on a busy machine
	for _, http2 := range []bool{false, true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			write := notifications.NewEventWriter(w, timeout)
			if !write("first ") {
				t.Errorf("HTTP/2 %t: the first write failed", http2)
			}
			time.Sleep(2 * timeout)
			if !write("second") {
				t.Errorf("HTTP/2 %t: the write after the pause failed", http2)
			}
		}))
		server.EnableHTTP2 = http2
		server.StartTLS()
		defer server.Close()
		resp, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "first second" {
			t.Errorf("%s: read %q, %v; want both events", resp.Proto, body, err)
		}
	}
}
