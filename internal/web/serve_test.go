package web

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slowForm is a form whose first byte takes a time.
type slowForm struct {
	io.Reader
	wait time.Duration
}

func (f *slowForm) Read(p []byte) (int, error) {
	time.Sleep(f.wait)
	f.wait = 0
	return f.Reader.Read(p)
}

// TestTimeoutBeginsAfterForm: a handler has its whole time, however long the browser took to
// send the form.
func TestTimeoutBeginsAfterForm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &Pages{origin: http.NewCrossOriginProtection(), identify: func(ctx context.Context, _ *Request) error { return ctx.Err() }}
		r := httptest.NewRequest("POST", "/", &slowForm{strings.NewReader("name=Asha"), 12 * time.Second})
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		var name string
		var left time.Duration
		_, err := p.handle(httptest.NewRecorder(), &Request{Request: r}, Route{Handle: func(ctx context.Context, r *Request) (Response, error) {
			end, _ := ctx.Deadline()
			name, left = r.Form.Get("name"), time.Until(end)
			return Response{}, ctx.Err()
		}})
		if err != nil || name != "Asha" || left != timeout {
			t.Errorf("got %v, the name %q and %s left; want Asha and %s left", err, name, left, timeout)
		}
	})
}
