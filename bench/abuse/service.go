package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/program"
	"github.com/touchline/touchline/internal/platform/httpx/http2test"
)

const (
	// freeCoaches have the default tier, and payingCoaches may import players.
	freeCoaches, payingCoaches = 20, 8
	// otp is the fixed OTP of all numbers.
	otp = "424242"
	// neighbourAddress is where the reads come from.
	neighbourAddress = "127.0.0.10"
	readTimeout      = 30 * time.Second
)

// account is a signed-in coach.
type account struct {
	number, id, access string
	cookie             string // the session of pages; only of the first free coach
}

// service is a prepared service.
type service struct {
	server       *program.Server
	adminAddress string
	free, paying []account
	neighbour    account
}

// openService prepares a service with its accounts, over TLS unless plain is set. All settings but the numbers with a fixed
// OTP and the certificate, which it writes to folder, have their defaults.
func openService(ctx context.Context, path, engine, folder string, plain bool) (*service, error) {
	var numbers, settings []string
	for i := range freeCoaches + payingCoaches + 1 {
		number := fmt.Sprintf("+9199000002%02d", i)
		numbers = append(numbers, number)
		settings = append(settings, number+"="+otp+"@"+time.Now().AddDate(0, 1, 0).Format(time.DateOnly))
	}
	adminAddress, err := bench.FreeAddress()
	if err != nil {
		return nil, err
	}
	env := []string{"TOUCHLINE_TEST_NUMBERS=" + strings.Join(settings, ","), "TOUCHLINE_ADMIN_ADDR=" + adminAddress}
	if !plain {
		certificate, key, err := writeCertificate(folder)
		if err != nil {
			return nil, err
		}
		env = append(env, "TOUCHLINE_TLS_CERT="+certificate, "TOUCHLINE_TLS_KEY="+key)
	}
	server, err := program.NewDefaultServer(ctx, path, engine, env...)
	if err != nil {
		return nil, err
	}
	s := &service{server: server, adminAddress: adminAddress}
	if err := s.prepare(ctx, numbers); err != nil {
		s.close()
		return nil, fmt.Errorf("prepare: %w", err)
	}
	return s, nil
}

func (s *service) close() { s.server.Close() }

func (s *service) encrypted() bool { return strings.HasPrefix(s.server.URL(), "https:") }

// adminURL returns the root of the operators' API.
func (s *service) adminURL() string {
	scheme, _, _ := strings.Cut(s.server.URL(), ":")
	return scheme + "://" + s.adminAddress
}

// prepare signs the coaches in, once for all attacks.
func (s *service) prepare(ctx context.Context, numbers []string) error {
	process, err := s.server.Start(ctx)
	if err != nil {
		return err
	}
	defer process.Stop(ctx) //nolint:errcheck // the attacks start it again
	var all []account
	for i, number := range numbers {
		a, err := s.signIn(ctx, number, fmt.Sprintf("127.0.1.%d", i+1))
		if err != nil {
			return err
		}
		all = append(all, a)
	}
	s.free, s.paying, s.neighbour = all[:freeCoaches], all[freeCoaches:freeCoaches+payingCoaches], all[len(all)-1]
	token, err := s.server.OperatorToken(ctx, "coaches")
	if err != nil {
		return err
	}
	for _, a := range s.paying {
		header := bench.BearerHeader(token)
		header.Set("Content-Type", "application/json")
		if _, err := do(ctx, clientFrom(neighbourAddress), http.MethodPut, s.adminURL()+"/api/admin/coaches/"+a.id+"/tier", header, `{"tier":"academy"}`); err != nil {
			return err
		}
	}
	s.free[0].cookie, err = s.signInPages(ctx, s.free[0].number)
	return err
}

// signIn signs a coach in and completes the profile.
func (s *service) signIn(ctx context.Context, number, from string) (account, error) {
	c := clientFrom(from)
	defer c.CloseIdleConnections()
	var login struct {
		Access  string `json:"access_token"`
		Account struct{ ID string }
	}
	for _, call := range []struct{ path, body string }{
		{"/auth/request-otp", `{"mobile_number":"` + number + `","role":"coach"}`},
		{"/auth/login", `{"mobile_number":"` + number + `","role":"coach","otp":"` + otp + `"}`},
		{"/auth/complete-profile", `{"name":"Coach","bio":"Hockey.","experience_years":3,"sports":["hockey"]}`},
	} {
		header := bench.JSONHeader
		if login.Access != "" {
			header = bench.BearerHeader(login.Access)
			header.Set("Content-Type", "application/json")
		}
		body, err := do(ctx, c, http.MethodPost, s.server.URL()+call.path, header, call.body)
		if err != nil {
			return account{}, err
		}
		if call.path == "/auth/login" {
			if err := json.Unmarshal(body, &login); err != nil {
				return account{}, err
			}
		}
	}
	return account{number: number, id: login.Account.ID, access: login.Access}, nil
}

// signInPages returns the header of a coach's session of pages.
func (s *service) signInPages(ctx context.Context, number string) (string, error) {
	c := clientFrom("127.0.1.100")
	c.Jar, _ = cookiejar.New(nil) // nil options cannot fail
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"text/html"}}
	time.Sleep(time.Second) // another OTP for the number
	for _, call := range []struct {
		path   string
		fields url.Values
	}{{"/sign-in/coach", url.Values{"number": {number}}}, {"/sign-in/code", url.Values{"code": {otp}}}} {
		if _, err := do(ctx, c, http.MethodPost, s.server.URL()+call.path, form, call.fields.Encode()); err != nil {
			return "", err
		}
	}
	base, err := url.Parse(s.server.URL())
	if err != nil {
		return "", err
	}
	for _, cookie := range c.Jar.Cookies(base) {
		if strings.HasSuffix(cookie.Name, "touchline-coach") { // __Host- before it over TLS
			return cookie.Name + "=" + cookie.Value, nil
		}
	}
	return "", fmt.Errorf("no session of pages for %s", number)
}

// clientFrom returns a client with a source address.
func clientFrom(address string) *http.Client {
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: readTimeout}
	return &http.Client{Timeout: readTimeout, Transport: &http.Transport{DialContext: d.DialContext, TLSClientConfig: http2test.AnyCertificate}}
}

// do returns the body of the response, or an error unless the status is below 400.
func do(ctx context.Context, c *http.Client, method, url string, header http.Header, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 400 {
		err = fmt.Errorf("%s %s: status %d: %.300s", method, url, resp.StatusCode, text)
	}
	return text, err
}

// reads are the reads of the neighbour.
type reads struct {
	took   []time.Duration
	failed int
}

// read reads as a coach from another address until ctx ends, five times a second and each time
// over a new connection.
func (s *service) read(ctx context.Context) (r reads) {
	c := clientFrom(neighbourAddress)
	c.Transport.(*http.Transport).DisableKeepAlives = true
	header := bench.BearerHeader(s.neighbour.access)
	paths := []string{"/api/me", "/api/players"}
	for ctx.Err() == nil {
		start := time.Now()
		_, err := do(context.WithoutCancel(ctx), c, http.MethodGet, s.server.URL()+paths[len(r.took)%len(paths)], header, "")
		if r.took = append(r.took, time.Since(start)); err != nil {
			r.failed++
		}
		time.Sleep(200 * time.Millisecond)
	}
	return r
}

func (r reads) quantiles() (p50, p99 time.Duration) {
	slices.Sort(r.took)
	return r.took[len(r.took)/2], r.took[len(r.took)*99/100]
}
