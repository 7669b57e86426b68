package e2e_test

import (
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// behindProxy lets a test choose the address of a request with X-Forwarded-For.
func behindProxy(c *config.Config) {
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// askFrom requests an OTP from a client address.
func askFrom(t *testing.T, s *touchlinetest.Service, address, number, role string) *touchlinetest.Response {
	t.Helper()
	return s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": number, "role": role}, "X-Forwarded-For: "+address)
}

// TestRequestsWithoutRoleKeepTotal: more requests than the service may send in an hour, as
// guardian for numbers that no player names, send nothing and leave the sends to others.
func TestRequestsWithoutRoleKeepTotal(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		for i := range 105 {
			askFrom(t, s, fmt.Sprintf("2001:db8:%x::1", i/2), fmt.Sprintf("+9198127%05d", i), "guardian").Want(t, 202)
		}
		askFrom(t, s, "203.0.113.1", "+919812800001", "coach").Want(t, 202)
		s.OTP("+919812800001", 0)
	}, behindProxy, func(c *config.Config) { c.OTPSendsPerAddressHour, c.OTPSendsTotalHour = 2, 100 })
}

// TestRequestsWithoutRoleKeepNumber: strangers cannot use up the sends of a number
// with requests for roles that it does not hold.
func TestRequestsWithoutRoleKeepNumber(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		for _, role := range []string{"guardian", "student"} {
			for range 5 {
				askFrom(t, s, "203.0.113.1", coachNumber, role).Want(t, 202)
				s.Clock.Advance(61 * time.Second)
			}
			askFrom(t, s, "203.0.113.1", coachNumber, role).Want(t, 429, "otp_send_limit")
		}
		for range 5 {
			askFrom(t, s, "203.0.113.1", coachNumber, "coach").Want(t, 202)
			s.Clock.Advance(61 * time.Second)
		}
		askFrom(t, s, "203.0.113.1", coachNumber, "coach").Want(t, 429, "otp_send_limit")
	}, behindProxy)
}

// TestSpentLimitsHideRole: a number that a player names and one that no player names
// get the same responses until and after each limit is spent.
func TestSpentLimitsHideRole(t *testing.T) {
	t.Parallel()
	const stranger = "+919812800002"
	const between = 20 * time.Second // the longest time between two requests on a busy machine, shorter than a step
	// What differs between any two requests: the trace, and times that move on between them.
	varies := regexp.MustCompile(`"(trace_id|ends_at)":"[^"]*"|"expires_in":\d+`)
	shape := func(a *touchlinetest.Response) string {
		return fmt.Sprint(a.Status, varies.ReplaceAllString(string(a.Body), ""))
	}
	retryAfter := func(a *touchlinetest.Response) float64 {
		seconds, _ := strconv.Atoi(a.Header.Get("Retry-After"))
		return float64(seconds)
	}
	for _, tt := range []struct {
		limit string
		step  time.Duration
		set   func(*config.Config)
	}{
		{"otp_sends_per_hour", 61 * time.Second, func(*config.Config) {}},
		{"otp_sends_per_day", 30 * time.Minute, func(*config.Config) {}},
		{"otp_sends_total_hour", 61 * time.Second, func(c *config.Config) { c.OTPSendsTotalHour = 6 }},
		{"otp_sends_per_address_hour", 61 * time.Second, func(c *config.Config) { c.OTPSendsPerAddressHour = 4 }},
	} {
		t.Run(tt.limit, func(t *testing.T) {
			t.Parallel()
			touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
				s.Coach(t, coachNumber).AddPlayer(t, child(1, guardianNumber))
				s.Clock.Advance(2 * time.Hour)
				if tt.limit == "otp_sends_total_hour" {
					// New coaches may use half of it, so the last three sends are the guardian's.
					for i := range 3 {
						askFrom(t, s, "203.0.113.9", fmt.Sprintf("+91981290000%d", i), "coach").Want(t, 202)
					}
					askFrom(t, s, "203.0.113.9", "+919812900009", "coach").Want(t, 429, "otp_send_limit")
				}
				refused := false
				for i := range 12 {
					// The stranger asks first: the guardian's request counts for the total.
					other := askFrom(t, s, "2001:db8:2::1", stranger, "guardian")
					linked := askFrom(t, s, "2001:db8:1::1", guardianNumber, "guardian")
					if shape(linked) != shape(other) || math.Abs(retryAfter(linked)-retryAfter(other)) > between.Seconds() {
						t.Fatalf("request %d: got %v %s for the guardian and %v %s for a stranger", i, linked.Header, linked.Body, other.Header, other.Body)
					}
					refused = refused || linked.String("limit") == tt.limit
					s.Clock.Advance(tt.step)
				}
				if !refused {
					t.Errorf("%s did not refuse", tt.limit)
				}
			}, behindProxy, tt.set)
		})
	}
}

// TestSiteLimit: an IPv6 /48 requests at most five times as many OTPs as one /64.
func TestSiteLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		ask := func(i int, role string) *touchlinetest.Response {
			return askFrom(t, s, fmt.Sprintf("2001:db8:1:%x::1", i), fmt.Sprintf("+9198130%05d", i), role)
		}
		for i := range 10 {
			ask(i, []string{"coach", "guardian"}[i%2]).Want(t, 202)
		}
		for i, role := range []string{"coach", "guardian"} {
			if a := ask(10+i, role).Want(t, 429, "otp_send_limit"); a.String("limit") != "otp_sends_per_address_hour" {
				t.Fatalf("got %s", a.Body)
			}
		}
		askFrom(t, s, "2001:db8:2::1", "+919813100000", "coach").Want(t, 202)
	}, behindProxy, func(c *config.Config) { c.OTPSendsPerAddressHour = 2 })
}
