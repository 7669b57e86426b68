package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store/storetest"
	"github.com/touchline/touchline/internal/verification"
)

// auditor is the operator of a test that reads the audit log.
var auditor = actor.Operator{Name: operator.ShellName("auditor")}

// TestReadsOfOperatorsAreAudited: every list of an operator adds an entry to the audit log
// in its transaction.
func TestReadsOfOperatorsAreAudited(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		by := actor.Operator{ID: p.db.NewID(), Name: "desk"}
		object := p.db.NewID()
		for _, tt := range []struct {
			want string
			read func() error
		}{
			{"kyc.list queue ", func() error { _, err := p.verify().Queue(bg, by, verification.Cursor{}, 5); return err }},
			{"token.list token ", func() error { _, err := p.db.Operators.Tokens(bg, by, "", 5); return err }},
			{"audit.read audit ", func() error { _, err := p.db.Operators.Audit(bg, by, "", "", 5); return err }},
			{"audit.read audit of object " + object, func() error { _, err := p.db.Operators.Audit(bg, by, object, "", 5); return err }},
		} {
			ok(t, tt.read())
			entries, err := p.db.Operators.Audit(bg, auditor, "", "", 1)
			ok(t, err)
			e := entries[0]
			if got := e.Action + " " + e.ObjectKind + " " + e.Detail; got != tt.want || e.By != by {
				t.Errorf("recorded %q by %v, want %q by %v", got, e.By, tt.want, by)
			}
		}
	})
}

// TestOperatorTokens: a stored token is read back unchanged and is revoked once, and the
// audit log records each action with its operator.
func TestOperatorTokens(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		now, shell := p.clock.Now(), actor.Operator{Name: operator.ShellName("root")}
		want := operator.Token{
			ID: p.db.NewID(), Name: "support", Scopes: []operator.Scope{operator.KYC, operator.Audit},
			CreatedAt: now, EndsAt: now.Add(90 * day),
		}
		ok(t, p.db.Operators.AddToken(bg, shell, want, []byte("hash")))
		got, err := p.db.Operators.TokenByHash(bg, []byte("hash"))
		ok(t, err)
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Error(diff)
		}
		if none, err := p.db.Operators.TokenByHash(bg, []byte("other")); none != nil || err != nil {
			t.Errorf("an unknown hash finds %v, %v", none, err)
		}
		for i, used := range []time.Duration{0, time.Minute, 10 * time.Minute} {
			ok(t, p.db.Operators.MarkTokenUsed(bg, want.ID, now.Add(used), now.Add(used-5*time.Minute)))
			got, _ := p.db.Operators.TokenByHash(bg, []byte("hash"))
			if exact := i != 1; got.LastUsedAt.Equal(now.Add(used)) != exact {
				t.Errorf("used after %s, kept as %s", used, got.LastUsedAt)
			}
		}
		for range 2 {
			revoked, err := p.db.Operators.RevokeToken(bg, want.Operator(), want.ID)
			if ok(t, err); !revoked.RevokedAt.Equal(now) {
				t.Errorf("revoked at %s", revoked.RevokedAt)
			}
			p.clock.advance(time.Hour)
		}
		if none, err := p.db.Operators.RevokeToken(bg, shell, p.db.NewID()); none != nil || err != nil {
			t.Errorf("an unknown id revokes %v, %v", none, err)
		}
		entries, err := p.db.Operators.Audit(bg, auditor, want.ID, "", 10)
		ok(t, err)
		var said []string
		for _, e := range entries {
			said = append(said, e.By.ID+"/"+e.By.Name+" "+e.Action+" "+e.ObjectKind+" "+e.Detail)
		}
		if !slices.Equal(said, []string{
			want.ID + "/support token.revoke token ",
			"/shell:root token.create token scopes kyc,audit until " + want.EndsAt.Format(time.DateOnly),
		}) {
			t.Errorf("recorded %q", said)
		}
		page, err := p.db.Operators.Audit(bg, auditor, "", entries[0].ID, 10)
		if ok(t, err); len(page) != 1 || page[0].ID != entries[1].ID {
			t.Errorf("the second page is %v", page)
		}
	})
}

// TestOperatorSessions: a session is read back with its token, ends once, and is deleted
// by the sweep after its end. The audit log has its begin and end.
func TestOperatorSessions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		now := p.clock.Now()
		token := operator.Token{
			ID: p.db.NewID(), Name: "support", Scopes: []operator.Scope{operator.KYC, operator.Audit}, CreatedAt: now, EndsAt: now.Add(90 * day),
		}
		ok(t, p.db.Operators.AddToken(bg, actor.Operator{Name: operator.ShellName("root")}, token, []byte("token hash")))
		want := operator.Session{ID: p.db.NewID(), Token: token, CreatedAt: now, EndsAt: now.Add(8 * time.Hour)}
		ok(t, p.db.Operators.AddOperatorSession(bg, want, []byte("hash")))
		other := operator.Session{ID: p.db.NewID(), Token: token, CreatedAt: now, EndsAt: now.Add(8 * time.Hour)}
		ok(t, p.db.Operators.AddOperatorSession(bg, other, []byte("other hash")))

		_, err := p.db.Operators.RevokeToken(bg, token.Operator(), token.ID)
		ok(t, err)
		want.Token.RevokedAt = now
		got, err := p.db.Operators.OperatorSessionByHash(bg, []byte("hash"))
		ok(t, err)
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Error(diff)
		}
		for _, unknown := range []string{"", "token hash", "hash2"} {
			if none, err := p.db.Operators.OperatorSessionByHash(bg, []byte(unknown)); none != nil || err != nil {
				t.Errorf("the unknown hash %q finds %v, %v", unknown, none, err)
			}
		}

		for range 2 {
			ok(t, p.db.Operators.EndOperatorSession(bg, token.Operator(), want.ID))
		}
		if ended, err := p.db.Operators.OperatorSessionByHash(bg, []byte("hash")); ended != nil || err != nil {
			t.Errorf("after its end the session is %v, %v", ended, err)
		}
		entries, err := p.db.Operators.Audit(bg, auditor, want.ID, "", 10)
		ok(t, err)
		var said []string
		for _, e := range entries {
			said = append(said, e.By.Name+" "+e.Action+" "+e.ObjectKind)
		}
		if !slices.Equal(said, []string{"support operator.sign_out operator_session", "support operator.sign_in operator_session"}) {
			t.Errorf("recorded %q", said)
		}

		for _, tt := range []struct {
			after time.Duration
			left  int
		}{{8 * time.Hour, 1}, {8*time.Hour + time.Microsecond, 0}} {
			ok(t, p.db.SweepAt(bg, now.Add(tt.after)))
			if n := p.count(`SELECT count(*) FROM operator_sessions`); n != tt.left {
				t.Errorf("a sweep after %s leaves %d sessions, want %d", tt.after, n, tt.left)
			}
		}
	})
}

// TestRecordIntrospections: concurrent replicas add to the one entry of a token and minute.
func TestRecordIntrospections(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		minute := p.clock.Now().Truncate(time.Minute)
		one, two := actor.Operator{ID: p.db.NewID(), Name: "gateway"}, actor.Operator{ID: p.db.NewID(), Name: "desk"}
		var replicas sync.WaitGroup
		for range 8 {
			replicas.Go(func() {
				err := p.db.Operators.RecordIntrospections(bg, []operator.Introspections{
					{By: one, Minute: minute, Count: 2}, {By: one, Minute: minute.Add(time.Minute), Count: 3}, {By: two, Minute: minute, Count: 1},
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		replicas.Wait()
		got := map[string]int64{}
		for _, by := range []actor.Operator{one, two} {
			entries, err := p.db.Operators.Audit(bg, auditor, by.ID, "", 10)
			ok(t, err)
			for _, e := range entries {
				if e.Action != operator.Introspected || e.By != by || e.ObjectKind != "token" {
					t.Errorf("recorded %+v", e)
				}
				got[by.Name+" "+e.At.Sub(minute).String()] = e.Count
			}
		}
		if diff := cmp.Diff(map[string]int64{"gateway 0s": 16, "gateway 1m0s": 24, "desk 0s": 8}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestAuditIsAppendOnly: no statement changes an entry or removes one, but for the count of
// introspections.
func TestAuditIsAppendOnly(t *testing.T) {
	t.Parallel()
	changes := regexp.MustCompile(`(?i)(UPDATE|DELETE\s+FROM|REPLACE\s+INTO|TRUNCATE)\s+audit_log|INTO audit_log[^;]*ON CONFLICT`)
	const countOnly = "ON CONFLICT (operator_id, at) WHERE action = 'token.introspect' DO UPDATE SET count = audit_log.count + excluded.count`"
	names, err := filepath.Glob("*.go")
	ok(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		ok(t, err)
		source = bytes.ReplaceAll(source, []byte(countOnly), nil)
		if m := changes.Find(source); m != nil {
			t.Errorf("%s: %s", name, m)
		}
	}
}
