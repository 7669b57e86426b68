package touchline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// Options of a Client. Only BaseURL is required.
type Options struct {
	// BaseURL is the address of the service, such as https://touchline.example.
	BaseURL string
	// Store keeps the tokens; nil keeps them in memory.
	Store Store
	// Name is the prefix of the keys in the Store, for several accounts at once. Default "touchline".
	Name string
	// Transport sends the requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
}

// Client is a client of one account. It is safe for concurrent use.
type Client struct {
	Session *Session
	base    string
	public  *http.Client // repeats, without the session
	signed  *http.Client // repeats, with the session
	once    http.RoundTripper
}

// New returns a client.
func New(options Options) *Client {
	next := options.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	store := options.Store
	if store == nil {
		store = new(MemoryStore)
	}
	c := &Client{base: strings.TrimRight(options.BaseURL, "/"), once: next, public: &http.Client{Transport: transport{next}}}
	c.Session = &Session{base: c.base, http: c.public, store: store, name: cmp.Or(options.Name, "touchline")}
	c.signed = &http.Client{Transport: c.Session}
	return c
}

// HTTP returns a client that sends requests with the session and repeats, for a client that a generator makes of the document.
func (c *Client) HTTP() *http.Client { return c.signed }

// Get reads a path of the API into a T.
func Get[T any](ctx context.Context, c *Client, path string, query url.Values) (T, error) {
	return Call[T](ctx, c, http.MethodGet, withQuery(path, query), nil)
}

// Call sends in as JSON, or no body if in is nil, and returns the response. It returns a *Problem, a *SignedOut, or the error of the
// connection. Without a response the call was repeated if that is safe; else it is unknown whether the service did the work.
func Call[T any](ctx context.Context, c *Client, method, path string, in any) (T, error) {
	var out T
	req, err := newRequest(ctx, method, c.base+path, in)
	if err != nil {
		return out, err
	}
	client := c.signed
	if strings.HasPrefix(path, "/api/coaches") || strings.HasPrefix(path, "/api/notice") {
		client = c.public
	}
	return out, decode(client, req, &out)
}

// page is one page of a list.
type page[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// All returns every item of a list, page after page. After an error it ends.
func All[T any](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query := maps.Clone(query)
		if query == nil {
			query = url.Values{}
		}
		for {
			p, err := Get[page[T]](ctx, c, path, query)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if p.NextCursor == nil {
				return
			}
			query.Set("cursor", *p.NextCursor)
		}
	}
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

func newRequest(ctx context.Context, method, target string, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encode the body: %w", err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// decode sends a request and reads its JSON into out.
func decode(client *http.Client, req *http.Request, out any) error {
	resp, err := client.Do(req)
	if err != nil {
		if ended, ok := errors.AsType[*SignedOut](err); ok {
			return ended
		}
		return err
	}
	if resp.StatusCode >= 300 {
		return problemOf(resp)
	}
	defer resp.Body.Close()
	if out == nil || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("decode %s %s: %w", req.Method, req.URL.Path, err)
	}
	return nil
}
