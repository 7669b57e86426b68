package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/server"
)

// faults are what goes wrong. Those of a step end with it; a gateway, an endpoint and a clock stay wrong for some steps.
type faults struct {
	lose                      int  // the number of the call whose answer is lost; 0 loses none
	full                      bool // the disk
	gateway                   string
	gatewayUntil, endpointEnd int // the steps in which they work again
	endpointMended            time.Time
	clockUntil, secondUntil   int
}

// maxSkew is how far the clock of a process is wrong. The rules about times leave as much.
const maxSkew = 2 * time.Minute

// arm chooses the fault of a step.
func (s *service) arm() {
	r, f := s.run, &s.faults
	if r.Calm {
		return
	}
	s.mend()
	switch n := r.random.IntN(100); {
	case n < 5:
		f.lose = 1 + r.random.IntN(4)
	case n < 11:
		killer.arm(s.databaseFile(), 1+r.random.IntN(200))
	case n < 13:
		f.full = killer.fill()
	case n < 15 && f.gatewayUntil == 0:
		f.gateway = one(r, []string{smsHost, smsHost, chatHost, voiceHost, mailHost})
		r.network.behave(f.gateway, behaviour(1+r.random.IntN(4)))
		f.gatewayUntil = r.step + 1 + r.random.IntN(stepsPerDay)
	case n < 16 && f.endpointEnd == 0:
		r.network.loopback.failing, r.hookFailed = true, true
		f.endpointEnd = r.step + 1 + r.random.IntN(stepsPerDay)
	case n < 18 && f.clockUntil == 0:
		s.replicas[0].skew = r.skew()
		f.clockUntil = r.step + 1 + r.random.IntN(2*stepsPerDay)
	case n < 19 && len(s.replicas) == 1:
		s.start(r.skew())
		f.secondUntil = r.step + 1 + r.random.IntN(6*stepsPerDay)
	}
}

// mend ends what was wrong for some steps.
func (s *service) mend() {
	r, f := s.run, &s.faults
	if f.gatewayUntil != 0 && r.step >= f.gatewayUntil {
		r.network.behave(f.gateway, accepts)
		f.gatewayUntil = 0
	}
	if f.endpointEnd != 0 && r.step >= f.endpointEnd {
		if r.network.loopback.failing {
			r.network.loopback.failing, f.endpointMended = false, r.clock.now
		}
		if r.clock.now.Sub(f.endpointMended) >= 48*hour { // its last retry has come
			f.endpointEnd, r.hookFailed = 0, false
		}
	}
	if f.clockUntil != 0 && r.step >= f.clockUntil {
		s.replicas[0].skew, f.clockUntil = 0, 0
	}
	s.clocksDiffered()
	if r.step >= f.secondUntil && len(s.replicas) > 1 {
		orPanic(s.close(1))
	}
}

// skew is how much the clock of a process is wrong.
func (r *Run) skew() time.Duration {
	return time.Duration(r.random.Int64N(int64(2*maxSkew))) - maxSkew
}

// disarm ends the fault of the step.
func (s *service) disarm() {
	s.faults.lose = 0
	s.faults.freeDisk()
	killer.disarm()
	s.run.network.settle(false)
}

// loseAnswer reports whether this answer is lost.
func (f *faults) loseAnswer() bool {
	if f.lose > 0 {
		f.lose--
		return f.lose == 0
	}
	return false
}

func (f *faults) freeDisk() {
	if f.full {
		killer.free()
		f.full = false
	}
}

// restartIfEnded starts another process if the processes have ended: they have one disk. It reports whether it did.
func (s *service) restartIfEnded() bool {
	if !killer.ended() {
		return false
	}
	s.faults.full = false
	skew := s.replicas[0].skew
	_ = s.close(0) // the connections are closed; nothing reaches the files
	killer.restore()
	s.run.network.settle(true)
	s.log.Reset()
	s.start(skew)
	return true
}

// receiptsArrive brings reports about messages, repeated and in any order.
func receiptsArrive(r *Run) string {
	sent := where(r.network.sent[max(0, len(r.network.sent)-30):], func(m *message) bool { return m.Channel == "sms" })
	if len(sent) == 0 {
		return nothing
	}
	for range 5 {
		m := one(r, sent)
		report := url.Values{"type": {"1"}}
		if r.chance(10) {
			report = url.Values{"type": {"2"}, "answer": {one(r, []string{"stat:UNDELIV err:001", "stat:EXPIRED err:006"})}}
			r.failed[m.To] = true
		}
		for range 1 + r.random.IntN(2) {
			if got, _ := r.service.call("GET", m.Receipt+"?"+report.Encode(), "", nil); got.Status >= 400 && got.Status != 404 {
				r.fail("a report about a message is taken", "%d %s", got.Status, got.Body)
			}
		}
	}
	return "5"
}

// rotateKey makes another key for access tokens, as an operator does.
func rotateKey(r *Run) string {
	if !r.chance(20) {
		return nothing
	}
	ctx := context.Background()
	operators, err := server.OpenOperators(ctx, r.service.config, server.Options{Now: r.service.now})
	if err == nil {
		_, err = operators.RotateSigningKey(ctx, actor.Operator{Name: operator.ShellName("simulation")})
	}
	if operators != nil {
		_ = operators.Close() // nothing is left to write
	}
	return fmt.Sprint("worked: ", err == nil)
}
