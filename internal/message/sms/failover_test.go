package sms_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/sms/smstest"
)

// gateways starts n gateways and returns a Provider of them, in order.
func gateways(t *testing.T, n int) (sms.Provider, []*smstest.Gateway) {
	t.Helper()
	all := make([]*smstest.Gateway, n)
	accounts := make([]sms.Account, n)
	for i := range all {
		all[i] = smstest.New(t)
		accounts[i] = account(all[i])
	}
	p, err := sms.New(sms.Config{Accounts: accounts})
	if err != nil {
		t.Fatal(err)
	}
	return p, all
}

func account(g *smstest.Gateway) sms.Account { return sms.Account{Kind: "http", URL: g.URL()} }

// sendAttempt makes one attempt and returns its SendError, or nil.
func sendAttempt(t *testing.T, p sms.Provider, attempt int) *message.SendError {
	t.Helper()
	m := newMessage(fmt.Sprint("attempt ", attempt))
	m.Attempt = attempt
	err := p.Send(t.Context(), m)
	failed, ok := errors.AsType[*message.SendError](err)
	if err != nil && !ok {
		t.Fatalf("attempt %d: %v", attempt, err)
	}
	return failed
}

// counts returns how many requests each gateway got.
func counts(all []*smstest.Gateway) []int {
	var n []int
	for _, g := range all {
		n = append(n, g.Attempts())
	}
	return n
}

// Each attempt uses one provider. A failure asks for the next one at once, until all were
// tried. A provider with an outage is tried last.
func TestFailover(t *testing.T) {
	t.Parallel()
	p, g := gateways(t, 3)
	g[0].Behave(smstest.Behaviour{Status: 503})
	g[1].Behave(smstest.Behaviour{Status: 404}) // not an outage
	for attempt := 1; attempt <= 2; attempt++ {
		if failed := sendAttempt(t, p, attempt); failed == nil || !failed.Next {
			t.Errorf("attempt %d: %+v, want the next provider", attempt, failed)
		}
	}
	if failed := sendAttempt(t, p, 3); failed != nil {
		t.Errorf("attempt 3: %+v, want it accepted", failed)
	}
	if got := counts(g); !slices.Equal(got, []int{1, 1, 1}) {
		t.Errorf("attempts at the gateways: %v, want one at each", got)
	}
	// The next message does not try the first provider again.
	if failed := sendAttempt(t, p, 1); failed == nil || !failed.Next {
		t.Errorf("the next message: %+v, want a failure of the second provider", failed)
	}
	if got := counts(g); !slices.Equal(got, []int{1, 2, 1}) {
		t.Errorf("attempts at the gateways: %v, want 1, 2, 1", got)
	}
	for _, gateway := range g {
		gateway.Behave(smstest.Behaviour{Status: 503})
	}
	if failed := sendAttempt(t, p, 3); failed == nil || failed.Next {
		t.Errorf("the last provider: %+v, want no next one", failed)
	}
}

// A refusal counts only once every provider has refused, unless it is about the number.
func TestFailoverOfRefusals(t *testing.T) {
	t.Parallel()
	p, g := gateways(t, 2)
	for _, gateway := range g {
		gateway.Behave(smstest.Behaviour{Status: 422})
	}
	if failed := sendAttempt(t, p, 1); failed == nil || failed.Permanent || !failed.Next {
		t.Errorf("first provider: %+v, want a temporary failure", failed)
	}
	if failed := sendAttempt(t, p, 2); failed == nil || !failed.Permanent || failed.Next {
		t.Errorf("last provider: %+v, want a permanent failure", failed)
	}

	// A provider that had an outage has refused nothing: the message waits for it.
	p, g = gateways(t, 2)
	g[0].Behave(smstest.Behaviour{Status: 503})
	g[1].Behave(smstest.Behaviour{Status: 422})
	for attempt := 1; attempt <= 4; attempt++ { // from the third one on, both are made through the second provider
		if failed := sendAttempt(t, p, attempt); failed == nil || failed.Permanent || failed.Next != (attempt%2 == 1) {
			t.Errorf("attempt %d beside an outage: %+v, want a temporary failure", attempt, failed)
		}
	}
	if got := counts(g); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("attempts at the gateways: %v, want 1, 3", got)
	}

	api := smstest.NewTwilio(t)
	api.Refuse("+919876543210", 21610)
	c := twilioConfig(api)
	c.Accounts = append(c.Accounts, account(g[0]))
	withTwilio, err := sms.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if failed := sendAttempt(t, withTwilio, 1); failed == nil || !failed.Permanent || failed.Next {
		t.Errorf("a recipient who replied STOP: %+v, want a permanent failure", failed)
	}
}

// A provider that was paused is tried again after the pause by one message, and stays in use
// when it works.
func TestFailoverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &scripted{err: &message.SendError{Outage: true}}, &scripted{}
		p := sms.NewFailover(0, first, second)
		send := func(want int) {
			t.Helper()
			before := first.calls
			_ = p.Send(t.Context(), sms.Message{ID: "1", Attempt: 1})
			if got := first.calls - before; got != want {
				t.Errorf("the first provider got %d attempts, want %d", got, want)
			}
		}
		send(1)
		send(0)
		time.Sleep(29 * time.Second)
		send(0)
		time.Sleep(2 * time.Second)
		send(1) // fails, and the pause begins again
		send(0)
		time.Sleep(31 * time.Second)
		first.err = nil
		send(1)
		send(1)
		first.err = &message.SendError{Outage: true, Wait: 2 * time.Minute}
		send(1)
		time.Sleep(119 * time.Second)
		send(0)
		time.Sleep(2 * time.Second)
		send(1)
	})
}

// scripted is a Provider that returns err.
type scripted struct {
	err   error
	mu    sync.Mutex
	calls int
	at    []time.Time
}

func (s *scripted) Send(context.Context, sms.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.at = append(s.at, time.Now())
	return s.err
}

// Messages wait for the rate of their provider; OTPs do not wait for other messages.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		provider := &scripted{}
		p := sms.NewFailover(2, provider)
		start := time.Now()
		done := make(chan time.Duration, 10)
		for range 6 {
			go func() {
				_ = p.Send(t.Context(), sms.Message{Kind: sms.Text})
				done <- time.Since(start)
			}()
		}
		synctest.Wait()
		if err := p.Send(t.Context(), sms.Message{Kind: sms.OTP}); err != nil || time.Since(start) > time.Second {
			t.Errorf("an OTP: %v after %s, want at most 1 s", err, time.Since(start))
		}
		var last time.Duration
		for range 6 {
			last = max(last, <-done)
		}
		if last < 2500*time.Millisecond || last > 5*time.Second {
			t.Errorf("the last of 6 messages left after %s, want about 3 s at 1.6 a second", last)
		}
		// A queue of more than 20 s is a failure, without a place in the queue.
		for range 40 {
			go func() { _ = p.Send(t.Context(), sms.Message{Kind: sms.Text}) }()
		}
		synctest.Wait()
		failed, ok := errors.AsType[*message.SendError](p.Send(t.Context(), sms.Message{Kind: sms.Text}))
		if !ok || failed.Permanent || failed.Wait < 15*time.Second || !strings.Contains(failed.Reason, "rate") {
			t.Errorf("beyond the queue: %+v, want a temporary failure", failed)
		}
		time.Sleep(time.Minute)
	})
}

// TestRateWaitIsLimited: a message that waits behind others and then behind an OTP waits no more
// than 20 s in all, so that its attempt ends before its lease.
func TestRateWaitIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// An OTP leaves every 20 s, another message every 25 s.
		p := sms.NewFailover(0.05, &scripted{})
		if err := p.Send(t.Context(), sms.Message{Kind: sms.Text}); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(24*time.Second, func() {
			if err := p.Send(t.Context(), sms.Message{Kind: sms.OTP}); err != nil {
				t.Errorf("an OTP: %v", err)
			}
		})
		time.Sleep(6 * time.Second)
		start := time.Now()
		err := p.Send(t.Context(), sms.Message{Kind: sms.Text})
		failed, ok := errors.AsType[*message.SendError](err)
		if waited := time.Since(start); !ok || failed.Permanent || waited > 20*time.Second {
			t.Errorf("got %v after %s, want a temporary failure within 20 s", err, waited)
		}
	})
}

// The outcomes of attempts are observed with the name of the provider.
func TestObserve(t *testing.T) {
	t.Parallel()
	var got []string
	gateway := smstest.New(t)
	p, err := sms.New(sms.Config{Accounts: []sms.Account{account(gateway)}, Observe: func(provider, outcome string) { got = append(got, provider+" "+outcome) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{202, http.StatusBadGateway, 422} {
		gateway.Behave(smstest.Behaviour{Status: status})
		sendAttempt(t, p, 1)
	}
	if want := []string{"http sent", "http failed", "http refused"}; !slices.Equal(got, want) {
		t.Errorf("observed %q, want %q", got, want)
	}
}
