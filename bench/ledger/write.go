//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/touchline/touchline/bench"
)

// ledger is what the service acknowledged, and which calls failed.
type ledger struct {
	url     string
	name    string // begins the name of each player of this run
	coaches []*coach

	mu     sync.Mutex
	start  time.Time
	last   time.Time     // of the last acknowledged write
	gap    time.Duration // the longest time without an acknowledged write
	gapEnd time.Time
	failed int
	reason map[string]int // failed calls by status or error
}

// coach is an account that writes.
type coach struct {
	Token        string
	Number       string
	Acknowledged map[string]string // id of a player by name
}

// call limits each attempt, so that a hanging process does not end the ledger.
var call = http.Client{Timeout: 15 * time.Second}

func (l *ledger) do(ctx context.Context, method, target string, header http.Header, body string) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header = header
	response, err := call.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	var b bytes.Buffer
	_, err = io.Copy(&b, response.Body)
	return response.StatusCode, b.Bytes(), err
}

func (l *ledger) signIn(ctx context.Context, phones []string, number string) (*coach, error) {
	account := `"mobile_number":"` + number + `","role":"coach"`
	if status, body, err := l.do(ctx, "POST", l.url+"/auth/request-otp", bench.JSONHeader, "{"+account+"}"); err != nil || status != http.StatusAccepted {
		return nil, fmt.Errorf("request an OTP: %d %s %w", status, body, err)
	}
	code, err := l.code(ctx, phones, number)
	if err != nil {
		return nil, err
	}
	status, body, err := l.do(ctx, "POST", l.url+"/auth/login", bench.JSONHeader, "{"+account+`,"otp":"`+code+`"}`)
	if err != nil || status != http.StatusOK {
		return nil, fmt.Errorf("log in: %d %s %w", status, body, err)
	}
	token, err := bench.StringMember(body, "access_token")
	if err != nil {
		return nil, err
	}
	c := &coach{Token: token, Number: number, Acknowledged: make(map[string]string)}
	profile := `{"name":"Meera Nair","bio":"Hockey for every child.","experience_years":7,"sports":["hockey"]}`
	if status, body, err = l.do(ctx, "POST", l.url+"/auth/complete-profile", bench.BearerHeader(token), profile); err != nil || status >= 300 {
		return nil, fmt.Errorf("complete the profile: %d %s %w", status, body, err)
	}
	return c, nil
}

// code waits for the OTP at the phones of each process.
func (l *ledger) code(ctx context.Context, phones []string, number string) (string, error) {
	for range 100 {
		for _, phone := range phones {
			_, body, err := l.do(ctx, "GET", phone+"/dev/messages?number="+url.QueryEscape(number), nil, "")
			if err != nil {
				return "", err
			}
			var list struct{ Items []struct{ Code string } }
			if json.Unmarshal(body, &list) == nil && len(list.Items) > 0 && list.Items[0].Code != "" {
				return list.Items[0].Code, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "", fmt.Errorf("no OTP arrived in 10 s")
}

// write adds a player in each interval until ctx ends. The last write is repeated until it is acknowledged, for at most a minute: its
// first attempt may have been done.
func (l *ledger) write(ctx context.Context, c *coach, interval time.Duration) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		name := fmt.Sprintf("%s %s %d", l.name, c.Number[1:], n)
		header := bench.BearerHeader(c.Token)
		header.Set("Idempotency-Key", name)
		body := `{"student":{"full_name":"` + name + `","date_of_birth":"2014-04-30"},` +
			`"guardian":{"name":"Ravi Rao","relationship":"father","mobile_number":"+91975` + c.Number[len(c.Number)-7:] + `"}}`
		for deadline := time.Now().Add(time.Minute); ; {
			status, response, err := l.do(context.WithoutCancel(ctx), "POST", l.url+"/api/players/add", header, body)
			if err == nil && status < 300 {
				id, _ := bench.StringMember(response, "player_id")
				c.Acknowledged[name] = id
				l.acknowledge()
				break
			}
			l.fail(status, response, err)
			if ctx.Err() != nil && time.Now().After(deadline) {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

func (l *ledger) acknowledge() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if gap := now.Sub(l.last); gap > l.gap {
		l.gap, l.gapEnd = gap, now
	}
	l.last = now
}

// fail counts a failed call and prints the first of each reason.
func (l *ledger) fail(status int, body []byte, err error) {
	reason := fmt.Sprint(status)
	if code, e := bench.StringMember(body, "code"); e == nil {
		reason += " " + code
	}
	if err != nil {
		reason = err.Error()
		if i := strings.LastIndex(reason, ": "); i >= 0 {
			reason = reason[i+2:]
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed++
	if l.reason == nil {
		l.reason = make(map[string]int)
	}
	if l.reason[reason]++; l.reason[reason] == 1 {
		fmt.Printf("%s  first call with: %s\n", stamp(), reason)
	}
}
