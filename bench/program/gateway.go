package program

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
)

// otpTimeout ends the wait for an OTP.
const otpTimeout = 10 * time.Second

// gateway is an SMS gateway that keeps the OTP of each message for the worker that waits for it.
type gateway struct {
	url    string
	server *http.Server
	otps   sync.Map     // number to chan string
	last   atomic.Int64 // Unix time of the last message in nanoseconds
	// messages counts the messages that are not OTPs.
	messages atomic.Int64
	// recorder is nil unless messages are recorded.
	recorder atomic.Pointer[arrivals]
}

var otpDigits = regexp.MustCompile(`\d{4,10}`)

func openGateway() (*gateway, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &gateway{url: "http://" + l.Addr().String()}
	g.server = &http.Server{Handler: g, ReadHeaderTimeout: time.Second}
	go g.server.Serve(l) //nolint:errcheck // Close ends it
	return g, nil
}

func (g *gateway) close() { g.server.Close() }

// ServeHTTP accepts a message.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	var m struct{ To, Text, Kind string }
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	g.last.Store(time.Now().UnixNano())
	if m.Kind != "otp" {
		if recorder := g.recorder.Load(); recorder != nil {
			recorder.add(m.To, at)
			time.Sleep(recorder.delay)
		}
		g.messages.Add(1)
		return
	}
	if otp, ok := g.otps.Load(m.To); ok {
		select {
		case otp.(chan string) <- otpDigits.FindString(m.Text):
		default:
		}
	}
}

// record starts to record messages that are not OTPs, and delays the response to each by delay.
func (g *gateway) record(delay time.Duration) *arrivals {
	a := &arrivals{delay: delay, at: map[string]time.Time{}}
	g.recorder.Store(a)
	return a
}

// expect prepares for an OTP to number. Call it before the OTP is requested.
func (g *gateway) expect(number string) { g.otps.Store(number, make(chan string, 1)) }

// await returns the OTP that was sent to number, or "" after otpTimeout.
func (g *gateway) await(number string) string {
	otp, _ := g.otps.Load(number)
	defer g.otps.Delete(number)
	select {
	case digits := <-otp.(chan string):
		return digits
	case <-time.After(otpTimeout):
		return ""
	}
}

// drained waits until no message has arrived for a tenth of a second, so that the deliveries of one turn do not slow down the
// next. After 10 seconds it gives up and returns nil.
func (g *gateway) drained(ctx context.Context) error {
	const idle = 100 * time.Millisecond
	for range 100 {
		if time.Since(time.Unix(0, g.last.Load())) > idle {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(idle):
		}
	}
	return nil
}
