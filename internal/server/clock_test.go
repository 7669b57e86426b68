package server_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestWrongClock: a replica whose clock differs from the clock of PostgreSQL warns when it starts.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	const warning = "the clock of this machine differs"
	s := touchlinetest.New(t, storetest.Postgres(t))
	if strings.Contains(s.Log.String(), warning) {
		t.Errorf("a right clock: %s", s.Log)
	}
	s.Clock.Advance(5 * time.Minute)
	if log := s.Replica().Log.String(); !regexp.MustCompile(warning + `.*"ahead_seconds":(29\d|300)\b`).MatchString(log) {
		t.Errorf("5 minutes ahead: %s", log)
	}
	s.Clock.Advance(-10 * time.Minute)
	if log := s.Replica().Log.String(); !regexp.MustCompile(warning + `.*"ahead_seconds":-30\d\b`).MatchString(log) {
		t.Errorf("5 minutes behind: %s", log)
	}
	lite := touchlinetest.New(t, "sqlite:"+filepath.Join(t.TempDir(), "db"))
	if strings.Contains(lite.Log.String(), warning) {
		t.Errorf("SQLite: %s", lite.Log)
	}
}
