// Command gateway is an SMS gateway to try Touchline with: it prints what it is
// asked to send.
//
//	go run ./internal/sms/smstest/gateway
//	TOUCHLINE_SMS=http:http://127.0.0.1:9080/send go run ./cmd/touchline serve
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/sms"
	"github.com/touchline/touchline/internal/sms/smstest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:9080", "where to listen")
	status := flag.Int("status", 0, "answer this status instead of accepting")
	delay := flag.Duration("delay", 0, "wait before answering")
	deaf := flag.Bool("deaf", false, "never answer")
	flag.Parse()
	if err := run(*addr, smstest.Behaviour{Status: *status, Delay: *delay, Deaf: *deaf}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(addr string, behaviour smstest.Behaviour) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	gateway, err := smstest.Start(addr)
	if err != nil {
		return err
	}
	printer := sms.NewLog(os.Stdout)
	gateway.Notice = func(m smstest.Received) {
		_ = printer.Send(ctx, sms.Message{ID: m.ID, To: phone.Number(m.To), Text: m.Text, Kind: sms.Kind(m.Kind)})
	}
	gateway.Behave(behaviour)
	fmt.Printf("listening: TOUCHLINE_SMS=%s\n", gateway.Spec())
	<-ctx.Done()
	return gateway.Close()
}
