package proof_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// appServices says whether the guardian and the student of a family have app services, by the statuses of the API and by what
// they read. Both must say the same.
func (f family) appServices() string {
	f.t.Helper()
	a := f.coach.Call(f.t, "GET", "/api/services/availability/"+f.player, nil).Want(f.t, 200)
	states := ""
	for _, u := range []*touchlinetest.User{f.guardian, f.student} {
		state := "off"
		if a.String(u.Role+"_app_enabled") == "true" {
			state = "on"
		}
		read := u.Call(f.t, "GET", "/api/me/players/"+f.player+"/progress", nil)
		if (read.Status == 200) != (state == "on") {
			f.t.Errorf("%s: the services are %s, but reading the progress responds %d", u.Role, state, read.Status)
		}
		states += " " + state
	}
	return strings.TrimSpace(states)
}

// TestGate: without its log, and after an older copy of the database was restored, the service proves no approval, and serves none.
// Readiness says why, and the log of the service says it once. Revocations go on.
func TestGate(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		f, db := newFamily(t, s), openRaw(t, s.Config.DatabaseURL.Reveal())
		c := &club{TB: t, raw: db, keys: map[string][]any{}}
		f.decide(f.guardian, "guardian", "approved")
		f.decide(f.student, "student", "approved")
		c.settle()
		if got := f.appServices(); got != "on on" {
			t.Fatalf("app services: %s", got)
		}
		full := c.dump()
		wait := func(closed bool) string {
			t.Helper()
			var body string
			ok(t, waitFor(func() bool {
				s.Clock.Advance(time.Second)
				body = string(s.Call(t, "GET", "/readyz", "", nil).Want(t, 200).Body)
				return strings.Contains(body, "app_services") == closed
			}))
			return body
		}
		for what, statements := range map[string][]string{
			"was deleted":            {`DELETE FROM consent_log`},
			"of the log was deleted": {`DELETE FROM consent_records`},
			"of all players":         {`DELETE FROM consent_records`, `DELETE FROM record_keys`, `DELETE FROM log_tiles`, `DELETE FROM log_hashes`, `UPDATE consent_log SET size = 0, checkpoint = NULL, origin = ''`},
		} {
			before := strings.Count(s.Log.String(), "log_stopped")
			tx, err := db.BeginTx(bg, nil) // the service must see all of it or nothing
			ok(t, err)
			for _, statement := range statements {
				_, err := tx.ExecContext(bg, statement)
				ok(t, err)
			}
			ok(t, tx.Commit())
			body := wait(true)
			if !strings.Contains(body, what) && !strings.Contains(body, "checkpoint") {
				t.Errorf("readiness does not say that %s: %s", what, body)
			}
			if got := f.appServices(); got != "off off" {
				t.Errorf("%s: app services: %s", what, got)
			}
			for range 5 {
				s.Clock.Advance(time.Second)
			}
			if n := strings.Count(s.Log.String(), "log_stopped") - before; n < 1 || n > 2 {
				t.Errorf("%s: the operators were told %d times", what, n)
			}
			c.restore(full)
			wait(false)
			if got := f.appServices(); got != "on on" {
				t.Errorf("restored: app services: %s", got)
			}
		}
		if n := strings.Count(s.Log.String(), "a background job failed"); n > 0 {
			t.Errorf("%d jobs failed", n)
		}

		// An older copy says yes where the guardian has said no since.
		older := c.dump()
		f.decide(f.guardian, "guardian", "revoked")
		c.settle()
		if got := f.appServices(); got != "off off" && got != "off on" {
			t.Errorf("revoked: app services: %s", got)
		}
		ok(t, s.Stop())
		c.restore(older)
		again := s.Replica()
		f.Service = again
		f.coach, f.guardian, f.student = f.coach.On(again), f.guardian.On(again), f.student.On(again)
		if got := f.appServices(); got != "off off" {
			t.Errorf("after the rollback: app services: %s", got)
		}
		if body := string(again.Call(t, "GET", "/readyz", "", nil).Want(t, 200).Body); !strings.Contains(body, "published checkpoint") {
			t.Errorf("readiness: %s", body)
		}
		f.guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": f.player, "action": "revoked"}).Want(t, 200)
	}, withCheckpointFile(t))
}

// withCheckpointFile is the setting LOG_CHECKPOINT, which counts with the database of a test only if it is set.
func withCheckpointFile(t *testing.T) touchlinetest.Option {
	return func(c *config.Config) {
		set, err := config.Load(nil, []string{"TOUCHLINE_LOG_CHECKPOINT=" + filepath.Join(t.TempDir(), "checkpoint")})
		ok(t, err)
		from, to := reflect.ValueOf(c).Elem(), reflect.ValueOf(set).Elem()
		for i := range from.NumField() {
			if field := from.Type().Field(i); field.IsExported() && field.Name != "LogCheckpoint" {
				to.Field(i).Set(from.Field(i))
			}
		}
		*c = *set
	}
}
