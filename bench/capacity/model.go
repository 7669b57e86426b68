package main

import (
	"cmp"
	"math"
	"slices"
)

// cost is what one call takes: CPU seconds of the service and of PostgreSQL.
type cost struct{ app, database float64 }

// costs are measured (docs/capacity.md): CPU seconds, bytes, and what one process or one database reaches.
type costs struct {
	Engine                                                  string
	read, refresh, signIn, addPlayer, decision, write, send cost
	bytesPerPlayer                                          float64 // of the database, after a year
	commits                                                 float64 // a second
	streams                                                 float64 // of one process
}

var sqlite = costs{
	Engine: "sqlite", read: cost{74e-6, 0}, refresh: cost{190e-6, 0}, signIn: cost{1.1e-3, 0}, addPlayer: cost{1.2e-3, 0}, decision: cost{2.6e-3, 0},
	write: cost{1.2e-3, 0}, send: cost{0.5e-3, 0}, bytesPerPlayer: 202_000, commits: 740, streams: 10_000,
}

var postgres = costs{
	Engine: "postgres", read: cost{0.11e-3, 0.09e-3}, refresh: cost{0.35e-3, 0.23e-3}, signIn: cost{1.2e-3, 2.3e-3}, addPlayer: cost{1.3e-3, 2.8e-3},
	decision: cost{3e-3, 6.5e-3}, write: cost{1.3e-3, 2.8e-3}, send: cost{0.6e-3, 1.2e-3}, bytesPerPlayer: 289_000, commits: 5_000, streams: 10_000,
}

// use is what people do. A player has one guardian; one student of two has a phone.
type use struct {
	Opens       float64 // times that a person opens the app on a day
	Reads       float64 // calls that read, each time
	Open        float64 // part of the people whose app is open in the busiest minute
	SignIns     float64 // of a person in a year
	Trainings   float64 // of a player in a year; the coach saves one sheet for BatchSize players
	BatchSize   float64
	Fees        float64 // of a player in a year, each with a payment
	Results     float64 // measurements and reports of a player in a year
	Messages    float64 // of the coach to a player in a year, one in SMSPart by SMS
	SMSPart     float64
	Services    float64 // availability that other services read, of a player on a day
	BusiestHour float64
	Peak        float64
}

var usual = use{
	Opens: 0.5, Reads: 6, Open: 0.02, SignIns: 4, Trainings: 90, BatchSize: 20, Fees: 12, Results: 8, Messages: 24, SMSPart: 0.25, Services: 2,
	BusiestHour: 0.2, Peak: 2,
}

const people = 1.5 // guardian, and a student of two, for each player

// need is what a number of players needs.
type need struct {
	costs                                             costs
	Players, Calls, Commits, AppCores, DatabaseCores  float64
	Processes, Connections, Streams, StreamMemory     float64
	Disk, SMS, SMSHour, OTPHour, LogRecords, Delivery float64
}

func (u use) needs(players float64, c costs) need {
	day := players / 365
	type line struct {
		n      float64 // on a day
		cost   cost
		writes bool
	}
	sends := day * (2 + people*u.SignIns + people*u.Messages + 2*u.Fees)
	lines := []line{
		{players * people * u.Opens * u.Reads, c.read, false},
		{players * people * u.Opens, c.refresh, true},
		{players * u.Services, c.read, false},
		{day * people * u.SignIns, c.signIn, true},
		{day, c.addPlayer, true},
		{day * 2, c.decision, true},
		{day * (u.Trainings/u.BatchSize + 2*u.Fees + u.Results), c.write, true},
		{day * u.Messages / u.BatchSize, c.write, true},
		{sends, c.send, true},
	}
	n := need{costs: c, Players: players}
	second := u.BusiestHour * u.Peak / 3600
	for i, l := range lines {
		rate := l.n * second
		if i < len(lines)-1 {
			n.Calls += rate
		}
		if l.writes {
			n.Commits += rate
		}
		n.AppCores += rate * l.cost.app
		n.DatabaseCores += rate * l.cost.database
	}
	n.Delivery = sends * second
	n.LogRecords = day * 3 * second
	n.Streams = players * people * u.Open
	n.StreamMemory = n.Streams * 40e3 / 1e9
	n.Disk = players * c.bytesPerPlayer / 1e9
	n.SMS = day * (2 + people*u.SignIns + u.Messages*u.SMSPart)
	n.SMSHour = n.SMS * u.BusiestHour
	n.OTPHour = day * people * u.SignIns * u.BusiestHour
	if c.Engine == sqlite.Engine {
		n.Processes = 1
		return n
	}
	// Processes are half busy at the peak, and two at least, so that one can be lost.
	n.Processes = math.Max(2, math.Ceil(math.Max(n.AppCores/(2*0.5), n.Streams/c.streams)))
	n.Connections = n.Processes * 16
	return n
}

// limit is how much of a limit is used: 1 is all of it.
type limit struct {
	name string
	use  float64
}

// limits returns the use of each limit, the largest first.
func (n need) limits() []limit {
	l := []limit{
		{"SMS in an hour: MESSAGES_TOTAL_HOUR=2000, without OTPs", (n.SMSHour - n.OTPHour) / 2000},
		{"OTPs in an hour: OTP_SENDS_TOTAL_HOUR=1000", n.OTPHour / 1000},
		{"deliveries: one provider at 100 a second", n.Delivery / 100},
		{"records of the log: 1,000 for each batch, one batch a second", n.LogRecords / 1000},
	}
	if n.costs.Engine == sqlite.Engine {
		l = append(l,
			limit{"commits of one SQLite file", n.Commits / n.costs.commits},
			limit{"4 cores of one process", n.AppCores / 4},
			limit{"streams of one process: STREAMS=4000", n.Streams / 4000},
			limit{"a file of 500 GB, whose copy takes an hour", n.Disk / 500})
	} else {
		l = append(l,
			limit{"commits of one PostgreSQL primary", n.Commits / n.costs.commits},
			limit{"32 cores of one PostgreSQL primary, half of them busy", n.DatabaseCores / 16},
			limit{"500 connections to PostgreSQL without a pooler", n.Connections / 500},
			limit{"a database of 4 TB, whose base backup takes half a day", n.Disk / 4000})
	}
	slices.SortFunc(l, func(a, b limit) int { return cmp.Compare(b.use, a.use) })
	return l
}
