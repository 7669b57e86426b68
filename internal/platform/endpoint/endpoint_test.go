package endpoint_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/bodies"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
)

type (
	request[T any] = endpoint.Request[string, T]
	response       = endpoint.Response
	route          = endpoint.Route[string]
)

// handlerFor serves routes to a caller that the header Caller names.
func handlerFor(routes ...route) http.Handler {
	log := slog.New(slog.DiscardHandler)
	adapter := endpoint.Adapter[string]{
		Middleware: httpx.Middleware{Settings: httpx.Settings{
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, Now: time.Now, Log: log,
		}},
		Bodies: new(bodies.Memory),
		Authenticate: func(r *http.Request) (string, error) {
			if caller := r.Header.Get("Caller"); caller != "" {
				return caller, nil
			}
			return "", fault.New(fault.Unauthenticated, "token_missing", "Send an access token.")
		},
	}
	return adapter.Handler(routes)
}

// send sends one request as a caller; headers are "Name: value".
func send(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Caller", "asha")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestResponses(t *testing.T) {
	missing := fault.Missing()
	tests := []struct {
		name     string
		response response
		err      error
		status   int
		body     string
		headers  map[string]string
	}{
		{"zero value", response{}, nil, 200, "", nil},
		{"OK", endpoint.OK(map[string]int{"a": 1}), nil, 200, `{"a":1}`, map[string]string{"Content-Type": "application/json", "Content-Length": "7"}},
		{"Created", endpoint.Created("/things/1", 1), nil, 201, "1", map[string]string{"Location": "/things/1"}},
		{"Accepted", endpoint.Accepted(1), nil, 202, "1", nil},
		{"NoContent", endpoint.NoContent(), nil, 204, "", map[string]string{"Content-Type": ""}},
		{"raw body", response{Raw: []byte("x")}.WithHeader("Content-Type", "text/plain"), nil, 200, "x", map[string]string{"Content-Type": "text/plain"}},
		{"written by the handler", response{Write: func(w http.ResponseWriter, _ *http.Request) error {
			_, err := w.Write([]byte("stream"))
			return err
		}}, nil, 200, "stream", nil},
		{"error keeps the headers", endpoint.OK(1).WithHeader("Connection", "close"), missing, 404, "", map[string]string{"Connection": "close", "Content-Type": "application/problem+json"}},
		{"error of Write", response{Write: func(http.ResponseWriter, *http.Request) error { return missing }}, nil, 404, "", nil},
		{"body that JSON cannot encode", endpoint.OK(func() {}), nil, 500, "", map[string]string{"Content-Type": "application/problem+json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := send(handlerFor(route{Method: "GET", Pattern: "/thing", Produces: endpoint.AnyMedia, Handle: endpoint.Handle(
				func(context.Context, request[struct{}]) (response, error) { return tt.response, tt.err })}), "GET", "/thing", "")
			if w.Code != tt.status || w.Code < 400 && w.Body.String() != tt.body {
				t.Errorf("got %d %q, want %d %q", w.Code, w.Body, tt.status, tt.body)
			}
			for name, want := range tt.headers {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s: got %q, want %q", name, got, want)
				}
			}
		})
	}
}

// TestRender checks that a rendered response, stored and returned later, is the same.
func TestRender(t *testing.T) {
	tests := []struct {
		name     string
		response response
		err      error
		status   int
	}{
		{"response", endpoint.Created("/things/1", map[string]int{"a": 1}).WithSubject("1"), nil, 201},
		{"problem", response{Subject: "1"}, fault.New(fault.Conflict, "player_exists", "It exists."), 409},
		{"unexpected error", response{Subject: "1"}, errors.New("disk full"), 500},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var rendered response
			h := handlerFor(
				route{Method: "GET", Pattern: "/direct", Handle: endpoint.Handle(
					func(context.Context, request[struct{}]) (response, error) { return tt.response, tt.err })},
				route{Method: "GET", Pattern: "/rendered", Handle: endpoint.Handle(
					func(ctx context.Context, r request[struct{}]) (response, error) {
						rendered = r.Render(ctx, tt.response, tt.err)
						return rendered, nil
					})},
			)
			const trace = "Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
			want, got := send(h, "GET", "/direct", "", trace), send(h, "GET", "/rendered", "", trace)
			if got.Code != tt.status || got.Code != want.Code || !bytes.Equal(got.Body.Bytes(), want.Body.Bytes()) {
				t.Errorf("got %d %s, want %d %s", got.Code, got.Body, want.Code, want.Body)
			}
			for name := range want.Header() {
				if got.Header().Get(name) != want.Header().Get(name) {
					t.Errorf("%s: got %q, want %q", name, got.Header().Get(name), want.Header().Get(name))
				}
			}
			if rendered.Subject != "1" {
				t.Errorf("subject: got %q, want 1", rendered.Subject)
			}
		})
	}
}

func TestBodies(t *testing.T) {
	type thing struct {
		Name string `json:"name" rule:"required"`
	}
	echo := func(_ context.Context, r request[thing]) (response, error) {
		if err := r.Faults.Err(); err != nil {
			return response{}, err
		}
		return endpoint.OK(r.Body.Name), nil
	}
	h := handlerFor(
		route{Method: "POST", Pattern: "/json", Body: endpoint.JSON, Handle: endpoint.Handle(echo)},
		route{Method: "POST", Pattern: "/optional", Body: endpoint.OptionalJSON, Handle: endpoint.Handle(
			func(_ context.Context, r request[struct{}]) (response, error) {
				return endpoint.NoContent(), r.Faults.Err()
			})},
		route{Method: "PATCH", Pattern: "/patch", Body: endpoint.MergePatch, Handle: endpoint.Handle(echo)},
		route{Method: "POST", Pattern: "/form", Body: endpoint.Form, Handle: endpoint.Handle(
			func(_ context.Context, r request[url.Values]) (response, error) {
				return endpoint.OK(r.Body.Get("token")), nil
			})},
		route{Method: "POST", Pattern: "/upload", Body: endpoint.Multipart, MaxUpload: 1 << 20, Handle: endpoint.Handle(
			func(_ context.Context, r request[endpoint.Upload]) (response, error) {
				p := make([]byte, 3)
				_, err := r.Body.Read(p)
				return endpoint.OK(string(p)), err
			})},
	)
	const (
		json, patch = "Content-Type: application/json", "Content-Type: application/merge-patch+json"
		form        = "Content-Type: application/x-www-form-urlencoded"
		multipart   = "Content-Type: multipart/form-data; boundary=x"
	)
	tests := []struct {
		method, path, body string
		headers            []string
		status             int
		want               string
	}{
		{"POST", "/json", `{"name":"a"}`, []string{json}, 200, `"a"`},
		{"POST", "/json", `{}`, []string{json}, 422, ""},
		{"POST", "/json", ``, []string{json}, 400, ""},
		{"POST", "/json", `{"name":"a"}`, []string{patch}, 415, ""},
		{"POST", "/json", `{"name":"a"}`, []string{json, "Content-Encoding: gzip"}, 415, ""},
		{"POST", "/json", `{"name":"a"}`, []string{json + "; charset=latin1"}, 415, ""},
		{"POST", "/json", `{"name":"a"}`, []string{json, "Accept: text/html"}, 406, ""},
		{"POST", "/json", strings.Repeat(" ", 64<<10+1), []string{json}, 413, ""},
		{"POST", "/optional", ``, nil, 204, ""},
		{"POST", "/optional", `{}`, []string{json}, 204, ""},
		{"POST", "/optional", `{"a":1}`, []string{json}, 422, ""},
		{"POST", "/optional", `{}`, nil, 415, ""},
		{"PATCH", "/patch", `{"name":"a"}`, []string{patch}, 200, `"a"`},
		{"PATCH", "/patch", `{"name":"a"}`, []string{json}, 200, `"a"`},
		{"POST", "/form", `token=a%20b`, []string{form}, 200, `"a b"`},
		{"POST", "/form", `token=%`, []string{form}, 400, ""},
		{"POST", "/upload", `abc`, []string{multipart}, 200, `"abc"`},
		{"POST", "/upload", `abc`, []string{json}, 415, ""},
		{"POST", "/upload", strings.Repeat("a", 1<<20+1), []string{multipart}, 413, ""},
	}
	for _, tt := range tests {
		w := send(h, tt.method, tt.path, tt.body, tt.headers...)
		if w.Code != tt.status || tt.want != "" && w.Body.String() != tt.want {
			t.Errorf("%s %.20q %v: got %d %s, want %d %s", tt.path, tt.body, tt.headers, w.Code, w.Body, tt.status, tt.want)
		}
		if refused := w.Code >= 400; strings.HasPrefix(tt.path, "/upload") && refused != (w.Header().Get("Connection") == "close") {
			t.Errorf("%s %v: got status %d with Connection %q", tt.path, tt.headers, w.Code, w.Header().Get("Connection"))
		}
	}
}

func TestMeta(t *testing.T) {
	var got request[struct{}]
	h := handlerFor(route{Method: "GET", Pattern: "/things/{thing_id}", Handle: endpoint.Handle(
		func(_ context.Context, r request[struct{}]) (response, error) {
			got = r
			_, err := r.PathID("thing_id")
			return endpoint.NoContent(), err
		})})
	const id = "0198f2c4-5e00-7b11-8f3a-2d6c4e8b9a01"
	if w := send(h, "GET", "http://api.example/things/"+id+"?q=x", "", "X-Forwarded-For: 198.51.100.7", "X-Forwarded-Proto: https"); w.Code != 204 {
		t.Fatalf("got %d, want 204", w.Code)
	}
	if got.Caller != "asha" || got.Route != "/things/{thing_id}" || got.Query.Get("q") != "x" ||
		got.Client != "198.51.100.7" || got.BaseURL != "https://api.example" || got.TraceID == "" {
		t.Errorf("got %+v", got.Meta)
	}
	for _, other := range []string{"x", strings.ToUpper(id), "0198f2c4-5e00-4b11-8f3a-2d6c4e8b9a01"} {
		if w := send(h, "GET", "/things/"+other, ""); w.Code != 404 {
			t.Errorf("id %q: got %d, want 404", other, w.Code)
		}
	}
}

// TestAcquire checks that a limited resource is held until the response is written.
func TestAcquire(t *testing.T) {
	held := 0
	var err error
	h := handlerFor(route{
		Method: "GET", Pattern: "/thing",
		Acquire: func(context.Context, string) (func(), error) {
			if err != nil {
				return nil, err
			}
			held++
			return func() { held-- }, nil
		},
		Handle: endpoint.Handle(func(context.Context, request[struct{}]) (response, error) {
			return response{Write: func(w http.ResponseWriter, _ *http.Request) error {
				if held != 1 {
					t.Errorf("while writing: %d held, want 1", held)
				}
				panic("broken")
			}}, nil
		}),
	})
	if w := send(h, "GET", "/thing", ""); w.Code != 500 || held != 0 {
		t.Errorf("after a panic: got %d, %d held, want 500, 0 held", w.Code, held)
	}
	err = fault.New(fault.TooMany, "rate_limited", "Wait.")
	if w := send(h, "GET", "/thing", ""); w.Code != 429 {
		t.Errorf("none left: got %d, want 429", w.Code)
	}
}
