package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// TestWebhookOrder: while a message waits for its next attempt, later messages of its player
// wait too, also those that were queued later, and messages of other players do not.
func TestWebhookOrder(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		before := p.add(coach, "Before", number(2), "")
		_, err := p.db.Sweep(bg, p.clock.Now()) // gives positions
		ok(p, err)
		id, _ := p.addWebhook()
		a, b := p.add(coach, "Asha Rao", number(2), ""), p.add(coach, "Bela Rao", number(3), "")
		names := map[string]string{before.ID: "before", a.ID: "a", b.ID: "b"}

		first := p.claim(id, 8)
		if len(first) != 2 || first[0].PlayerID != a.ID || first[0].Sequence != 1 || first[1].Sequence != 1 || first[0].ID != "msg_"+a.ID+"_1" {
			t.Fatalf("got %d messages, want the first one of each player", len(first))
		}
		if again := p.claim(id, 8); len(again) != 0 {
			t.Errorf("claimed again: %+v", again)
		}
		p.respond(id, first[0], 500)
		p.respond(id, first[1], 200)
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		ok(p, p.decide(p.as(actor.Guardian, number(3)), b.ID, approval.Reject))
		if got, want := p.deliver(id, 200, names), []string{"b 2 pending 1", "b 3 rejected 1"}; !slices.Equal(got, want) {
			t.Errorf("while a waits: got %q, want %q", got, want)
		}
		p.clock.advance(5 * time.Second)
		if got, want := p.deliver(id, 200, names), []string{"a 1 pending 2", "a 2 pending 1", "a 3 approved 1"}; !slices.Equal(got, want) {
			t.Errorf("after 5 s: got %q, want %q", got, want)
		}

		// A claim that has ended changes nothing.
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Revoke))
		stale := p.claim(id, 8)
		p.clock.advance(2 * time.Minute)
		fresh := p.claim(id, 8)
		if health := p.respond(id, stale[0], 500); health != (feed.WebhookHealth{}) {
			t.Errorf("a claim that ended: got %+v", health)
		}
		if health := p.respond(id, fresh[0], 200); health != (feed.WebhookHealth{}) || fresh[0].Attempts != 2 {
			t.Errorf("got %+v, %+v", health, fresh[0])
		}
		if got := p.deliver(id, 200, names); len(got) != 0 {
			t.Errorf("after all were accepted: %q", got)
		}
	})
}

// TestWebhookEnds: 410 disables a webhook at once; an endpoint that accepts nothing for 72 h
// loses its webhook when a message has used up its attempts. Enabled again, the webhook
// continues in order.
func TestWebhookEnds(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		admin, coach := p.webhooks(), p.coach(1)
		id, _ := p.addWebhook("player.pending")
		a := p.add(coach, "Asha Rao", number(2), "")
		names := map[string]string{a.ID: "a"}
		enable := func() {
			t.Helper()
			_, err := admin.Update(bg, auditor, id, feed.WebhookPatch{Enabled: ptr(true)})
			ok(p, err)
		}

		m := p.claim(id, 1)[0]
		if health := p.respond(id, m, 410); health != (feed.WebhookHealth{FirstFailure: true, Disabled: "gone"}) {
			t.Errorf("410: got %+v", health)
		}
		w, err := admin.Find(bg, auditor, id)
		if ok(p, err); w.Enabled() || w.DisabledReason != "gone" {
			t.Errorf("got %+v", w)
		}
		if p.count(`SELECT count(*) FROM audit_log WHERE action = 'webhook.disable' AND object_id = $1`, id) != 1 {
			t.Error("the audit log has no entry")
		}
		if _, err := admin.Test(bg, auditor, id); fault.CodeOf(err) != "invalid_transition" {
			t.Errorf("test of a disabled webhook: got %v", err)
		}
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		p.clock.advance(time.Hour)
		if got := p.deliver(id, 200, names); len(got) != 0 {
			t.Errorf("disabled, but sent %q", got)
		}
		enable()
		if got, want := p.deliver(id, 200, names), []string{"a 1 pending 2", "a 2 pending 1"}; !slices.Equal(got, want) {
			t.Errorf("enabled again: got %q, want %q", got, want)
		}

		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Asha Rai")}})
		ok(p, err)
		var health feed.WebhookHealth
		attempts := 0
		for ; health.Disabled == "" && attempts < 20; attempts++ {
			batch := p.claim(id, 8)
			if len(batch) != 1 {
				t.Fatalf("attempt %d: got %+v, want one message", attempts, batch)
			}
			health = p.respond(id, batch[0], 500)
			p.clock.advance(24 * time.Hour)
		}
		if attempts != 10 || health.Disabled != "failing" {
			t.Errorf("got %+v after %d attempts", health, attempts)
		}
		enable()
		if got := p.deliver(id, 200, names); len(got) != 0 {
			t.Errorf("a message that failed was sent again: %q", got)
		}
		log, err := admin.Log(bg, auditor, id, feed.WebhookLogSearch{FailedOnly: true}, 10)
		if ok(p, err); len(log) != 1 || log[0].Attempts != 10 || log[0].Error != "responded 500" || log[0].Status != 500 {
			t.Errorf("got %+v", log)
		}

		// After 90 days the feed has deleted changes.
		_, err = admin.Update(bg, auditor, id, feed.WebhookPatch{Enabled: ptr(false)})
		ok(p, err)
		p.add(coach, "Bela Rao", number(3), "")
		p.clock.advance(feed.ChangesKept + day)
		_, _, err = p.webhooks().Due(bg)
		ok(p, err)
		enable()
		if got := p.deliver(id, 200, names); len(got) != 0 {
			t.Errorf("after 90 days: got %q", got)
		}
	})
}

// TestWebhookReplay: the messages of a range of time are queued again under the same ids,
// also those from before the webhook, in order, and only its types.
func TestWebhookReplay(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		admin, coach := p.webhooks(), p.coach(1)
		begun := p.clock.Now()
		a := p.add(coach, "Asha Rao", number(2), number(3))
		names := map[string]string{a.ID: "a"}
		_, _, err := p.webhooks().Due(bg)
		ok(p, err)
		p.clock.advance(time.Hour)
		id, _ := p.addWebhook("player.pending", "player.approved")
		middle := p.clock.Now()
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		ok(p, p.decide(p.as(actor.Student, number(3)), a.ID, approval.Reject))
		if got, want := p.deliver(id, 200, names), []string{"a 3 approved 1"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		p.clock.advance(time.Minute)
		replay := func(from, to time.Time, changes int64, want ...string) {
			t.Helper()
			n, err := admin.Replay(bg, auditor, id, from, to)
			if ok(p, err); n != changes {
				t.Errorf("got %d changes, want %d", n, changes)
			}
			if got := p.deliver(id, 200, names); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		replay(begun, time.Time{}, 4, "a 1 pending 1", "a 2 pending 1", "a 3 approved 1")
		replay(p.clock.Now().Add(-feed.ChangesKept-time.Second), time.Time{}, 4, "a 1 pending 1", "a 2 pending 1", "a 3 approved 1")
		admin.Now = func() time.Time { return begun } // another replica, whose clock is ahead, gave the positions
		replay(begun, time.Time{}, 4, "a 1 pending 1", "a 2 pending 1", "a 3 approved 1")
		admin.Now = p.clock.Now
		replay(begun, middle, 2, "a 1 pending 1", "a 2 pending 1")
		replay(middle, p.clock.Now(), 2, "a 3 approved 1")
		replay(p.clock.Now().Add(-time.Second), p.clock.Now(), 0)
		for _, from := range []time.Time{p.clock.Now(), p.clock.Now().Add(-91 * day)} {
			if _, err := admin.Replay(bg, auditor, id, from, p.clock.Now()); fault.CodeOf(err) != "validation_failed" {
				t.Errorf("from %s: got %v", from, err)
			}
		}
		if _, err := admin.Replay(bg, auditor, id, p.clock.Now().Add(time.Hour), time.Time{}); fault.CodeOf(err) != "validation_failed" {
			t.Errorf("from a later time: got %v", err)
		}
		if _, err := admin.Replay(bg, auditor, p.db.NewID(), begun, p.clock.Now()); fault.CodeOf(err) != "not_found" {
			t.Errorf("unknown webhook: got %v", err)
		}
		if n := p.count(`SELECT count(*) FROM webhook_messages`); n != 3 {
			t.Errorf("got %d messages, want 3", n)
		}
		p.clock.advance(feed.WebhookMessagesKept + time.Second)
		_, err = p.db.Sweep(bg, p.clock.Now())
		ok(p, err)
		if n := p.count(`SELECT count(*) FROM webhook_messages`); n != 0 {
			t.Errorf("got %d messages after 30 days, want 0", n)
		}
	})
}

// TestWebhookReplayWaiting: after an outage a replay sends at once what waits for its next attempt, in order, whatever pause
// the endpoint asked for.
func TestWebhookReplayWaiting(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		admin, begun := p.webhooks(), p.clock.Now()
		id, _ := p.addWebhook()
		a := p.add(p.coach(1), "Asha Rao", number(2), "")
		names := map[string]string{a.ID: "a"}
		for _, want := range []string{"a 1 pending 1", "a 1 pending 2"} {
			p.clock.advance(5 * time.Second)
			if got := p.deliver(id, 503, names); !slices.Equal(got, []string{want}) {
				t.Errorf("during the outage: got %q, want %q", got, want)
			}
		}
		if n, err := admin.Replay(bg, auditor, id, begun, time.Time{}); err != nil || n != 2 {
			t.Errorf("got %d changes, %v, want 2", n, err)
		}
		if got, want := p.deliver(id, 200, names), []string{"a 1 pending 1", "a 2 pending 1"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestWebhookReplayInProgress: the worker queues a replay in chunks of 500. Meanwhile the same call again changes nothing, a
// range that continues it extends it, and another one is refused. A replay of a disabled webhook waits.
func TestWebhookReplayInProgress(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		admin, begun := p.webhooks(), p.clock.Now()
		a := p.add(p.coach(1), "Asha Rao", number(2), "")
		var values []string
		for n := 1003; n <= 2200; n++ {
			values = append(values, fmt.Sprintf("('%s', %d, 'availability', 'approved', 'pending', %d)", a.ID, n, begun.UnixMicro()))
		}
		ok(p, run(p.db, `INSERT INTO changes (player_id, sequence, type, guardian_state, student_state, at) VALUES `+strings.Join(values, ",")))
		_, _, err := admin.Due(bg)
		ok(p, err)
		p.clock.advance(time.Hour)
		id, _ := p.addWebhook()
		middle := p.clock.Now()
		_, err = admin.Update(bg, auditor, id, feed.WebhookPatch{Enabled: ptr(false)})
		ok(p, err)
		for range 2 {
			if n, err := admin.Replay(bg, auditor, id, begun, middle); err != nil || n != 1200 {
				t.Errorf("got %d changes, %v, want 1200", n, err)
			}
		}
		if n, err := admin.QueueReplay(bg, id); err != nil || n != 0 {
			t.Errorf("disabled: queued %d, %v", n, err)
		}
		_, err = admin.Update(bg, auditor, id, feed.WebhookPatch{Enabled: ptr(true)})
		ok(p, err)
		if due, _, err := admin.Due(bg); err != nil || !slices.Contains(due, id) {
			t.Errorf("due: got %v, %v", due, err)
		}
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		_, _, err = admin.Due(bg)
		ok(p, err)
		p.clock.advance(time.Minute)
		var group sync.WaitGroup
		for range 4 { // one of them moves the replay
			group.Go(func() {
				if _, err := admin.QueueReplay(bg, id); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if n := p.count(`SELECT count(*) FROM webhook_messages`); n%500 != 0 || n > 1000 {
			t.Errorf("after the first chunks: %d messages", n)
		}
		if n, err := admin.Replay(bg, auditor, id, begun, time.Time{}); err != nil || n != 1201 { // extends it
			t.Errorf("got %d changes, %v, want 1201", n, err)
		}
		if w, err := admin.Find(bg, auditor, id); err != nil || !w.Replaying {
			t.Errorf("got %+v, %v, want a replay in progress", w, err)
		}
		for n := int64(1); n > 0; {
			n, err = admin.QueueReplay(bg, id)
			ok(p, err)
		}
		if n := p.count(`SELECT count(*) FROM webhook_messages WHERE state = 'queued'`); n != 1201 {
			t.Errorf("queued %d messages, want each of 1201 once", n)
		}
		if w, err := admin.Find(bg, auditor, id); err != nil || w.Replaying {
			t.Errorf("got %+v, %v, want no replay", w, err)
		}
		if _, err := admin.Replay(bg, auditor, id, middle, time.Time{}); err != nil {
			t.Error(err)
		}
		if _, err := admin.Replay(bg, auditor, id, begun, middle); fault.CodeOf(err) != "invalid_transition" {
			t.Errorf("an earlier range during a replay: got %v", err)
		}
	})
}

// TestWebhookAttemptLog: a message keeps its newest ten attempts with what the endpoint answered, over replays too.
func TestWebhookAttemptLog(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		admin, begun := p.webhooks(), p.clock.Now()
		id, _ := p.addWebhook("player.approved")
		a := p.add(p.coach(1), "Asha Rao", number(2), "")
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		for attempt := range 12 {
			batch := p.claim(id, 1)
			if len(batch) != 1 {
				t.Fatalf("attempt %d: nothing is due", attempt+1)
			}
			p.respond(id, batch[0], 500+attempt)
			p.clock.advance(30 * time.Hour)
			if attempt == 9 { // it failed, and the webhook is disabled
				_, err := admin.Update(bg, auditor, id, feed.WebhookPatch{Enabled: ptr(true)})
				ok(p, err)
				_, err = admin.Replay(bg, auditor, id, begun, time.Time{})
				ok(p, err)
			}
		}
		log, err := admin.Log(bg, auditor, id, feed.WebhookLogSearch{}, 9)
		ok(p, err)
		m := log[0]
		var got []string
		for _, a := range m.Log {
			got = append(got, fmt.Sprint(a.Status, " ", a.Error, ": ", a.Response))
		}
		if len(got) != 10 || got[0] != "502 responded 502: answer 502" || got[9] != "511 responded 511: answer 511" || m.Attempts != 2 {
			t.Errorf("got %d attempts and the log %q", m.Attempts, got)
		}
	})
}

// TestWebhookSecrets: secrets are sealed; during the overlap messages are signed with both.
func TestWebhookSecrets(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		admin, coach := p.webhooks(), p.coach(1)
		id, first := p.addWebhook()
		secrets := func() []string {
			t.Helper()
			_, err := admin.Test(bg, auditor, id)
			ok(p, err)
			batch := p.claim(id, 8)
			p.respond(id, batch[0], 200)
			return batch[0].target.Secrets
		}
		if w, got, err := p.webhooks().FindWithSecret(bg, auditor, id); err != nil || w.ID != id || got != first {
			t.Errorf("with its secret: got %v, %q, %v", w, got, err)
		}
		if got := secrets(); !slices.Equal(got, []string{first}) {
			t.Errorf("got %q, want %q", got, first)
		}
		_, second, err := admin.Rotate(bg, auditor, id, time.Hour)
		ok(p, err)
		if got := secrets(); !slices.Equal(got, []string{second, first}) {
			t.Errorf("within the overlap: got %q", got)
		}
		p.clock.advance(time.Hour)
		if got := secrets(); !slices.Equal(got, []string{second}) {
			t.Errorf("after the overlap: got %q", got)
		}
		_, third, err := admin.Rotate(bg, auditor, id, 0)
		ok(p, err)
		if got := secrets(); !slices.Equal(got, []string{third}) {
			t.Errorf("without overlap: got %q", got)
		}
		var stored []byte
		ok(p, p.db.QueryRow(bg, `SELECT secret FROM webhooks WHERE id = $1`, id).Scan(&stored))
		if strings.Contains(string(stored), "whsec_") {
			t.Error("the secret is stored in plain text")
		}
		p.add(coach, "Asha Rao", number(2), "")
		p.claim(id, 8)
		ok(p, admin.Delete(bg, auditor, id))
		if n := p.count(`SELECT count(*) FROM webhook_messages`); n != 0 {
			t.Errorf("got %d messages of a deleted webhook", n)
		}
		if err := admin.Delete(bg, auditor, id); fault.CodeOf(err) != "not_found" {
			t.Errorf("deleted again: got %v", err)
		}
		rows := p.count(`SELECT count(*) FROM audit_log WHERE object_id = $1 AND action IN ('webhook.create', 'webhook.test', 'webhook.rotate_secret', 'webhook.delete')`, id)
		if secret := p.count(`SELECT count(*) FROM audit_log WHERE detail <> '' AND substr(detail, 1, 6) = 'whsec_'`); rows != 8 || secret != 0 {
			t.Errorf("got %d entries, %d with a secret", rows, secret)
		}
		var detail string
		ok(p, p.db.QueryRow(bg, `SELECT detail FROM audit_log WHERE object_id = $1 AND action = 'webhook.create'`, id).Scan(&detail))
		if strings.Contains(detail, "hunter2") || !strings.Contains(detail, "app.example") {
			t.Errorf("got detail %q, want the host alone", detail)
		}
	})
}
