// Command pumping asks the built service for sign-in codes for many numbers, each from another address, as a fraudster does who
// earns from SMS, and prints what it costs on each channel.
//
//	go -C bench run ./pumping                           5,000 numbers on each channel
//	go -C bench run ./pumping -numbers 500 -program /tmp/touchline
//
// The service has its default limits. It exits with 1 if a channel on which people write to the service costs anything.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/program"
)

// price is the price of an SMS to India, in rupees.
const price = 0.12

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	numbers := flag.Int("numbers", 5_000, "numbers on each channel")
	path := flag.String("program", "", "a built program; empty builds this module")
	flag.Parse()
	if err := run(ctx, *path, *numbers); err != nil {
		fmt.Fprintln(os.Stderr, "pumping:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string, numbers int) error {
	var sent atomic.Int64
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	gateway := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent.Add(1) })}
	go gateway.Serve(l) //nolint:errcheck // Close ends it
	defer gateway.Close()
	server, err := program.NewDefaultServer(
		ctx, path, "sqlite", "TOUCHLINE_SMS=http:http://"+l.Addr().String(), fmt.Sprintf("TOUCHLINE_SMS_PRICES=IN=%.2f", price), "TOUCHLINE_TRUSTED_PROXIES=127.0.0.1",
		"TOUCHLINE_WHATSAPP=chat", "TOUCHLINE_WHATSAPP_ACCOUNT=phone_id=1,token=t,app_secret=s,verify_token=v,number=+919900000077",
	)
	if err != nil {
		return err
	}
	defer server.Close()
	process, err := server.Start(ctx)
	if err != nil {
		return err
	}
	defer process.Stop(ctx) //nolint:errcheck // the data is removed next
	for i, channel := range []string{"sms", "whatsapp_inbound"} {
		before := sent.Load()
		accepted, err := pump(ctx, server.URL(), channel, i*numbers, numbers)
		if err != nil {
			return err
		}
		time.Sleep(3 * time.Second) // the worker empties the queue
		left := sent.Load() - before
		fmt.Printf("%s: %d requests, %d accepted, %d SMS, cost %.2f\n", channel, numbers, accepted, left, float64(left)*price)
		if channel != "sms" && left > 0 {
			return errors.New("a request on a channel on which the person writes cost something")
		}
	}
	return nil
}

// pump asks for the codes of numbers that are spread over blocks, so that no block shows the pattern.
func pump(ctx context.Context, url, channel string, first, numbers int) (accepted int, err error) {
	for i := first; i < first+numbers; i++ {
		body := fmt.Sprintf(`{"mobile_number":"+9198%04d%04d","role":"coach","channel":%q}`, i%9973, i%9949, channel)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/auth/request-otp", bytes.NewReader([]byte(body)))
		if err != nil {
			return accepted, err
		}
		req.Header = bench.JSONHeader.Clone()
		req.Header.Set("X-Forwarded-For", fmt.Sprintf("203.%d.%d.%d", i>>14&127, i>>7&127, i&127))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return accepted, err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusAccepted {
			accepted++
		}
	}
	return accepted, nil
}
