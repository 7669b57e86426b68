package browser_test

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// signIn signs the browser in: a client with its cookies sends the two forms, and the browser
// opens the page to which they lead. The fields are names and values of the first form, in turn.
//
// That saves two of three pages. TestFirstDay, TestExpiredSignIn, TestLanguageOfNumber and
// TestOperatorVerifiesCoach sign each role in on the pages.
func (p *phone) signIn(s *touchlinetest.Service, role, number string, fields ...string) {
	p.t.Helper()
	client := p.client()
	received := &cookieRecorder{}
	client.Transport = received
	before := s.Sent(number, "otp")
	c := &formClient{t: p.t, url: p.url, client: client}
	c.post("/sign-in/"+role, append(fields, "number", number)...).want(200)
	first := c.post("/sign-in/code", "code", s.OTP(number, before)).want(200)
	for _, cookie := range received.cookies {
		p.setCookie(cookie)
	}
	p.open(first.path)
}

// setCookie stores a cookie of a response in the browser, or deletes the cookie that it replaces.
func (p *phone) setCookie(cookie *http.Cookie) {
	p.t.Helper()
	if cookie.MaxAge < 0 {
		p.do(network.DeleteCookies(cookie.Name).WithURL(p.url))
		return
	}
	set := network.SetCookie(cookie.Name, cookie.Value).WithURL(p.url).WithPath(cookie.Path).WithHTTPOnly(cookie.HttpOnly).WithSameSite(network.CookieSameSiteLax)
	if cookie.MaxAge > 0 {
		expires := cdp.TimeSinceEpoch(time.Now().Add(time.Duration(cookie.MaxAge) * time.Second))
		set = set.WithExpires(&expires)
	}
	p.do(set)
}

// cookieRecorder is a transport that keeps the cookies of all responses.
type cookieRecorder struct{ cookies []*http.Cookie }

// RoundTrip implements http.RoundTripper.
func (r *cookieRecorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil {
		r.cookies = append(r.cookies, resp.Cookies()...)
	}
	return resp, err
}

// cookies returns the cookies of the page.
func (p *phone) cookies() (cookies []*network.Cookie) {
	p.t.Helper()
	p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		cookies, err = network.GetCookies().WithURLs([]string{p.url}).Do(ctx)
		return err
	}))
	return cookies
}

// client returns an HTTP client with the cookies of the browser.
func (p *phone) client() *http.Client {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	address, err := url.Parse(p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	var stored []*http.Cookie
	for _, c := range p.cookies() {
		stored = append(stored, &http.Cookie{Name: c.Name, Value: c.Value})
	}
	jar.SetCookies(address, stored)
	return &http.Client{Jar: jar}
}
