package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/vault"
)

func (p *fixture) send(by actor.Actor, id string, party actor.Role) (*approval.Request, bool, error) {
	return p.Send(bg, by, id, party, approval.Patch{}, nil)
}

func TestSend(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		first := a.Party(actor.Guardian).Request.ID

		p.clock.advance(48*time.Hour - time.Second)
		_, _, err := p.send(coach, a.ID, actor.Guardian)
		f := p.refused(err, "request_pending")
		if f.Extra["request_id"] != first || f.RetryAfter != time.Second {
			p.Errorf("fault = %+v", f)
		}
		p.clock.advance(time.Second)
		r, created, err := p.send(coach, a.ID, actor.Guardian)
		ok(p, err)
		if created || r.ID != first || !r.LastSentAt.Equal(p.clock.Now()) || r.RequestedAt.Equal(r.LastSentAt) {
			p.Errorf("resent: %+v, created %t", r, created)
		}
		if got, want := p.deliveries(coach, first), []string{"in_app delivered", "sms failed not_wanted", "in_app delivered", "sms queued"}; !slices.Equal(got, want) {
			p.Errorf("deliveries = %q, want %q", got, want)
		}
		_, _, err = p.send(coach, a.ID, actor.Guardian)
		p.refused(err, "request_pending")
		ok(p, run(p.db, `UPDATE requests SET delivery_failed = TRUE, failed_channels = 'sms,' WHERE id = $1`, first))
		r, _, err = p.send(coach, a.ID, actor.Guardian)
		ok(p, err)
		if r.ID != first || r.DeliveryFailed {
			p.Errorf("after a failure: %+v", r)
		}

		ok(p, p.decide(guardian, a.ID, approval.Reject))
		r, created, err = p.send(coach, a.ID, actor.Guardian)
		ok(p, err)
		if !created || r.ID == first || r.State != approval.RequestPending {
			p.Errorf("after a rejection: %+v, created %t", r, created)
		}
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		_, _, err = p.send(coach, a.ID, actor.Guardian)
		p.refused(err, "already_approved")
		ok(p, p.decide(guardian, a.ID, approval.Revoke))
		r, created, err = p.Send(bg, coach, a.ID, actor.Guardian, approval.Patch{}, []message.Channel{"sms"})
		ok(p, err)
		if got := p.deliveries(coach, r.ID); !created || !slices.Equal(got, []string{"sms queued"}) {
			p.Errorf("by SMS alone: %q", got)
		}

		cancelled, err := p.Cancel(bg, coach, r.ID)
		ok(p, err)
		if cancelled.State != approval.RequestCancelled || !cancelled.ClosedAt.Equal(p.clock.Now()) {
			p.Errorf("cancelled: %+v", cancelled)
		}
		_, err = p.Cancel(bg, coach, r.ID)
		p.refused(err, "no_open_request")
		p.refused(p.decide(guardian, a.ID, approval.Approve), "no_open_request")
		_, created, err = p.send(coach, a.ID, actor.Guardian)
		ok(p, err)
		if !created {
			p.Error("after a cancel: not a new request")
		}
		// Every request and every decision has a row.
		if n := p.count(`SELECT count(*) FROM requests WHERE player_id = $1`, a.ID); n != 4 {
			p.Errorf("%d requests, want 4", n)
		}
		if n := p.count(`SELECT count(*) FROM approval_history WHERE player_id = $1`, a.ID); n != 3 {
			p.Errorf("%d records, want 3", n)
		}
	})
}

func TestSendToCorrectedContact(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		first := a.Party(actor.Guardian).Request.ID
		r, created, err := p.Send(bg, coach, a.ID, actor.Guardian, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(4))}}, nil)
		ok(p, err)
		newGuardian := p.as(actor.Guardian, number(4))
		if !created || r.PartyID != newGuardian.AccountID {
			p.Errorf("request = %+v, created %t", r, created)
		}
		old, err := p.Request(bg, coach, first)
		ok(p, err)
		if old.State != approval.RequestCancelled {
			p.Errorf("the old request is %s", old.State)
		}
		for _, id := range []string{first, r.ID} {
			link, err := p.Link(bg, p.link(id))
			ok(p, err)
			if link.Open == (id == first) {
				p.Errorf("link of %s: open is %t", id, link.Open)
			}
		}
		p.clock.advance(14 * day)
		p.wantLink(p.link(r.ID), approval.LinkState{Old: true})
		// The request is still open.
		ok(p, p.decide(newGuardian, a.ID, approval.Approve))
	})
}

// link returns the hash of the newest link of a request.
func (p *fixture) link(requestID string) []byte {
	p.Helper()
	var id string
	ok(p, p.db.QueryRow(bg, `SELECT id FROM deliveries WHERE request_id = $1 AND channel = 'sms' ORDER BY id DESC LIMIT 1`, requestID).Scan(&id))
	return vault.HashToken(p.vault.LinkToken(id))
}

func TestRequestToBlockedDestination(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", "+15005550006", "")
		r := a.Party(actor.Guardian).Request.ID
		if got := p.deliveries(coach, r); !slices.Equal(got, []string{"in_app delivered", "sms failed destination_blocked"}) {
			p.Errorf("deliveries = %q", got)
		}
		if got := p.tray(coach.AccountID); !slices.Equal(got, []string{"delivery_failed"}) {
			p.Errorf("coach's tray = %q", got)
		}
		if p.queued.Load() != 0 || p.count(`SELECT count(*) FROM request_links`) != 0 {
			p.Error("an SMS to a blocked destination was queued")
		}
		_, created, err := p.send(coach, a.ID, actor.Guardian)
		ok(p, err)
		if created {
			p.Error("a resend made a new request")
		}
	})
}

// TestPendingReason: each return to pending leaves its reason until the party answers.
func TestPendingReason(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		want := func(guardian, student approval.PendingReason) {
			p.Helper()
			got, err := p.Player(bg, coach, a.ID)
			ok(p, err)
			if g, s := got.PendingReason(actor.Guardian), got.PendingReason(actor.Student); g != guardian || s != student {
				p.Errorf("pending reasons: got %q and %q, want %q and %q", g, s, guardian, student)
			}
			items, err := p.Pending(bg, coach, approval.Page{Limit: 5})
			ok(p, err)
			for _, i := range items {
				if i.Reason != got.PendingReason(i.Party) {
					p.Errorf("pending list: the reason of the %s is %q, want %q", i.Party, i.Reason, got.PendingReason(i.Party))
				}
			}
		}
		want(approval.PendingAdded, approval.PendingAdded)
		for _, answer := range []approval.Trigger{approval.Reject, approval.Approve} {
			ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, answer))
			want("", approval.PendingAdded)
			if answer == approval.Approve {
				ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Revoke))
			}
			_, _, err := p.send(coach, a.ID, actor.Guardian)
			ok(p, err)
			want(approval.PendingResent, approval.PendingAdded)
		}
		edit := func(patch approval.Patch) {
			p.Helper()
			_, err := p.Edit(bg, coach, a.ID, patch)
			ok(p, err)
		}
		edit(approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(4))}})
		want(approval.PendingContact, approval.PendingAdded)
		edit(approval.Patch{Student: approval.StudentPatch{Number: ptr(number(5))}})
		want(approval.PendingContact, approval.PendingAdded)
		edit(approval.Patch{Student: approval.StudentPatch{FullName: ptr("Bela Rao"), Number: ptr(number(6))}})
		want(approval.PendingStudent, approval.PendingContact)
	})
}

func TestPendingReasonOfAdultWithoutGuardian(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		a, err := p.Add(bg, p.coach(1), adult("Asha Rao", number(2)), nil)
		ok(p, err)
		if g, s := a.PendingReason(actor.Guardian), a.PendingReason(actor.Student); g != "" || s != approval.PendingAdded {
			p.Errorf("got %q and %q, want none and added", g, s)
		}
	})
}

func TestRemind(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		start := p.clock.Now()
		r, left, err := p.Remind(bg, coach, a.ID, actor.Guardian)
		ok(p, err)
		if left != 1 || len(r.Deliveries) != 4 {
			p.Errorf("%d reminders left, request %+v", left, r)
		}
		p.clock.advance(day)
		_, left, err = p.Remind(bg, coach, a.ID, actor.Guardian)
		ok(p, err)
		if left != 0 {
			p.Errorf("%d reminders left", left)
		}
		_, _, err = p.Remind(bg, coach, a.ID, actor.Guardian)
		if f := p.refused(err, "reminder_limit"); !f.Extra["ends_at"].(time.Time).Equal(start.Add(7 * day)) {
			p.Errorf("extra = %v", f.Extra)
		}
		_, left, err = p.Remind(bg, coach, a.ID, actor.Student)
		ok(p, err)
		if left != 1 {
			p.Errorf("student: %d reminders left", left)
		}
		// The window slides: the first reminder leaves it, the second is still in it.
		p.clock.advance(6*day - time.Microsecond)
		_, _, err = p.Remind(bg, coach, a.ID, actor.Guardian)
		p.refused(err, "reminder_limit")
		p.clock.advance(time.Microsecond)
		_, left, err = p.Remind(bg, coach, a.ID, actor.Guardian)
		ok(p, err)
		if left != 0 {
			p.Errorf("%d reminders left", left)
		}
		want := []string{"guardian_request", "request_reminder", "request_reminder", "request_reminder"}
		if got := p.tray(a.Party(actor.Guardian).AccountID); !slices.Equal(got, want) {
			p.Errorf("tray = %q, want %q", got, want)
		}
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		_, _, err = p.Remind(bg, coach, a.ID, actor.Guardian)
		p.refused(err, "no_open_request")
	})
}
