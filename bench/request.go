package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// JSONHeader is the header of a request with a JSON body and no access token. Do not change it.
var JSONHeader = http.Header{"Content-Type": {"application/json"}}

// BearerHeader returns the header of a request with a JSON body and an access token. Requests may share it.
func BearerHeader(accessToken string) http.Header {
	return http.Header{"Authorization": {"Bearer " + accessToken}, "Content-Type": {"application/json"}}
}

// NewRequest returns a request for [Contender.Requests]. target is a path with an optional query; an empty body means none.
// It panics if method or target cannot be parsed.
func NewRequest(method, target string, header http.Header, body string) *http.Request {
	r, err := http.NewRequest(method, target, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	if header != nil {
		r.Header = header
	}
	return r
}

// StringMember returns a string member of a JSON object without decoding the rest, because the client runs on the cores that
// are measured. It does not unescape, so use it for tokens and ids.
func StringMember(body []byte, name string) (string, error) {
	_, after, ok := bytes.Cut(body, []byte(`"`+name+`":"`))
	value, _, closed := bytes.Cut(after, []byte(`"`))
	if !ok || !closed {
		return "", fmt.Errorf("no member %q in the response", name)
	}
	return string(value), nil
}
