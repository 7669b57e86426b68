package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/store/storetest"
)

// messages returns the service of messages with a limit of segments a day; 0 is none. Numbers of India
// are reachable by SMS, there is no chat, and a segment costs 2.
func (p *fixture) messages(perDay int) *conversation.Service {
	rules := conversation.Rules{
		CopyGuardian: true,
		Reachable:    func(_ conversation.Channel, n phone.Number) bool { return n[:3] == "+91" },
		Render: func(m message.TeamMessage) string {
			m.StopURL = "https://t.example/me"
			return message.TeamText(m)
		},
		Price: func(phone.Number) conversation.Cost { return 2 },
	}
	return &conversation.Service{DB: p.db, Consent: p.Access(), Rules: rules, PerDay: func(string) int { return perDay }, CheckFeature: anyTier, Now: p.clock.Now, NewID: p.db.NewID}
}

// anyTier allows every feature in every tier.
func anyTier(string, string) error { return nil }

// expand gives all recipients their deliveries.
func (p *fixture) expand() {
	p.Helper()
	for more := true; more; {
		var err error
		more, err = p.messages(0).ExpandNext(bg)
		ok(p, err)
	}
}

// recipients returns the recipients of a message as "student party state reason".
func (p *fixture) recipients(by actor.Actor, id string) []string {
	p.Helper()
	list, err := p.messages(0).Recipients(bg, by, id, 0, 5000)
	ok(p, err)
	var all []string
	for _, r := range list {
		best := r.Best()
		line := fmt.Sprintf("%s %s %s %s", r.StudentName, r.Party, best.State, best.Reason)
		if r.Copy {
			line += "copy"
		}
		all = append(all, strings.TrimSpace(line))
	}
	return all
}

// TestTeamMessages follows one message to everybody through acceptance and expansion.
func TestTeamMessages(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		c := p.coach(1)
		asha := p.add(c, "Asha", number(2), number(3))
		p.add(c, "Bela", number(2), "") // a sibling: the same guardian
		_, err := p.Add(bg, c, adult("Chetan", number(4)), nil)
		ok(t, err)
		_, err = p.Add(bg, c, adult("Dora", "+447400123456"), nil)
		ok(t, err)
		eve := p.add(c, "Eve", number(5), number(6))
		_, err = p.Dispute(bg, p.as(actor.Guardian, number(5)), eve.Party(actor.Guardian).Request.ID, approval.Wording{})
		ok(t, err)
		guardian := p.as(actor.Guardian, number(2))
		ok(t, p.decide(guardian, asha.ID, approval.Approve))
		_, err = p.db.Outbox.SavePreferences(bg, number(6), message.PreferencesPatch{Language: ptr("hi")})
		ok(t, err)

		s := p.messages(0)
		draft := conversation.Draft{To: conversation.Target{All: true}, Audience: conversation.ToBoth, Text: "Training is at 5.", Channels: []conversation.Channel{conversation.InApp, conversation.SMS}}
		plan, _, err := s.Preview(bg, c, draft)
		ok(t, err)
		m, err := s.Send(bg, c, draft)
		ok(t, err)
		if n := p.count(`SELECT count(*) FROM team_recipients`); n != 0 {
			t.Fatalf("%d recipients have rows before the expansion", n)
		}
		p.expand()
		want := []string{
			"Asha guardian delivered", "Asha student queued",
			"Bela guardian left_out same_number", "Bela student left_out no_number",
			"Chetan guardian left_out no_guardian", "Chetan student queued",
			"Dora guardian left_out no_guardian", "Dora student left_out number_not_allowed",
			"Eve guardian left_out disputed", "Eve student queued",
		}
		if diff := cmp.Diff(want, p.recipients(c, m.ID)); diff != "" {
			t.Errorf("recipients (-want +got):\n%s", diff)
		}
		texts := []conversation.Variant{
			{Text: "Coach 1: Training is at 5.", Segments: 1, Messages: 1, People: 1},
			{Text: "Coach 1: Training is at 5.\nTo stop: https://t.example/me", Restricted: true, Segments: 1, Messages: 2, People: 2},
			{Text: "Coach 1: Training is at 5.\nबंद करने के लिए: https://t.example/me", Restricted: true, Segments: 1, Messages: 1, People: 1},
		}
		if diff := cmp.Diff(texts, plan.Variants()); diff != "" {
			t.Errorf("texts (-want +got):\n%s", diff)
		}
		totals := plan.Totals()
		if totals.Recipients != 10 || totals.LeftOut != 6 || m.LeftOut != 6 || totals.Segments != m.Segments || totals.Cost != conversation.Cost(2*m.Segments) {
			t.Errorf("totals = %+v of message %+v", totals, m)
		}
		counts, err := s.CountStates(bg, c, m)
		ok(t, err)
		if counts[conversation.Queued] < 3 || counts[conversation.Delivered] != 1 {
			t.Errorf("states = %v", counts)
		}
		if !slices.Contains(p.tray(guardian.AccountID), string(message.TeamMessageType)) {
			t.Error("the guardian who approved got no notification")
		}
		if student := p.as(actor.Student, number(3)); slices.Contains(p.tray(student.AccountID), string(message.TeamMessageType)) {
			t.Error("a student who did not approve got a notification")
		}
		if more, err := p.messages(0).ExpandNext(bg); more || err != nil {
			t.Errorf("expanded again: %v, %v", more, err)
		}

		// The revocation removes what the app service left in the tray.
		ok(t, p.decide(guardian, asha.ID, approval.Revoke))
		if slices.Contains(p.tray(guardian.AccountID), string(message.TeamMessageType)) {
			t.Error("the notification is still there after the revocation")
		}
		_, err = s.Conversation(bg, guardian, asha.ID, "", 5)
		p.refused(err, "approval_required")
	})
}

// TestWeeklyLimit sends three messages to a guardian who never approved, then one to a
// guardian who did.
func TestWeeklyLimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		c := p.coach(1)
		asha := p.add(c, "Asha", number(2), "")
		s := p.messages(0)
		send := func(text string) []string {
			t.Helper()
			m, err := s.Send(bg, c, conversation.Draft{To: conversation.Target{PlayerIDs: []string{asha.ID}}, Audience: conversation.ToGuardians, Text: text, Channels: []conversation.Channel{conversation.SMS}})
			ok(t, err)
			p.expand()
			return p.recipients(c, m.ID)
		}
		send("https://club.example only") // "only" is left
		if got := send("https://club.example"); got[0] != "Asha guardian left_out only_links" {
			t.Errorf("a link alone: %v", got)
		}
		send("two")
		if got := send("three"); got[0] != "Asha guardian left_out weekly_limit" {
			t.Errorf("third message: %v", got)
		}
		p.clock.advance(7*day + time.Hour)
		if got := send("a week later"); got[0] != "Asha guardian queued" {
			t.Errorf("a week later: %v", got)
		}
		guardian := p.as(actor.Guardian, number(2))
		ok(t, p.decide(guardian, asha.ID, approval.Approve))
		ok(t, p.decide(guardian, asha.ID, approval.Revoke))
		for range 3 {
			if got := send("after a yes"); got[0] != "Asha guardian queued" {
				t.Errorf("after a yes that was taken back: %v", got)
			}
		}
	})
}

// TestMessageLimit counts messages whole before anything is written, also of concurrent
// requests.
func TestMessageLimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		c := p.coach(1)
		var ids []string
		for i := range 3 {
			ids = append(ids, p.add(c, fmt.Sprintf("Child %d", i), number(10+i), "").ID)
		}
		// Each restricted text takes one segment.
		s := p.messages(10)
		draft := conversation.Draft{To: conversation.Target{PlayerIDs: ids}, Audience: conversation.ToGuardians, Text: "Hi", Channels: []conversation.Channel{conversation.SMS}}
		errs := concurrently(5, func(int) error {
			_, err := s.Send(bg, c, draft)
			return err
		})
		accepted := 0
		for _, err := range errs {
			if err == nil {
				accepted++
				continue
			}
			if f := p.refused(err, "message_limit"); f.Extra["allowed_now"] != 1 {
				t.Errorf("allowed_now = %v, want 1", f.Extra["allowed_now"])
			}
		}
		if accepted != 3 {
			t.Errorf("%d messages of 3 segments were accepted, want 3 of 10 segments", accepted)
		}
		p.clock.advance(day + time.Second)
		_, err := s.Send(bg, c, draft)
		ok(t, err)
	})
}

// TestExpansionOnce lets four replicas expand a message to 130 players.
func TestExpansionOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		c := p.coach(1)
		p.insertPlayers(c, 130)
		m, err := p.messages(0).Send(bg, c, conversation.Draft{To: conversation.Target{All: true}, Audience: conversation.ToBoth, Text: "Hi", Channels: []conversation.Channel{conversation.SMS, conversation.InApp}})
		ok(t, err)
		for _, err := range concurrently(4, func(int) error {
			for {
				if more, err := p.messages(0).ExpandNext(bg); err != nil || !more {
					return err
				}
			}
		}) {
			ok(t, err)
		}
		p.expand()
		if n := len(p.recipients(c, m.ID)); n != 260 {
			t.Errorf("%d recipients, want 260", n)
		}
		if n := p.count(`SELECT count(*) FROM deliveries WHERE team_message_id = $1 AND state = 'queued'`, m.ID); n != 130 {
			t.Errorf("%d SMS, want 130", n)
		}
		got, err := p.messages(0).Message(bg, c, m.ID)
		if err != nil || got.ExpandedAt.IsZero() {
			t.Errorf("message = %+v, %v", got, err)
		}
	})
}

// TestExpansionFails: a message that fails in each attempt keeps no other coach waiting, is tried
// again after longer and longer waits, and is given up after about a day.
func TestExpansionFails(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		draft := func(text string) conversation.Draft {
			return conversation.Draft{To: conversation.Target{All: true}, Audience: conversation.ToGuardians, Text: text, Channels: []conversation.Channel{conversation.SMS}}
		}
		send := func(c actor.Actor, text string) string {
			p.Helper()
			m, err := p.messages(0).Send(bg, c, draft(text))
			ok(p, err)
			return m.ID
		}
		isExpanded := func(c actor.Actor, id string) bool {
			p.Helper()
			m, err := p.messages(0).Message(bg, c, id)
			ok(p, err)
			return !m.ExpandedAt.IsZero()
		}
		a, b := p.coach(1), p.coach(4)
		for i, name := range []string{"Asha Rao", "Bela Rao", "Chetan Rao"} {
			p.add(a, name, number(10+i), "")
			p.add(b, name, number(20+i), "")
		}
		broken := send(a, "Broken")
		ok(p, run(p.db, `UPDATE team_messages SET players = 'x' WHERE id = $1`, broken))
		later, other := send(a, "Later"), send(b, "Other")

		if _, err := p.messages(0).ExpandNext(bg); err == nil || !strings.Contains(err.Error(), broken) {
			p.Fatalf("got %v, want an error that names the message %s", err, broken)
		}
		p.expand()
		if !isExpanded(b, other) || isExpanded(a, later) {
			p.Errorf("the other coach's message: %t, the later one of the coach: %t; want true, false", isExpanded(b, other), isExpanded(a, later))
		}
		failures := 1
		for begin := p.clock.Now(); failures < conversation.ExpansionAttempts; {
			p.clock.advance(time.Second)
			more, err := p.messages(0).ExpandNext(bg)
			if err != nil {
				failures++
			} else if more {
				p.Fatal("the later message was expanded")
			}
			if took := p.clock.Now().Sub(begin); took > 26*time.Hour {
				p.Fatalf("%d attempts in %s", failures, took)
			}
			if failures > 12 {
				p.clock.advance(20 * time.Minute)
			}
		}
		p.expand()
		if !isExpanded(a, later) || isExpanded(a, broken) {
			p.Errorf("the later message: %t, the one that was given up: %t; want true, false", isExpanded(a, later), isExpanded(a, broken))
		}
		m, err := p.messages(0).Message(bg, a, broken)
		ok(p, err)
		if counts, err := p.messages(0).CountStates(bg, a, m); err != nil || counts[conversation.Failed] != 3 || counts[conversation.Queued] != 0 {
			p.Errorf("counts = %v, %v; want 3 failed", counts, err)
		}
		ok(p, run(p.db, `UPDATE team_messages SET players = (SELECT players FROM team_messages WHERE id = $2) WHERE id = $1`, broken, later))
		again := p.messages(0)
		again.ExpandNow = true
		ok(p, second(again.SendOnce(bg, a, broken, draft("Broken")))) // its form, sent again from an old page
		if n := len(p.recipients(a, broken)); n != 0 {
			p.Errorf("the message that was given up reached %d recipients", n)
		}

		// A message that succeeds after a failure.
		mended := send(b, "Mended")
		var players string
		ok(p, p.sql.QueryRow(bg, `SELECT players FROM team_messages WHERE id = $1`, mended).Scan(&players))
		ok(p, run(p.db, `UPDATE team_messages SET players = 'x' WHERE id = $1`, mended))
		if _, err := p.messages(0).ExpandNext(bg); err == nil {
			p.Error("the message did not fail")
		}
		ok(p, run(p.db, `UPDATE team_messages SET players = $2 WHERE id = $1`, mended, players))
		p.clock.advance(2 * time.Second)
		p.expand()
		if !isExpanded(b, mended) {
			p.Error("the mended message was not expanded")
		}
	})
}

// TestExpandAccepted: the recipients of a message have their deliveries when it is accepted.
// After the first 100 of a longer one, and while an older message waits, the worker expands.
func TestExpandAccepted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		c := p.coach(1)
		p.insertPlayers(c, 130)
		s := p.messages(0)
		send := func(players int) conversation.Message {
			t.Helper()
			list, err := p.Players(bg, c, approval.Filter{}, approval.Page{Limit: players})
			ok(t, err)
			to := conversation.Target{}
			for _, a := range list {
				to.PlayerIDs = append(to.PlayerIDs, a.ID)
			}
			m, err := s.Send(bg, c, conversation.Draft{To: to, Audience: conversation.ToGuardians, Text: p.db.NewID(), Channels: []conversation.Channel{conversation.SMS}})
			ok(t, err)
			return m
		}
		want := func(m conversation.Message, rows int, done bool) {
			t.Helper()
			if n := len(p.recipients(c, m.ID)); n != rows || m.ExpandedAt.IsZero() == done {
				t.Errorf("%d recipients with rows, expanded at %v; want %d, %v", n, m.ExpandedAt, rows, done)
			}
		}
		s.ExpandNow = true
		want(send(2), 2, true)
		long := send(130)
		want(long, 100, false)
		waiting := send(1)
		want(waiting, 0, false)
		p.expand()
		long.ExpandedAt = p.clock.Now()
		want(long, 130, true)
		for _, m := range []conversation.Message{long, waiting} {
			if expanded, err := p.messages(0).ExpandAccepted(bg, c.AccountID, m.ID); !expanded.IsZero() || err != nil {
				t.Errorf("expanded again: %v, %v", expanded, err)
			}
		}
		if expanded, err := p.messages(0).ExpandAccepted(bg, p.coach(2).AccountID, send(1).ID); !expanded.IsZero() || err != nil {
			t.Errorf("expanded by another coach: %v, %v", expanded, err)
		}
	})
}

// TestExpandAcceptedDoesNotWait: while a transaction keeps the deliveries locked, for example a
// migration that builds an index, the coach does not wait for the retries of other writes, which
// take 8 s. The worker expands the message later.
func TestExpandAcceptedDoesNotWait(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	p := newFixture(t, url+"&lock_timeout=50ms")
	c := p.coach(1)
	p.insertPlayers(c, 3)
	other, err := pgx.Connect(bg, url)
	ok(t, err)
	defer other.Close(bg)
	index, err := other.Begin(bg)
	ok(t, err)
	_, err = index.Exec(bg, `LOCK TABLE deliveries IN SHARE MODE`)
	ok(t, err)

	s := p.messages(0)
	s.ExpandNow = true
	start := time.Now()
	m, err := s.Send(bg, c, conversation.Draft{To: conversation.Target{All: true}, Audience: conversation.ToGuardians, Text: "Hi", Channels: []conversation.Channel{conversation.SMS}})
	ok(t, err)
	if took := time.Since(start); took > 6*time.Second {
		t.Errorf("the coach waited %v", took)
	}
	if !m.ExpandedAt.IsZero() {
		t.Errorf("expanded at %v", m.ExpandedAt)
	}
	ok(t, index.Rollback(bg))
	p.expand()
	if n := p.count(`SELECT count(*) FROM deliveries WHERE team_message_id = $1`, m.ID); n != 3 {
		t.Errorf("%d SMS, want 3", n)
	}
}

// insertPlayers adds players with a guardian each, fast.
func (p *fixture) insertPlayers(c actor.Actor, n int) {
	p.Helper()
	for i := range n {
		account, id := p.db.NewID(), p.db.NewID()
		guardian := string(number(1000 + i))
		ok(p, run(p.db, `INSERT INTO accounts (id, mobile_number, role, created_at) VALUES ($1, $2, 'guardian', 1)`, account, guardian))
		ok(p, run(p.db, `
			INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at)
			VALUES ($1, $2, 1, $3, $3, '2014-01-01', $3, 1)`, id, c.AccountID, fmt.Sprintf("Child %d", i)))
		ok(p, run(p.db, `
			INSERT INTO parties (player_id, role, position, coach_id, name, relationship, number, account_id, state, pending_since)
			VALUES ($1, 'guardian', 1, $2, 'G', 'mother', $3, $4, 'pending', 1), ($1, 'student', 1, $2, NULL, NULL, NULL, NULL, 'pending', 1)`, id, c.AccountID, guardian, account))
	}
}

// teamStatements runs the statements on messages, replies, templates, progress and reports.
func (p *fixture) teamStatements() {
	p.Helper()
	c := p.coach(970)
	asha := p.add(c, "Asha Team", number(971), number(972))
	guardian := p.as(actor.Guardian, number(971))
	ok(p, p.decide(guardian, asha.ID, approval.Approve))
	ok(p, run(p.db, `INSERT INTO batches (id, coach_id, version, name, schedule, time_zone, created_at, updated_at) VALUES ('team', $1, 1, 'n', '[]', 'UTC', 1, 1)`, c.AccountID))
	ok(p, run(p.db, `INSERT INTO batch_players (coach_id, batch_id, player_id, joined_at) VALUES ($1, 'team', $2, 1)`, c.AccountID, asha.ID))
	s := p.messages(0)
	var last string
	for _, to := range []conversation.Target{{PlayerIDs: []string{asha.ID}}, {BatchID: "team"}, {All: true}} {
		m, err := s.Send(bg, c, conversation.Draft{To: to, Audience: conversation.ToBoth, Text: "Hi", Channels: conversation.Channels})
		ok(p, err)
		last = m.ID
	}
	ok(p, second(p.messages(0).ExpandAccepted(bg, c.AccountID, last)))
	p.expand()
	broken, err := s.Send(bg, c, conversation.Draft{To: conversation.Target{All: true}, Audience: conversation.ToBoth, Text: "Broken", Channels: conversation.Channels})
	ok(p, err)
	ok(p, run(p.db, `UPDATE team_messages SET players = 'x' WHERE id = $1`, broken.ID))
	if _, err := p.messages(0).ExpandNext(bg); err == nil {
		p.Error("the message did not fail")
	}
	p.sendTeam()
	_, err = s.Messages(bg, c, "", 5)
	ok(p, err)
	m, err := s.Message(bg, c, last)
	ok(p, err)
	_, err = s.Recipients(bg, c, last, 0, 5)
	ok(p, err)
	_, err = s.CountStates(bg, c, m)
	ok(p, err)
	_, err = s.WaysOf(bg, c, last)
	ok(p, err)
	_, err = s.Lines(bg, c, conversation.LinesAfter{}, 5)
	ok(p, err)
	reply, err := s.Reply(bg, guardian, asha.ID, "Thank you")
	ok(p, err)
	ok(p, s.CheckReply(bg, guardian, asha.ID))
	_, err = s.ReplyBy(bg, guardian, asha.ID, reply.ID)
	ok(p, err)
	for _, unread := range []bool{false, true} {
		_, err = s.Replies(bg, c, unread, "", 5)
		ok(p, err)
	}
	for _, ids := range [][]string{{reply.ID}, nil} {
		_, err = s.ReadReplies(bg, c, ids)
		ok(p, err)
	}
	_, err = s.Conversation(bg, guardian, asha.ID, "", 5)
	ok(p, err)
	_, err = s.NewestEntries(bg, guardian, []string{asha.ID})
	ok(p, err)
	_, err = p.messages(0).PlayerConversation(bg, auditor, asha.ID, "A concern of the school", "", 5)
	ok(p, err)
	t, err := s.AddTemplate(bg, c, "T", "Hi")
	ok(p, err)
	_, err = s.Templates(bg, c, "", 5)
	ok(p, err)
	_, err = s.Template(bg, c, t.ID)
	ok(p, err)
	ok(p, s.DeleteTemplate(bg, c, t.ID))
	p.recordStatements(c, guardian, asha.ID)
	ok(p, p.decide(guardian, asha.ID, approval.Revoke))
}

// sendTeam renders and completes the deliveries of messages.
func (p *fixture) sendTeam() []message.Delivery {
	p.Helper()
	claimed, err := p.db.Outbox.ClaimDeliveries(bg, message.Lane{Channel: message.SMS, Kind: message.Team}, "team", p.clock.Now().Add(time.Minute), 100)
	ok(p, err)
	for _, d := range claimed {
		_, _, _, err := p.messages(0).TeamMessage(bg, d)
		ok(p, err)
	}
	return claimed
}

func (p *fixture) recordStatements(c, guardian actor.Actor, playerID string) {
	p.Helper()
	s := &progress.Service{DB: p.db, Consent: p.Access(), CheckFeature: anyTier}
	m, err := s.Measure(bg, c, progress.Measurement{PlayerID: playerID, Metric: "80 m", Value: 12.4, Unit: "s", On: "2026-03-01"})
	ok(p, err)
	r, err := s.AddReport(bg, c, progress.Report{PlayerID: playerID, Title: "March", Text: "Good", From: "2026-03-01", To: "2026-03-31"})
	ok(p, err)
	for _, by := range []actor.Actor{c, guardian} {
		for _, metric := range []string{"", "80 m"} {
			list, err := s.Measurements(bg, by, playerID, metric, progress.Measurement{}, 5)
			if err != nil || len(list) != 1 || list[0].Value != 12.4 {
				p.Errorf("measurements of %s = %v, %v", by.Role, list, err)
			}
		}
		list, err := s.Reports(bg, by, playerID, "", 5)
		if err != nil || len(list) != 1 || list[0].Text != "Good" {
			p.Errorf("reports of %s = %v, %v", by.Role, list, err)
		}
	}
	newest, err := s.NewestMeasurements(bg, guardian, []string{playerID})
	written, failed := s.NewestReports(bg, guardian, []string{playerID})
	if err != nil || failed != nil || newest[playerID].Value != 12.4 || written[playerID].Text != "Good" {
		p.Errorf("the newest: %v, %v, %v, %v", newest, err, written, failed)
	}
	measured, err := s.AllMeasurements(bg, c, progress.Measurement{}, 5)
	reported, failed := s.AllReports(bg, c, progress.Report{}, 5)
	if err != nil || failed != nil || len(measured) != 1 || len(reported) != 1 {
		p.Errorf("of the coach: %v, %v, %v, %v", measured, err, reported, failed)
	}
	_, err = s.Measurement(bg, c, playerID, m.ID)
	ok(p, err)
	_, err = s.Report(bg, c, playerID, r.ID)
	ok(p, err)
	_, err = s.EditMeasurement(bg, c, playerID, m.ID, progress.MeasurementPatch{Value: ptr(12.3)})
	ok(p, err)
	_, err = s.EditReport(bg, c, playerID, r.ID, progress.ReportPatch{Title: ptr("Spring")})
	ok(p, err)
	ok(p, s.DeleteMeasurement(bg, c, playerID, m.ID))
	ok(p, s.DeleteReport(bg, c, playerID, r.ID))
	ok(p, s.RestoreMeasurement(bg, c, playerID, m.ID))
	ok(p, s.RestoreReport(bg, c, playerID, r.ID))
}
