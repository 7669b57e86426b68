package program

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/touchline/touchline/bench"
)

// knownNumbers is the number of registered coaches whom each worker signs in, one after the other.
const knownNumbers = 32

func knownNumber(worker, i int) string {
	return fmt.Sprintf("+91981%07d", worker*knownNumbers+i%knownNumbers)
}

// signIns returns the requests of coaches' sign-ins: request-otp, then login with the OTP that the gateway received.
func signIns(g *gateway, number func(worker, i int) string) func(worker int) func() *http.Request {
	return func(worker int) func() *http.Request {
		i, pending := 0, ""
		return func() *http.Request {
			if pending == "" {
				pending, i = number(worker, i), i+1
				g.expect(pending)
				return bench.NewRequest(http.MethodPost, "/auth/request-otp", fromAnywhere(), `{"mobile_number":"`+pending+`"}`)
			}
			body := `{"mobile_number":"` + pending + `","otp":"` + g.await(pending) + `"}`
			pending = ""
			return bench.NewRequest(http.MethodPost, "/auth/login", bench.JSONHeader, body)
		}
	}
}

// register registers the known numbers: it signs each in once.
func register(ctx context.Context, known bench.Contender, workers int) error {
	once := known
	once.Requests = func(worker int) func() *http.Request {
		next, left := known.Requests(worker), knownNumbers*known.PerOperation
		return func() *http.Request {
			if left == 0 {
				return nil
			}
			left--
			return next()
		}
	}
	_, err := bench.Compare(ctx, []bench.Contender{once}, bench.Options{Rounds: 1, Round: time.Minute, Workers: workers})
	return err
}

// fromAnywhere is JSONHeader with another client address each time, so that requests do not share the limit of an address.
func fromAnywhere() http.Header {
	address := fmt.Sprintf("10.%d.%d.%d", rand.N(256), rand.N(256), rand.N(256))
	return http.Header{"Content-Type": {"application/json"}, "X-Forwarded-For": {address}}
}
