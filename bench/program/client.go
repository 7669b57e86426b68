package program

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/touchline/touchline/bench"
)

// client sends the requests that prepare a measurement.
type client struct {
	url  string
	http http.Client
}

func newClient(url string) *client {
	return &client{url: url, http: http.Client{Timeout: time.Minute}}
}

// send returns the body of the response, or an error unless the status is 2xx.
func (c *client) send(ctx context.Context, method, path string, header http.Header, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	response, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode < 200 || res.StatusCode > 299) {
		err = fmt.Errorf("%s %s: status %d: %s", method, path, res.StatusCode, response)
	}
	return response, err
}

// post sends a JSON body and returns the response.
func (c *client) post(ctx context.Context, path string, header http.Header, body string) ([]byte, error) {
	return c.send(ctx, http.MethodPost, path, header, []byte(body))
}

// signIn signs a number in; otp returns the OTP after it was requested.
func (c *client) signIn(ctx context.Context, number, role string, otp func() string) (access, refresh string, err error) {
	account := `"mobile_number":"` + number + `","role":"` + role + `"`
	if _, err := c.post(ctx, "/auth/request-otp", bench.JSONHeader, `{`+account+`}`); err != nil {
		return "", "", err
	}
	tokens, err := c.post(ctx, "/auth/login", bench.JSONHeader, `{`+account+`,"otp":"`+otp()+`"}`)
	if err != nil {
		return "", "", err
	}
	if access, err = bench.StringMember(tokens, "access_token"); err != nil {
		return "", "", err
	}
	refresh, err = bench.StringMember(tokens, "refresh_token")
	return access, refresh, err
}
