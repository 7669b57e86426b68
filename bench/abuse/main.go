// Command abuse attacks the built service with all its defaults, and prints the peak of its
// memory and how long a neighbour waits for a read meanwhile. It needs Linux.
//
//	go -C bench run ./abuse                                    each attack alone for 40 s, then all for two minutes
//	go -C bench run ./abuse -attacks forms,files -alone 20s    two attacks alone
//	go -C bench run ./abuse -attacks all -duration 2m          all at once, from eight addresses
//	go -C bench run ./abuse -attacks forms+files               some at once, from eight addresses
//	go -C bench run ./abuse -program /tmp/touchline            another build
//	go -C bench run ./abuse -plain                             without TLS, and so without HTTP/2
//
// It sends traffic to loopback only, from 127.0.0.2 to 127.0.0.10, and exits with 1 if a goal is missed.
// The client needs about 9,000 open files, and the service 7,000.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/program"
)

const (
	// maxMemory and maxRead are the goals for all attacks at once.
	maxMemory = 400 << 20
	maxRead   = time.Second
	// allAttacks stands for all attacks at once.
	allAttacks = "all"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "abuse:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var (
		flags    = flag.NewFlagSet("abuse", flag.ContinueOnError)
		chosen   = flags.String("attacks", strings.Join(attackNames(), ",")+","+allAttacks, "attacks, one after the other; a plus sign between some that run at once")
		alone    = flags.Duration("alone", 40*time.Second, "duration of an attack alone")
		duration = flags.Duration("duration", 2*time.Minute, "duration of all attacks at once")
		engines  = flags.String("engines", "sqlite", "database engines: "+strings.Join(program.Engines, ","))
		path     = flags.String("program", "", "a built program; empty builds this module")
		plain    = flags.Bool("plain", false, "no TLS, as behind a proxy; the attack streams is left out then")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "touchline-abuse-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	missed := false
	for engine := range strings.SplitSeq(*engines, ",") {
		s, err := openService(ctx, *path, engine, folder, *plain)
		if err != nil {
			return err
		}
		for name := range strings.SplitSeq(*chosen, ",") {
			atOnce, err := parse(name)
			if err != nil {
				s.close()
				return err
			}
			length := *alone
			if len(atOnce) > 1 {
				length = *duration
			}
			r, err := s.measure(ctx, atOnce, length)
			if err != nil {
				s.close()
				return fmt.Errorf("%s on %s: %w", name, engine, err)
			}
			fmt.Printf("%s on %s, %s: %s\n", name, engine, length, r)
			missed = missed || r.missed()
		}
		s.close()
	}
	if missed {
		return errors.New("a goal was missed: less than 400 MiB, and a p99 below 1 s without a failed read")
	}
	return nil
}

// parse returns the attacks that run at once.
func parse(list string) (chosen []attack, err error) {
	if list == allAttacks {
		return attacks, nil
	}
	for name := range strings.SplitSeq(list, "+") {
		i := slices.Index(attackNames(), name)
		if i < 0 {
			return nil, fmt.Errorf("-attacks: no %q; choose from %s and %s", name, strings.Join(attackNames(), ", "), allAttacks)
		}
		chosen = append(chosen, attacks[i])
	}
	return chosen, nil
}

// result is how the service behaves during an attack. Lower is better for all but Reads.
type result struct {
	Memory    int64 // the peak of the resident memory in bytes
	Reads     int   // of the neighbour
	Failed    int   // of these, without the status 200
	P50, P99  time.Duration
	Responses map[string]map[int]int // of attacks, by status; 0 is none
}

func (r result) missed() bool { return r.Memory >= maxMemory || r.P99 >= maxRead || r.Failed > 0 }

// String formats r for people.
func (r result) String() string {
	return fmt.Sprintf("peak %d MiB; %d reads of the neighbour, p50 %s, p99 %s, %d failed; responses to the attacks %v",
		r.Memory>>20, r.Reads, r.P50.Round(time.Millisecond), r.P99.Round(time.Millisecond), r.Failed, r.Responses)
}

// measure starts the service, attacks it for a time and reads as a neighbour meanwhile.
func (s *service) measure(ctx context.Context, atOnce []attack, length time.Duration) (r result, err error) {
	process, err := s.server.Start(ctx)
	if err != nil {
		return r, err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		process.Stop(ending) //nolint:errcheck // it was only measured
	}()
	attacked, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	counts := new(counts)
	var attackers sync.WaitGroup
	from := addresses[:1]
	if len(atOnce) > 1 {
		from = addresses
	}
	for _, a := range atOnce {
		attackers.Go(func() {
			a.run(attacked, s, &sender{name: a.name, target: s.server.Address(), encrypted: s.encrypted(), from: from, counts: counts})
		})
	}
	reads := s.read(attacked)
	attackers.Wait()
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	_, r.Memory, err = bench.Memory(process.PID())
	r.Reads, r.Failed, r.Responses = len(reads.took), reads.failed, counts.byAttack
	r.P50, r.P99 = reads.quantiles()
	return r, err
}
