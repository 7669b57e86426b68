// Command gateway is an SMS gateway for development: it prints the messages that it
// receives.
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
	addr := flag.String("addr", "127.0.0.1:9080", "listen `address`")
	status := flag.Int("status", 0, "respond with this `status` instead of 202")
	delay := flag.Duration("delay", 0, "wait before each response")
	unresponsive := flag.Bool("unresponsive", false, "never respond")
	flag.Parse()
	if err := run(*addr, smstest.Behaviour{Status: *status, Delay: *delay, Unresponsive: *unresponsive}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(addr string, behaviour smstest.Behaviour) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	printer := sms.NewLog(os.Stdout)
	gateway, err := smstest.Start(addr, func(m smstest.Received) {
		_ = printer.Send(ctx, sms.Message{ID: m.ID, To: phone.Number(m.To), Text: m.Text, Kind: sms.Kind(m.Kind)})
	})
	if err != nil {
		return err
	}
	gateway.Behave(behaviour)
	fmt.Printf("listening: TOUCHLINE_SMS=%s\n", gateway.Spec())
	<-ctx.Done()
	return gateway.Close()
}
