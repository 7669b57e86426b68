package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/api"
)

// TestSlowUploadOutlivesServerTimeouts: the read and write timeouts of the server do not
// end an upload that takes longer, over HTTP/1.1 and HTTP/2.
func TestSlowUploadOutlivesServerTimeouts(t *testing.T) {
	t.Parallel()
	const timeout = 1500 * time.Millisecond // a handshake takes long on a busy machine
	for _, http2 := range []bool{false, true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(w, api.NewUploadBody(w, r)); err != nil {
				t.Errorf("%s: read the upload: %v", r.Proto, err)
			}
		}))
		server.EnableHTTP2 = http2
		server.Config.ReadTimeout, server.Config.WriteTimeout = timeout, timeout
		server.StartTLS()
		defer server.Close()
		body, send := io.Pipe()
		go func() {
			_, _ = io.WriteString(send, "first ")
			time.Sleep(2 * timeout)
			_, _ = io.WriteString(send, "second")
			_ = send.Close()
		}()
		resp, err := server.Client().Post(server.URL, "text/plain", body)
		if err != nil {
			t.Fatalf("HTTP/2 %t: %v", http2, err)
		}
		defer resp.Body.Close()
		if echo, err := io.ReadAll(resp.Body); err != nil || string(echo) != "first second" {
			t.Errorf("%s: read %q, %v; want the whole upload", resp.Proto, echo, err)
		}
	}
}
