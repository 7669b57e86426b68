// Package program measures the built service as a separate process: start-up time, memory, and operations over HTTP. Use it
// to compare two builds.
package program

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/touchline/touchline/internal/store/storetest"
)

// Engines are the database engines that can be measured.
var Engines = []string{"sqlite", "postgres"}

// Database is an empty database with a data directory for the service that uses it.
type Database struct {
	Dir string // the data directory
	URL string // the setting DATABASE_URL

	closers []func()
}

// NewDatabase creates a SQLite file, or a database on a throwaway PostgreSQL cluster with fsync. Call Close to remove it.
func NewDatabase(engine string) (*Database, error) {
	dir, err := os.MkdirTemp("", "touchline-bench-")
	if err != nil {
		return nil, err
	}
	d := &Database{Dir: dir, closers: []func(){func() { os.RemoveAll(dir) }}}
	if engine == "sqlite" {
		d.URL = "sqlite:" + filepath.Join(dir, "touchline.db")
		return d, nil
	}
	cluster, err := storetest.DurableServer()
	if err != nil {
		d.Close()
		return nil, err
	}
	url, drop, err := storetest.Create(cluster)
	if err != nil {
		d.Close()
		return nil, err
	}
	d.URL = url
	d.closers = append(d.closers, func() { drop() }) //nolint:errcheck // the cluster is deleted when this process ends
	return d, nil
}

// Close removes the database and its data directory. Stop the service first.
func (d *Database) Close() {
	for i := len(d.closers) - 1; i >= 0; i-- {
		d.closers[i]()
	}
}

// Environment returns the settings of a measured service. Limits are counted but set so high that they refuse nothing. known is
// the output of the program's config command: an older build refuses a setting that it does not know.
func Environment(d *Database, sms, known string) []string {
	env := []string{
		"DATA_DIR=" + d.Dir, "DATABASE_URL=" + d.URL, "SMS=" + sms,
		"COUNTRIES=*", "OTP_RESEND_AFTER=0s", "SHUTDOWN_DRAIN=0s",
		"TRUSTED_PROXIES=127.0.0.1,::1", // all connections come from one address
	}
	for _, limit := range []string{
		"OTP_SENDS_PER_HOUR", "OTP_SENDS_PER_DAY", "OTP_SENDS_PER_ADDRESS_HOUR", "OTP_SENDS_TOTAL_HOUR", "REQUESTS_PER_ADDRESS_MINUTE",
		"MESSAGES_TOTAL_HOUR", "MESSAGES_TOTAL_DAY", "MESSAGES_PER_ADDRESS", "MESSAGES_PER_BLOCK", "MESSAGES_NEW_COACH",
		"MESSAGES_PER_NUMBER_FROM_COACH", "MESSAGES_PER_NUMBER", "MESSAGES_PER_COACH",
	} {
		if strings.Contains(known, "TOUCHLINE_"+limit+" ") {
			env = append(env, limit+"=1000000000")
		}
	}
	for i := range env {
		env[i] = "TOUCHLINE_" + env[i]
	}
	return env
}
