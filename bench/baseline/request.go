package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// request makes a request for the measuring client, which looks at method, path, query, header and body alone.
func request(method, target string, header http.Header, body string) *http.Request {
	path, query, _ := strings.Cut(target, "?")
	r := &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: header}
	if body != "" {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	return r
}

func bearer(p person) http.Header {
	return http.Header{"Authorization": {"Bearer " + p.access}, "Content-Type": {"application/json"}}
}

var jsonBody = http.Header{"Content-Type": {"application/json"}}

// member finds a string member of an answer without reading the rest: the client takes its share of the same cores.
func member(body []byte, name string) (string, error) {
	_, after, ok := bytes.Cut(body, []byte(`"`+name+`":"`))
	value, _, closed := bytes.Cut(after, []byte(`"`))
	if !ok || !closed {
		return "", errors.New("the answer has no " + name)
	}
	return string(value), nil
}

// want checks a status.
func want(status, got int, body []byte) error {
	if got != status {
		return fmt.Errorf("answered %d: %.500s", got, body)
	}
	return nil
}
