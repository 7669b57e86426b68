//go:build unix

// Command ledger writes to a running service until it is interrupted, keeps a ledger of the acknowledged writes outside of the
// service, and compares the two at the end: an acknowledged write that the service does not have is lost, a write that it has twice
// is doubled. Use it to see what a failover, an upgrade or a key rotation does to clients.
//
//	go -C bench run ./ledger -url http://127.0.0.1:8080 -phones http://127.0.0.1:8081,http://127.0.0.1:8082
//
// It adds players with an Idempotency-Key, and repeats a failed call with the same key, as apps do. The service must run in development,
// because the OTPs come from /dev/messages, and needs limits that admit the writes: TOUCHLINE_TIERS, TRUSTED_PROXIES and
// ACCESS_TOKEN_LIFETIME. SIGINT or SIGTERM ends the writes. SIGUSR1 prints a line with the counts, for scripts that compare them between steps.
// With -keep the ledger is in a file at the end; -check compares such a file with the service, for example after a restore.
// The exit status is 1 if no write was acknowledged, if one was lost or doubled, or if more calls failed than -failures admits.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:8080", "address of the service or of its load balancer")
	phones := flag.String("phones", "", "addresses of the processes whose /dev/messages have the OTPs, with commas; default -url")
	coaches := flag.Int("coaches", 4, "coaches, who write at the same time")
	rate := flag.Int("writes", 40, "writes per second of all coaches")
	duration := flag.Duration("duration", 0, "end after this time; 0 writes until a signal")
	failures := flag.Int("failures", -1, "failed calls that are admitted; -1 admits any number")
	keep := flag.String("keep", "", "file for the ledger at the end")
	check := flag.String("check", "", "only compare the ledger in this file with the service")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *phones == "" {
		*phones = *url
	}
	l := &ledger{url: strings.TrimRight(*url, "/"), name: strings.ToLower(rand.Text()[:8]), start: time.Now()}
	var err error
	if *check != "" {
		err = l.load(*check)
	} else {
		err = l.run(ctx, strings.Split(*phones, ","), *coaches, *rate, *duration)
	}
	if err == nil && *keep != "" {
		err = l.save(*keep)
	}
	var r *report
	if err == nil {
		r, err = l.compare(context.WithoutCancel(ctx))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1)
	}
	fmt.Print(r)
	if r.acknowledged == 0 || r.lost+r.doubled > 0 || *failures >= 0 && r.failed > *failures {
		os.Exit(1)
	}
}

// run writes until ctx ends, or for duration if it is not 0.
func (l *ledger) run(ctx context.Context, phones []string, coaches, rate int, duration time.Duration) error {
	// The coaches sign in before the clock starts, because the interrupt must not end a sign-in.
	for i := range coaches {
		c, err := l.signIn(context.WithoutCancel(ctx), phones, fmt.Sprintf("+9198%08d", l.start.UnixMicro()/int64(coaches)%10_000_000*10+int64(i)))
		if err != nil {
			return fmt.Errorf("sign in: %w", err)
		}
		l.coaches = append(l.coaches, c)
	}
	l.start, l.last = time.Now(), time.Now()
	fmt.Printf("%s  %d coaches write %d times a second\n", stamp(), coaches, rate)
	if duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, duration)
		defer cancel()
	}
	usr1 := make(chan os.Signal, 1)
	signal.Notify(usr1, syscall.SIGUSR1)
	go func() {
		for range usr1 {
			l.printCounts()
		}
	}()
	var writers sync.WaitGroup
	for _, c := range l.coaches {
		writers.Go(func() { l.write(ctx, c, time.Second*time.Duration(coaches)/time.Duration(rate)) })
	}
	writers.Wait()
	return nil
}

func stamp() string { return time.Now().UTC().Format("15:04:05.000") }
