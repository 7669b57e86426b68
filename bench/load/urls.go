package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/touchline/touchline/bench"
)

// fromURLs returns a contender for each argument of the form name=URL.
func fromURLs(args, headers []string) ([]bench.Contender, error) {
	header := http.Header{}
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, fmt.Errorf("header %q is not Name: value", h)
		}
		header.Add(name, strings.TrimSpace(value))
	}
	var contenders []bench.Contender
	for _, arg := range args {
		name, target, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not name=URL", arg)
		}
		u, err := url.Parse(target)
		if err != nil {
			return nil, err
		}
		contenders = append(contenders, bench.Contender{
			Name: name,
			URL:  u.Scheme + "://" + u.Host,
			Requests: func(int) func() *http.Request {
				return func() *http.Request { return bench.NewRequest(http.MethodGet, u.RequestURI(), header, "") }
			},
		})
	}
	return contenders, nil
}
