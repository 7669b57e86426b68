package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/privacy"
)

// retained is the Retention of the fixture.
var retained = privacy.Retention{Deleted: 30 * day, Unanswered: 180 * day, Medical: 365 * day, Notifications: 365 * day, Deliveries: 90 * day}

// retain does what the worker does for the settings RETAIN_*, on two replicas at once.
func (p *fixture) retain() {
	p.Helper()
	for _, err := range concurrently(2, func(int) error { _, err := p.EndUnanswered(bg, retained.Unanswered); return err }) {
		ok(p, err)
	}
	ok(p, second(p.db.Sweep(bg, p.clock.Now())))
}

// warnings returns the texts of the warnings to a coach.
func (p *fixture) warnings(by actor.Actor) []string {
	p.Helper()
	rs, err := p.db.Query(bg, `SELECT body FROM notifications WHERE account_id = $1 AND type = 'unanswered_ending' ORDER BY seq`, by.AccountID)
	list, err := database.CollectTexts(rs, err)
	ok(p, err)
	return list
}

// TestUnanswered: the coach is warned once, 14 days before the data of players without an answer is erased. An answer keeps
// it, and a new number or a removal changes what the warning says.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, other := p.coach(1), p.coach(2)
		named := p.plantFamily(other)
		ok(p, p.Remove(bg, other, named))
		silent := p.add(by, "Silent", number(11), "")
		answers := p.add(by, "Answers", number(12), "")
		moved := p.add(by, "Moved", number(13), "")
		removed := p.add(by, "Removed", number(14), "")
		refused := p.add(by, "Refused", number(15), "")
		ok(p, p.decide(p.as(actor.Guardian, number(15)), refused.ID, approval.Reject))
		alone := p.add(other, "Alone", number(16), "")
		p.clock.advance(12 * time.Hour)
		later := p.add(by, "Later", number(17), "")
		left := func(want ...string) {
			p.Helper()
			rs, err := p.db.Query(bg, `SELECT student_name FROM players WHERE coach_id = $1 AND deleted_at IS NULL ORDER BY id`, by.AccountID)
			got, err := database.CollectTexts(rs, err)
			ok(p, err)
			if !slices.Equal(got, want) {
				p.Errorf("players %q, want %q", got, want)
			}
		}
		p.clock.advance(165*day + 11*time.Hour)
		p.retain()
		if got := p.warnings(by); len(got) != 0 {
			p.Errorf("warned too early: %q", got)
		}
		p.clock.advance(2 * time.Hour)
		p.retain()
		p.retain()
		if got := p.warnings(by); len(got) != 1 || !strings.Contains(got[0], "5 families have not answered") || !strings.Contains(got[0], "29 August 2026") {
			p.Errorf("warnings %q", got)
		}
		if got := p.warnings(other); len(got) != 1 || !strings.Contains(got[0], "The family of Alone has not answered") {
			p.Errorf("warnings %q", got)
		}
		p.clock.advance(7 * day)
		ok(p, p.decide(p.as(actor.Guardian, number(12)), answers.ID, approval.Approve))
		ok(p, second(p.Edit(bg, by, moved.ID, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(18))}})))
		ok(p, p.Remove(bg, by, removed.ID))
		p.clock.advance(7*day - time.Hour)
		p.retain()
		left("Silent", "Answers", "Moved", "Refused", "Later")
		p.clock.advance(13 * time.Hour)
		p.retain()
		left("Answers", "Moved", "Refused")
		for _, id := range []string{silent.ID, removed.ID, later.ID, alone.ID} {
			if p.count(`SELECT count(*) FROM players p JOIN parties g ON g.player_id = p.id AND g.role = 'guardian' WHERE p.id = $1 AND p.erased_at IS NOT NULL AND g.number IS NULL`, id) != 1 {
				p.Errorf("player %s was not erased", id)
			}
		}
		if n := p.count(`SELECT count(*) FROM accounts WHERE mobile_number IN ($1, $2, $3)`, string(number(11)), string(number(14)), string(number(17))); n != 0 {
			p.Errorf("%d accounts of erased players have their number", n)
		}
		p.clock.advance(200 * day)
		p.retain()
		if got := p.warnings(by); len(got) != 2 || !strings.Contains(got[1], "The family of Moved") {
			p.Errorf("warnings %q, want a second one after the number changed", got)
		}
		p.clock.advance(15 * day)
		p.retain()
		left("Answers", "Refused")
		if n, err := p.EndUnanswered(bg, 0); n != 0 || err != nil {
			p.Errorf("without a time: %d, %v", n, err)
		}
	})
}

// TestMedicalRetention: a medical text ends after RETAIN_MEDICAL, unless the coach entered it again.
func TestMedicalRetention(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		add := func(name, medical string) string {
			s := child(name, "")
			s.Medical = medical
			a, err := p.Add(bg, by, s, mother(number(2)))
			ok(p, err)
			ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
			return a.ID
		}
		old, again, ended := add("Old", "Asthma"), add("Again", "Asthma"), add("Ended", "Asthma")
		add("None", "")
		p.clock.advance(300 * day)
		ok(p, second(p.Edit(bg, by, again, approval.Patch{Student: approval.StudentPatch{Medical: ptr("Asthma, and nuts")}})))
		ok(p, second(p.Edit(bg, by, ended, approval.Patch{Student: approval.StudentPatch{Medical: ptr("")}})))
		version := p.count(`SELECT version FROM players WHERE id = $1`, old)
		p.clock.advance(66 * day)
		p.retain()
		if n := p.count(`SELECT count(*) FROM players WHERE medical IS NOT NULL OR medical_at IS NOT NULL`); n != 1 {
			p.Errorf("%d players have a medical text, want 1", n)
		}
		if n := p.count(`SELECT version FROM players WHERE id = $1`, old); n != version+1 {
			p.Errorf("version %d, want %d", n, version+1)
		}
		p.clock.advance(300 * day)
		p.retain()
		if n := p.count(`SELECT count(*) FROM players WHERE medical IS NOT NULL OR medical_at IS NOT NULL`); n != 0 {
			p.Errorf("%d players have a medical text", n)
		}
	})
}

// TestDue: what is shown before an erasure is what it erases, by table, and showing it changes nothing.
func TestDue(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		id := p.plantFamily(by)
		p.add(by, "Brother", number(99931), "")
		// Two players share an account, a message and its text.
		one, two := p.add(by, "One", number(99933), ""), p.add(by, "Two", number(99933), "")
		_, err := p.messages(0).Send(bg, by, conversation.Draft{
			To: conversation.Target{PlayerIDs: []string{one.ID, two.ID}}, Audience: conversation.ToGuardians, Text: "One and Two", Channels: []conversation.Channel{conversation.SMS},
		})
		ok(p, err)
		p.expand()
		ok(p, run(p.db, `UPDATE deliveries SET state = 'failed', reason = 'expired', lease = NULL`))
		for _, id := range []string{id, one.ID, two.ID} {
			ok(p, p.Remove(bg, by, id))
		}
		at := func(setting, table string) (rows int64, next time.Time) {
			p.Helper()
			list, err := retained.Due(bg, p.db, p.clock.Now())
			ok(p, err)
			for _, d := range list {
				if d.Setting == setting && d.Table == table {
					return d.Rows, d.Next
				}
			}
			return 0, time.Time{}
		}
		if rows, next := at("RETAIN_DELETED", "players"); rows != 0 || !next.Equal(p.clock.Now().Add(30*day)) {
			p.Errorf("%d players are due, the next at %s", rows, next)
		}
		p.clock.advance(31 * day)
		before := p.rows()
		kept := map[string]string{"record_keys": ` WHERE sealed IS NOT NULL AND version < 9223372036854775807`} // without the records of erasures
		tables := []string{"deliveries", "record_keys", "team_replies", "attendance_marks", "notifications"}
		want := map[string]int64{}
		for _, table := range tables {
			want[table], _ = at("RETAIN_DELETED", table)
			if want[table] == 0 {
				p.Errorf("no row of %s is due", table)
			}
		}
		if rows, _ := at("RETAIN_DELETED", "accounts"); rows != 2 {
			p.Errorf("%d accounts are due, want those of the student and of the other guardian", rows)
		}
		if rows, _ := at("RETAIN_DELETED", "players"); rows != 3 || p.rows() != before {
			p.Errorf("%d players are due, want 3; or a row has changed", rows)
		}
		if rows, _ := at("RETAIN_DELETED", "team_messages"); rows != 2 {
			p.Errorf("the texts of %d messages are due, want 2", rows)
		}
		counts := map[string]int64{}
		for _, table := range tables {
			counts[table] = int64(p.count(`SELECT count(*) FROM ` + table + kept[table]))
		}
		ok(p, second(retained.BeforeSweep(bg, p.db, p.clock.Now())))
		for _, table := range tables {
			got := counts[table] - int64(p.count(`SELECT count(*) FROM `+table+kept[table]))
			if table == "attendance_marks" {
				got = 1 // its note goes, the row stays
			}
			if got != want[table] {
				p.Errorf("%s: %d rows were erased, %d were shown", table, got, want[table])
			}
		}
		rows, next := at("RETAIN_UNANSWERED", "players")
		if rows != 0 || !next.IsZero() {
			p.Errorf("%d players without an answer are due, the next at %s", rows, next)
		}
		p.clock.advance(140 * day)
		p.retain()
		if _, next := at("RETAIN_UNANSWERED", "players"); !next.Equal(p.clock.Now().Add(player.UnansweredWarning)) {
			p.Errorf("the next player without an answer goes at %s", next)
		}
		p.clock.advance(15 * day)
		if rows, _ := at("RETAIN_UNANSWERED", "players"); rows != 1 {
			p.Errorf("%d players without an answer are due, want 1", rows)
		}
		list, err := privacy.Retention{}.Due(bg, p.db, p.clock.Now())
		ok(p, err)
		for _, d := range list {
			if d.Rows != 0 || d.Kept != 0 {
				p.Errorf("kept for ever: %+v", d)
			}
		}
	})
}
