package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// link is the link of a question in a message.
var link = regexp.MustCompile(`/a/[A-Za-z0-9_-]{10,}`)

// browser opens pages without JavaScript, and keeps cookies.
type browser struct {
	run     *Run
	cookies []*http.Cookie
	status  int
	body    string
	// location is where the last page leads, if that is another site. retried says that an answer was lost.
	location string
	retried  bool
}

// open fetches a page and follows redirects to this site.
func (b *browser) open(method, path string, form url.Values) {
	for range 5 {
		headers := []string{"Accept: text/html", "Origin: " + publicURL}
		for _, c := range b.cookies {
			headers = append(headers, "Cookie: "+c.Name+"="+c.Value)
		}
		var body any
		if form != nil {
			body = form
		}
		got, retried := b.run.service.call(method, path, "", body, headers...)
		b.status, b.body, b.location, b.retried = got.Status, got.Body, got.Header.Get("Location"), b.retried || retried
		b.cookies = append(b.cookies, (&http.Response{Header: got.Header}).Cookies()...)
		if got.Status < 300 || got.Status > 399 || strings.HasPrefix(b.location, "http") && !strings.HasPrefix(b.location, publicURL) {
			return
		}
		method, path, form = "GET", local(b.location), nil
	}
}
