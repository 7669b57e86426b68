package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// fraudsters requests codes for n numbers of a block from five addresses, and lets them
// expire. The first used of them sign in.
func fraudsters(t *testing.T, s *touchlinetest.Service, block string, n, used int) {
	t.Helper()
	for i := range n {
		number := fmt.Sprintf("%s%04d", block, i)
		askFrom(t, s, fmt.Sprintf("203.0.113.%d", i%5), number, "coach").Want(t, 202)
		if i < used {
			s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": number, "otp": s.OTP(number, 0)}).Want(t, 200)
		}
	}
	s.Clock.Advance(5*time.Minute + time.Second)
}

// TestFraudRuleBlocksBlock: after 20 unused codes for a block of 10,000 numbers, from
// five addresses, new coaches there get no code for an hour. Registered coaches, known
// devices, guardians and other blocks do.
func TestFraudRuleBlocksBlock(t *testing.T) {
	t.Parallel()
	const registered, known, linked = "+919812349991", "+919812349992", "+919812349993"
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, registered)
		coach.AddPlayer(t, child(1, linked))
		s.Coach(t, known)
		token := s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": known, "otp": requestOTP(t, s, known, "")}).Want(t, 200).String("device_token")
		s.Clock.Advance(2 * time.Hour)

		ask := func(number, role string) *touchlinetest.Response { return askFrom(t, s, "198.51.100.1", number, role) }
		fraudsters(t, s, "+91981234", 19, 0)
		ask("+919812340019", "coach").Want(t, 202) // 19 codes are past their validity
		s.Clock.Advance(5*time.Minute + time.Second)
		ask("+919812340020", "coach").Want(t, 403, "destination_blocked")
		ask("+919812340000", "coach").Want(t, 403, "destination_blocked")
		if n := s.Sent("+919812340020", "otp"); n != 0 {
			t.Errorf("got %d SMS to a blocked number, want 0", n)
		}
		ask(registered, "coach").Want(t, 202)
		ask(linked, "guardian").Want(t, 202)
		ask("+919812340021", "guardian").Want(t, 202)
		ask("+919812350020", "coach").Want(t, 202)
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": known, "device_token": token}).Want(t, 202)

		s.Clock.Advance(time.Hour)
		ask("+919812340020", "coach").Want(t, 202)
	}, behindProxy)
}

// TestFraudRuleAllowsUse: the rule refuses nothing if three in ten codes are used, if
// four addresses asked, or if it is off. Requests that send nothing do not count.
func TestFraudRuleAllowsUse(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		fraudsters(t, s, "+91981235", 20, 6)
		askFrom(t, s, "198.51.100.1", "+919812359999", "coach").Want(t, 202)

		for i := range 40 {
			askFrom(t, s, fmt.Sprintf("203.0.113.%d", i%4), fmt.Sprintf("+91981236%04d", i), "coach").Want(t, 202)
			askFrom(t, s, fmt.Sprintf("203.0.113.%d", i%8), fmt.Sprintf("+91981237%04d", i), "guardian").Want(t, 202)
		}
		s.Clock.Advance(5*time.Minute + time.Second)
		askFrom(t, s, "198.51.100.1", "+919812369999", "coach").Want(t, 202)
		askFrom(t, s, "198.51.100.1", "+919812379999", "coach").Want(t, 202)

		off := s.Replica(func(c *config.Config) { c.OTPFraudRule = false })
		fraudsters(t, s, "+91981238", 20, 0)
		askFrom(t, off, "198.51.100.1", "+919812389999", "coach").Want(t, 202)
		askFrom(t, s, "198.51.100.1", "+919812389998", "coach").Want(t, 403, "destination_blocked")
	}, behindProxy)
}

// TestFraudRuleBlocksCountry: 200 unused codes for another country block it, and only it.
// Codes for the default region never block it as a whole.
func TestFraudRuleBlocksCountry(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		ask := func(i int, format string) *touchlinetest.Response {
			return askFrom(t, s, fmt.Sprintf("203.0.113.%d", i%5), fmt.Sprintf(format, 1000+i), "coach")
		}
		for i := range 200 {
			ask(i, "+91981%d001").Want(t, 202)
		}
		for i := range 199 {
			ask(i, "+4474%d0001").Want(t, 202)
		}
		s.Clock.Advance(5*time.Minute + time.Second)
		ask(200, "+4474%d0001").Want(t, 202)
		s.Clock.Advance(5*time.Minute + time.Second)
		ask(201, "+4474%d0001").Want(t, 403, "destination_blocked")
		ask(201, "+91981%d001").Want(t, 202)
		ask(201, "+33612%d01").Want(t, 202)
	}, behindProxy)
}
