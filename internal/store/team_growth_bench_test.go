package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/store/storetest"
	"github.com/touchline/touchline/internal/team"
)

// BenchmarkTeamGrowth times the lists of the coach's day with a thousand and a million rows of
// another coach in each table. No time may grow with them.
func BenchmarkTeamGrowth(b *testing.B) {
	for _, n := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprint("sqlite/", n), func(b *testing.B) { benchmarkTeamLists(b, newFixture(b, storetest.SQLite(b)), n) })
		b.Run(fmt.Sprint("postgres/", n), func(b *testing.B) { benchmarkTeamLists(b, newFixture(b, storetest.Postgres(b)), n) })
	}
}

// rowsOfOthers insert a row for each i of n: of the coach $1, and of a player $2, a guardian $3
// or a batch $4.
var rowsOfOthers = []string{
	`INSERT INTO batches (id, coach_id, version, name, schedule, time_zone, created_at, updated_at)
		%s SELECT 'x' || i, '$1', 1, 'n', '[]', 'UTC', i, i FROM n`,
	`INSERT INTO attendance_sheets (batch_id, date, coach_id, version, outside_schedule, present, absent, late, excused, taken_at, updated_at)
		%s SELECT '$4', 'x' || i, '$1', 1, FALSE, 1, 0, 0, 0, i, i FROM n`,
	`INSERT INTO attendance_marks (coach_id, batch_id, date, player_id, mark, marked_at, recorded_at, account_id)
		%s SELECT '$1', '$4', 'x' || i, '$2', 'late', i, i, 'a' FROM n`,
	`INSERT INTO fees (id, coach_id, player_id, period, title, amount, currency, due_on, status, paid, reminded_count, created_at, version)
		%s SELECT 'x' || i, '$1', '$2', 1, 't', 9, 'INR', '2026-03-01', 'open', 0, 0, i, 1 FROM n`,
	`INSERT INTO team_messages (id, coach_id, to_all, players, audience, channels, body, recipients, left_out, segments, next_player, next_position, created_at, expanded_at)
		%s SELECT 'x' || i, '$1', FALSE, '[]', 'both', 'sms', 'b', 1, 0, 1, 1, 1, i, i FROM n`,
	`INSERT INTO team_recipients (message_id, position, player_id, party, account_id, is_copy)
		%s SELECT 'x' || i, 1, '$2', 'guardian', '$3', FALSE FROM n`,
	`INSERT INTO team_replies (id, coach_id, player_id, party, account_id, body, created_at)
		%s SELECT 'x' || i, '$1', '$2', 'guardian', '$3', 'b', i FROM n`,
	`INSERT INTO measurements (id, coach_id, player_id, metric, value, unit, measured_on, version, created_at, updated_at)
		%s SELECT 'x' || i, '$1', '$2', 'm', i, 's', '2026-01-01', 1, i, i FROM n`,
	`INSERT INTO performance_reports (id, coach_id, player_id, title, body, first_day, last_day, version, created_at, updated_at)
		%s SELECT 'x' || i, '$1', '$2', 't', 'b', '2026-01-01', '2026-01-31', 1, i, i FROM n`,
}

func benchmarkTeamLists(b *testing.B, p *fixture, n int) {
	by, other := p.coach(1), p.coach(2)
	batch, theirs := p.batch(by, "U12"), p.batch(other, "U12")
	mine, foreign := p.add(by, "Asha Rao", number(3), ""), p.add(other, "Bela Rao", number(4), "")
	guardian, stranger := p.as(actor.Guardian, number(3)), p.as(actor.Guardian, number(4))
	ok(b, p.decide(guardian, mine.ID, approval.Approve))
	ok(b, p.batches().Join(bg, by, batch.ID, mine.ID))
	today := team.DateOf(p.clock.Now(), team.Zone("UTC"))
	for i := range 20 {
		day := today.AddDays(-i)
		_, err := p.attendance().Merge(bg, by, batch.ID, day, marksOf(team.Late, mine.ID), attendance.Precondition{})
		ok(b, err)
		p.addFee(by, mine.ID, day)
		_, err = p.messages(0).Send(bg, by, conversation.Draft{To: conversation.Target{All: true}, Audience: conversation.ToBoth, Text: "Hi", Channels: []conversation.Channel{conversation.InApp}})
		ok(b, err)
		_, err = p.messages(0).Reply(bg, guardian, mine.ID, "Yes")
		ok(b, err)
		_, err = p.records().Measure(bg, by, progress.Measurement{PlayerID: mine.ID, Metric: "m", Value: 1, On: day})
		ok(b, err)
		_, err = p.records().AddReport(bg, by, progress.Report{PlayerID: mine.ID, Title: "t", Text: "x", From: day, To: day})
		ok(b, err)
	}
	p.expand()
	ids := strings.NewReplacer("$1", other.AccountID, "$2", foreign.ID, "$3", stranger.AccountID, "$4", theirs.ID)
	const inOne = 10_000 // a transaction ends after 10 s
	for from := 1; from <= n; from += inOne {
		numbers := fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d)`, from, min(n, from+inOne-1))
		for _, statement := range rowsOfOthers {
			ok(b, run(p.db, ids.Replace(fmt.Sprintf(statement, numbers))))
		}
	}
	if p.postgres {
		for _, statement := range rowsOfOthers {
			ok(b, run(p.db, `ANALYZE `+strings.Fields(statement)[2]))
		}
	}
	for _, list := range []struct {
		name string
		run  func() error
	}{
		{"batches", func() error { return second(p.batches().List(bg, by, false, "", 51)) }},
		{"sheets", func() error { return second(p.attendance().Sheets(bg, by, batch.ID, attendance.Period{}, "", 51)) }},
		{"today", func() error { _, _, err := p.attendance().Today(bg, by); return err }},
		{"attendance", func() error {
			return second(p.attendance().OfPlayer(bg, guardian, mine.ID, attendance.Period{}, attendance.Attended{}, 51))
		}},
		{"fees", func() error {
			return second(p.fees().List(bg, by, fee.Filter{State: fee.Overdue}, fee.Page{Limit: 51}))
		}},
		{"unpaid", func() error { return second(p.fees().Unpaid(bg, by)) }},
		{"family fees", func() error { return second(p.fees().ListForFamily(bg, guardian, mine.ID, fee.Page{Limit: 51})) }},
		{"messages", func() error { return second(p.messages(0).Messages(bg, by, "", 51)) }},
		{"replies", func() error { return second(p.messages(0).Replies(bg, by, true, "", 51)) }},
		{"conversation", func() error { return second(p.messages(0).Conversation(bg, guardian, mine.ID, "", 51)) }},
		{"progress", func() error {
			return second(p.records().Measurements(bg, guardian, mine.ID, "", progress.Measurement{}, 51))
		}},
		{"reports", func() error { return second(p.records().Reports(bg, guardian, mine.ID, "", 51)) }},
	} {
		b.Run(list.name, func(b *testing.B) {
			for b.Loop() {
				ok(b, list.run())
			}
		})
	}
}
