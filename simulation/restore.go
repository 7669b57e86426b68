package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
)

// keptNights is how many nights a backup is kept.
const keptNights = 3

// night is what the operator keeps of a night: the database, and here the model as it was.
type night struct {
	day        int
	dir        string
	model      *club
	hook       map[string]map[int]bool
	sent       int    // messages by then
	checkpoint string // of the log of consents
	// left are the accounts that were deleted since: the file ERASURES names them.
	left []leaving
}

// leaving is an account that was deleted: that of a number, or of a coach with a name.
type leaving struct{ who, role string }

// keepNight keeps some nights of SQLite.
func (r *Run) keepNight(day int) {
	if r.night != nil && day-r.night.day >= keptNights {
		r.night = nil
	}
	if r.seed(-1_000_000 - day); r.Database != "" || r.Calm || !r.chance(7) {
		return
	}
	n := &night{day: day, dir: filepath.Join(r.service.dir, "night"), model: r.club.copy(), hook: copyHook(r.network.loopback.hook), sent: len(r.network.sent), checkpoint: r.service.checkpoint()}
	orPanic(os.MkdirAll(n.dir, 0o700))
	copyDatabase(r.service.databaseFile(), filepath.Join(n.dir, "touchline.db"))
	r.night = n
}

func copyHook(hook map[string]map[int]bool) map[string]map[int]bool {
	all := map[string]map[int]bool{}
	for id, sequences := range hook {
		all[id] = maps.Clone(sequences)
	}
	return all
}

// checkpoint returns the newest checkpoint of the log that the service serves.
func (s *service) checkpoint() string {
	for range maxTries {
		if got, ok := s.send(public, "GET", "/log/checkpoint", "", nil); ok && got.Status == 200 {
			return got.Body
		}
	}
	return ""
}

// tree is the name of the log and the number of records of a checkpoint: its first two lines.
func tree(checkpoint string) string {
	return strings.Join(strings.SplitN(checkpoint, "\n", 3)[:min(2, strings.Count(checkpoint, "\n"))], " ")
}

// restoreNight restores the newest backup, as after the loss of a disk. The file ERASURES, the newest checkpoint of the log and the master
// key are there. All who were signed in sign in again.
func restoreNight(r *Run) string {
	n, s := r.night, r.service
	if n == nil {
		return nothing
	}
	killer.disarm()
	s.faults.freeDisk()
	published, _ := os.ReadFile(filepath.Join(s.dir, "log-checkpoint")) // there is none before the first record
	orPanic(s.close(0))
	s.restore(n.dir)
	for _, m := range r.network.sent[n.sent:] {
		m.Unsure, m.Forgotten = true, true // what left since the night can leave again
	}
	names, numbers := r.club.names, r.club.numbers
	r.club, r.network.loopback.hook = n.model.copy(), copyHook(n.hook)
	r.club.names, r.club.numbers = names, numbers // a name is of one person
	r.everHeld = true
	s.log.Reset()
	s.start(0)
	older := tree(string(published)) != tree(n.checkpoint)
	r.checkGate(older)
	if older {
		operators, err := server.OpenOperators(context.Background(), s.config, server.Options{Now: s.now})
		orPanic(err)
		log, err := operators.Log(context.Background())
		orPanic(err)
		if _, err := log.Continue(context.Background(), actor.Operator{Name: operator.ShellName("simulation")}); err != nil {
			r.fail("a restored older copy proves no approval until an operator continues the log", "it was not stopped: %v", err)
		}
		orPanic(operators.Close())
	}
	r.work(time.Minute)
	for _, l := range n.left {
		l.again(r)
	}
	for _, p := range r.club.present() {
		p.touched = true
	}
	return fmt.Sprintf("older: %v, erased again: %d", older, len(n.left))
}

// restore writes the backup of a database into an empty one, with the commands of the operator.
func (s *service) restore(dir string) {
	ctx := context.Background()
	identity, err := age.GenerateX25519Identity()
	orPanic(err)
	from := *s.config
	from.DatabaseURL = config.SecretURL("sqlite:" + filepath.Join(dir, "touchline.db"))
	rows := func(string, int64) {}
	var file bytes.Buffer
	_, err = server.Backup(ctx, &from, server.Options{Now: func() time.Time { return s.run.clock.now }}, &file, rows, identity.Recipient())
	orPanic(err)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(s.databaseFile() + suffix) // the last one may have left no -wal
	}
	archive, err := server.OpenBackup(&file, identity)
	orPanic(err)
	_, err = server.Restore(ctx, s.config, archive, rows)
	orPanic(err)
}

// checkGate checks that an older copy gives no party app services.
func (r *Run) checkGate(older bool) {
	var ids []string
	for _, p := range r.club.present() {
		ids = append(ids, p.id)
	}
	got, _ := r.service.send(admin, "POST", "/api/services/availability/query", r.club.token, object{"player_ids": ids[:min(len(ids), 200)]})
	if got == nil || !older {
		return
	}
	for _, i := range items(got.JSON["items"]) {
		if i["guardian_app_enabled"] != false || i["student_app_enabled"] != false {
			r.fail("a restored older copy proves no approval until an operator continues the log", "%v", i)
		}
	}
	if len(ids) > 0 && got.Status != 200 {
		r.fail("a restored older copy proves no approval until an operator continues the log", "%d %s", got.Status, got.Body)
	}
}

// again notes what the service did with an account that ERASURES names: it left a second time.
func (l leaving) again(r *Run) {
	if l.role != "coach" {
		r.left(l.who, l.role)
		return
	}
	for i, c := range r.club.coaches {
		if c.name == l.who {
			r.coachLeft(i)
		}
	}
}
