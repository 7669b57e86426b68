// Command capacity computes what a number of players needs, from measured costs and assumptions about their use, and what reaches its
// limit first. docs/capacity.md explains the columns, and has the sources of the costs.
//
//	go -C bench run ./capacity                                    10 thousand, 1 million and 100 million players
//	go -C bench run ./capacity -players 50000 -peak 3             other numbers
//	go -C bench run ./capacity -players 1000000 -engine sqlite    one process with SQLite
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
)

func main() {
	players := flag.String("players", "10000,1000000,100000000", "players, with commas")
	engine := flag.String("engine", "", "sqlite or postgres; empty chooses sqlite up to 20,000 players")
	u := usual
	flag.Float64Var(&u.Opens, "opens", u.Opens, "times that a person opens the app or pages on a day")
	flag.Float64Var(&u.Trainings, "trainings", u.Trainings, "trainings of a player in a year")
	flag.Float64Var(&u.Messages, "messages", u.Messages, "messages of the coach to a player in a year")
	flag.Float64Var(&u.BusiestHour, "hour", u.BusiestHour, "part of a day's use in its busiest hour")
	flag.Float64Var(&u.Peak, "peak", u.Peak, "busiest second, as a multiple of the mean of that hour")
	flag.Parse()
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	var sizes []need
	for s := range strings.SplitSeq(*players, ",") {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || n < 1 {
			fmt.Fprintf(os.Stderr, "capacity: -players: %q is not a number of players\n", s)
			os.Exit(2)
		}
		costs := postgres
		if *engine == "sqlite" || *engine == "" && n <= 20_000 {
			costs = sqlite
		}
		sizes = append(sizes, u.needs(n, costs))
	}
	row := func(name string, value func(n need) string) {
		fmt.Fprintf(t, "%s\t", name)
		for _, n := range sizes {
			fmt.Fprintf(t, "%s\t", value(n))
		}
		fmt.Fprintln(t)
	}
	number := func(format string, value func(n need) float64) func(n need) string {
		return func(n need) string { return fmt.Sprintf(format, value(n)) }
	}
	row("players", number("%.0f", func(n need) float64 { return n.Players }))
	row("engine", func(n need) string { return n.costs.Engine })
	row("calls a second at the peak", number("%.1f", func(n need) float64 { return n.Calls }))
	row("commits a second at the peak", number("%.1f", func(n need) float64 { return n.Commits }))
	row("cores of the service", number("%.3f", func(n need) float64 { return n.AppCores }))
	row("cores of PostgreSQL", number("%.3f", func(n need) float64 { return n.DatabaseCores }))
	row("processes with 2 cores", number("%.0f", func(n need) float64 { return n.Processes }))
	row("connections to PostgreSQL", number("%.0f", func(n need) float64 { return n.Connections }))
	row("open streams at the peak", number("%.0f", func(n need) float64 { return n.Streams }))
	row("memory of the streams, GB", number("%.2f", func(n need) float64 { return n.StreamMemory }))
	row("database after a year, GB", number("%.1f", func(n need) float64 { return n.Disk }))
	row("SMS a day", number("%.0f", func(n need) float64 { return n.SMS }))
	row("SMS in the busiest hour", number("%.0f", func(n need) float64 { return n.SMSHour }))
	t.Flush()
	for _, n := range sizes {
		fmt.Printf("\n%.0f players: use of each limit, the first that is reached on top\n", n.Players)
		for _, l := range n.limits() {
			fmt.Printf("  %7.1f%%  %s\n", 100*l.use, l.name)
		}
	}
}
