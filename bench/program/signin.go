package program

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/bench"
)

// knownNumbers is how many coaches' numbers each worker signs in, in turn.
const knownNumbers = 32

func knownNumber(worker, i int) string {
	return fmt.Sprintf("+91981%07d", worker*knownNumbers+i%knownNumbers)
}

// SignIn compares the sign-in of registered coaches with that of new coaches. Each OTP is sent through an SMS gateway, so the
// CPU time includes the delivery. Call the returned function to stop the server.
func SignIn(ctx context.Context, engine string, o bench.Options) ([]bench.Contender, func(), error) {
	gateway, err := openGateway()
	if err != nil {
		return nil, nil, err
	}
	s, err := NewServer(ctx, "", engine, "http:"+gateway.url)
	if err != nil {
		gateway.close()
		return nil, nil, err
	}
	p, err := s.Start(ctx)
	if err != nil {
		s.Close()
		gateway.close()
		return nil, nil, err
	}
	closeAll := func() {
		stop(p)
		s.Close()
		gateway.close()
	}
	var fresh atomic.Int64
	contender := bench.Contender{URL: s.URL(), PID: p.PID(), PerOperation: 2}
	known, unknown := contender, contender
	known.Name, known.Requests = "known number", signIns(gateway, knownNumber)
	unknown.Name = "new number"
	unknown.Requests = signIns(gateway, func(int, int) string { return fmt.Sprintf("+91982%07d", fresh.Add(1)) })
	if err := register(ctx, known, o.Workers); err != nil {
		closeAll()
		return nil, nil, err
	}
	return []bench.Contender{known, unknown}, closeAll, nil
}

// signIns returns the requests of coaches' sign-ins: request-otp, then login with the OTP that the gateway received.
func signIns(g *gateway, number func(worker, i int) string) func(worker int) func() *http.Request {
	return func(worker int) func() *http.Request {
		i, pending := 0, ""
		return func() *http.Request {
			if pending == "" {
				pending, i = number(worker, i), i+1
				g.expect(pending)
				return bench.NewRequest(http.MethodPost, "/auth/request-otp", bench.JSONHeader, `{"mobile_number":"`+pending+`"}`)
			}
			body := `{"mobile_number":"` + pending + `","otp":"` + g.await(pending) + `"}`
			pending = ""
			return bench.NewRequest(http.MethodPost, "/auth/login", bench.JSONHeader, body)
		}
	}
}

// register signs every known number in once.
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
	_, err := bench.Compare(ctx, []bench.Contender{once}, bench.Options{Rounds: 1, Round: time.Minute, Warmup: -1, Workers: workers})
	return err
}
