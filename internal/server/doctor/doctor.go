// Package doctor checks whether an installation works: the database, clocks, keys, providers, certificates, disks, limits and
// dangerous settings. Each check asks the real thing. It sends no message and changes nothing.
package doctor

import (
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
)

// Status is the outcome of a check.
type Status string

// The outcomes. A warning needs attention, but people can work.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Failed  Status = "failed"
)

// Result is what a check found. A check of several things has several.
type Result struct {
	Check   string `json:"check"`
	Status  Status `json:"status"`
	Message string `json:"message"`
}

// Options are what tests replace. A zero field means the real one.
type Options struct {
	Now func() time.Time
	// Roots are the authorities of the certificates of PUBLIC_URL and TLS_AUTOCERT_DOMAINS.
	Roots *x509.CertPool
}

// checkTimeout limits the time of a check.
const checkTimeout = 30 * time.Second

// checkup is what the checks share.
type checkup struct {
	cfg   *config.Config
	now   func() time.Time
	roots *x509.CertPool
	// db is nil if the database cannot be read.
	db *database.DB
}

type check struct {
	name string
	run  func(*checkup, context.Context) []Result
}

// checks are the checks after that of the database, in the order of their results.
var checks = []check{
	{"clock", (*checkup).clock},
	{"connections", (*checkup).connections},
	{"master key", (*checkup).masterKey},
	{"sms", (*checkup).sms},
	{"whatsapp", (*checkup).whatsApp},
	{"voice", (*checkup).voice},
	{"mail", (*checkup).mail},
	{"push", (*checkup).push},
	{"webhooks", (*checkup).webhooks},
	{"certificates", (*checkup).certificates},
	{"files", (*checkup).files},
	{"erasures", (*checkup).erasures},
	{"checkpoint", (*checkup).checkpoint},
	{"disk", (*checkup).disk},
	{"limits", (*checkup).limits},
	{"languages", (*checkup).languages},
	{"settings", (*checkup).settings},
}

// Run runs all checks and returns their results in a fixed order.
func Run(ctx context.Context, cfg *config.Config, o Options) []Result {
	c := &checkup{cfg: cfg, now: o.Now, roots: o.Roots}
	if c.now == nil {
		c.now = time.Now
	}
	results := make([][]Result, 1+len(checks))
	results[0] = named("database", bounded(ctx, c.openDatabase))
	if c.db != nil {
		defer c.db.Close()
	}
	var wait sync.WaitGroup
	for i, check := range checks {
		wait.Go(func() {
			results[1+i] = named(check.name, bounded(ctx, func(ctx context.Context) []Result { return check.run(c, ctx) }))
		})
	}
	wait.Wait()
	return slices.Concat(results...)
}

func bounded(ctx context.Context, run func(context.Context) []Result) []Result {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return run(ctx)
}

func named(name string, results []Result) []Result {
	for i := range results {
		results[i].Check = name
	}
	return results
}

func ok(format string, args ...any) Result {
	return Result{Status: OK, Message: fmt.Sprintf(format, args...)}
}

func warning(format string, args ...any) Result {
	return Result{Status: Warning, Message: fmt.Sprintf(format, args...)}
}

func failed(format string, args ...any) Result {
	return Result{Status: Failed, Message: fmt.Sprintf(format, args...)}
}

func one(r Result) []Result { return []Result{r} }

// needsDatabase is the result of a check that reads a database that cannot be read.
func needsDatabase() []Result {
	return one(warning("Not checked, because the database cannot be read: correct that first."))
}
