package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/touchlinetest"
)

// runStatements runs every statement of the store at least once.
func runStatements(t *testing.T, url string) {
	t.Helper()
	runPooledStatements(t, url).announce()
}

// runPooledStatements runs every statement of the store that works behind a pooler of
// transactions: LISTEN does not.
func runPooledStatements(t *testing.T, url string) *fixture {
	t.Helper()
	runService(t, url)
	p := newFixture(t, url, limited(approval.MessageLimits{
		TotalHour: 1000, TotalDay: 1000, PerAddress: 1000, PerBlock: 1000, NewCoach: 1000, PerCoach: 1000, PerNumberFromCoach: 3, PerNumber: 1000, Budget: 1000,
	}), withMessages)
	p.consents()
	p.challenges()
	p.numberChangeAndClosure()
	p.sessions()
	p.outbox()
	p.mail()
	p.push()
	p.documents()
	p.installation()
	p.operators()
	p.directory()
	p.subscriptions()
	p.verifications()
	p.importPlayers()
	p.feeStatements()
	p.batchStatements()
	p.teamStatements()
	p.webhookStatements()
	if _, err := p.db.Sweep(bg, p.clock.Now()); err != nil {
		t.Fatal(err)
	}
	return p
}

// runService runs an approval over HTTP, with the worker.
func runService(t *testing.T, url string) {
	t.Helper()
	s := touchlinetest.New(t, url)
	c := s.Coach(t, "+919812300001")
	id := c.AddPlayer(t, touchlinetest.Minor("+919812300011", "+919812300021")).String("player_id")
	s.SMS("+919812300011", "message", 0)
	guardian := s.SignIn(t, "guardian", "+919812300011")
	guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "approved"}).Want(t, 200)
	guardian.Call(t, "GET", "/api/services/availability/"+id, nil).Want(t, 200)
	s.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": guardian.Refresh}).Want(t, 200)
	s.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": c.Refresh}).Want(t, 200)
	c.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200)
	c.Call(t, "GET", "/api/me", nil).Want(t, 200)
	s.Call(t, "GET", "/readyz", "", nil).Want(t, 200)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
}

// consents runs the statements on players, requests, decisions, disputes and digests.
func (p *fixture) consents() {
	p.Helper()
	c := p.coach(1)
	a := p.add(c, "Asha Rao", number(2), number(3))
	b := p.add(c, "Bela Rao", number(2), number(4))
	_, err := p.Add(bg, c, child("Asha Rao", ""), mother(number(2)))
	p.refused(err, "player_exists")
	_, err = p.Edit(bg, c, b.ID, approval.Patch{Student: approval.StudentPatch{Language: ptr("hi")}})
	ok(p, err)
	_, err = p.Edit(bg, c, b.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Asha Rao")}})
	p.refused(err, "player_exists")
	guardian, student := p.as(actor.Guardian, number(2)), p.as(actor.Student, number(3))
	request, _ := p.db.Request(bg, c, a.GuardianApprover.Request.ID)
	_, err = p.Link(bg, p.link(request.ID))
	ok(p, err)
	_, err = p.db.AskedParty(bg, p.link(request.ID), p.clock.Now())
	ok(p, err)
	_, err = p.LinkedPlayer(bg, guardian, p.link(request.ID))
	ok(p, err)
	for _, code := range []string{request.ShortCode, "WRONGS"} {
		_, err = p.FindByShortCode(bg, code, number(2), "198.51.100.7")
		ok(p, err)
	}
	_, _, err = p.Remind(bg, c, a.ID, actor.Guardian)
	ok(p, err)
	_, err = p.FollowUp(bg, c, request.ID, "The mother asks for a day.")
	ok(p, err)
	p.clock.advance(49 * time.Hour)
	_, _, err = p.send(c, a.ID, actor.Guardian)
	ok(p, err)
	ok(p, p.decide(guardian, a.ID, approval.Approve))
	_, err = p.Dispute(bg, student, a.StudentApprover.Request.ID)
	ok(p, err)
	_, err = p.Disputes(bg, student, approval.Page{Limit: 5})
	ok(p, err)
	ok(p, p.Lift(bg, student, a.StudentApprover.Request.ID))
	_, err = p.Timeline(bg, c, a.ID)
	ok(p, err)
	for _, by := range []actor.Actor{guardian, student} {
		statuses, err := p.db.ConsentStatusesOfNumber(bg, auditor, by.Number, by.Role)
		if err != nil || len(statuses) == 0 {
			p.Fatal(statuses, err)
		}
	}
	_, err = p.db.ConsentStatuses(bg, []string{a.ID, b.ID})
	ok(p, err)
	_, err = p.CountRemindable(bg, c)
	ok(p, err)
	_, err = p.RemindAll(bg, c, p.clock.Now())
	ok(p, err)
	_, _, err = p.db.Changes(bg, 0, 50)
	ok(p, err)
	ok(p, p.db.RecordAdults(bg, approval.Date{Year: 1990, Month: 1, Day: 1}, true))
	ok(p, p.db.RecordAdults(bg, approval.AdultBirthDate(p.clock.Now()), true))
	for _, by := range []actor.Actor{c, guardian, student} {
		_, err := p.Availability(bg, by, a.ID)
		ok(p, err)
		_, _, err = p.Status(bg, by, a.ID)
		ok(p, err)
		_, err = p.Links(bg, by, approval.Page{Limit: 5})
		ok(p, err)
		_, err = p.PlayersByID(bg, by, []string{a.ID})
		ok(p, err)
		_, err = p.PartyName(bg, by)
		ok(p, err)
		_, _ = p.db.Request(bg, by, a.GuardianApprover.Request.ID)
	}
	_, err = p.Players(bg, c, approval.Filter{Search: "rao"}, approval.Page{Limit: 5})
	ok(p, err)
	_, err = p.Pending(bg, c, approval.Page{Limit: 5})
	ok(p, err)
	_, err = p.db.Dashboard(bg, c.AccountID, p.clock.Now())
	ok(p, err)
	_, err = p.db.Needs(bg, c.AccountID, coach.NeedQuery{Limit: 5}, p.clock.Now())
	ok(p, err)
	_, _ = p.db.AnyApproved(bg, student.AccountID)
	p.clock.advance(3*day + time.Hour)
	_, err = p.db.SendDigests(bg, 10)
	ok(p, err)
	ok(p, p.Remove(bg, c, a.ID))
	otherStudent := p.as(actor.Student, number(4))
	_, err = p.Dispute(bg, otherStudent, b.StudentApprover.Request.ID)
	ok(p, err)
	ok(p, p.Remove(bg, c, b.ID))
	operatorBy := actor.Operator{Name: "shell:root"}
	for _, search := range []operator.DisputeSearch{{}, {CoachID: c.AccountID}, {Number: number(4)}} {
		_, err = p.db.FindDisputes(bg, operatorBy, search, 5)
		ok(p, err)
	}
	ok(p, p.LiftForOperator(bg, operatorBy, b.StudentApprover.Request.ID))
	p.clock.advance(4 * day)
	_, err = p.db.SendDigests(bg, 10)
	ok(p, err)
	p.notifications(c)
	_, err = p.db.Profile(bg, c.AccountID)
	ok(p, err)
	ok(p, p.db.UpdateProfile(bg, c.AccountID, func(v coach.Profile) (coach.Profile, error) { return v, nil }))
}

// notifications runs the statements that read and mark notifications.
func (p *fixture) notifications(by actor.Actor) {
	p.Helper()
	for _, unread := range []bool{false, true} {
		_, err := p.db.Notifications(bg, by.AccountID, unread, 0, 5)
		ok(p, err)
	}
	_, err := p.db.NotificationsAfter(bg, by.AccountID, 0, 5)
	ok(p, err)
	_, _, err = p.db.NotificationSeq(bg, by.AccountID, "none")
	ok(p, err)
	_, err = p.db.Unread(bg, by.AccountID)
	ok(p, err)
	_, err = p.db.SavePreferences(bg, by.Number, notify.PreferencesPatch{Language: ptr("hi"), StoppedCoaches: &[]string{"one"}})
	ok(p, err)
	_, err = p.db.SavePreferences(bg, by.Number, notify.PreferencesPatch{StoppedCoaches: &[]string{}})
	ok(p, err)
	_, err = p.db.Preferences(bg, by.Number)
	ok(p, err)
	for _, ids := range [][]string{{"one"}, {"one", "two", "three"}, nil} {
		_, err = p.db.MarkRead(bg, by.AccountID, ids, p.clock.Now())
		ok(p, err)
	}
	_, err = p.db.StreamState(bg, "none", by.AccountID, by.Role, p.clock.Now())
	ok(p, err)
}

// challenges opens a challenge, exceeds the send limits, and verifies wrong codes until
// the number is blocked, then a correct code.
func (p *fixture) challenges() {
	p.Helper()
	once := auth.Limit{Name: "once", Key: "once", Max: 1, Per: time.Hour}
	p.occur(once)
	p.occur(auth.Limit{Name: "other", Key: "other", Max: 1, Per: time.Hour}, once) // refused
	now := p.clock.Now()
	key := auth.ChallengeKey{Number: number(60), Role: actor.Coach}
	open := auth.ChallengeRequest{
		Challenge:   auth.Challenge{ChallengeKey: key, ID: "challenge", Code: []byte("sealed"), SentAt: now, EndsAt: now.Add(time.Hour)},
		Destination: auth.Destination{Block: "+9198", Country: "GB", Network: "198.51.100.7"},
		MaxAttempts: 2, LastSentBefore: now.Add(-time.Minute), Channel: "sms",
		Limits: func(auth.RoleFacts) []auth.Limit {
			return []auth.Limit{{Name: "one", Key: "one", Max: 1, Per: time.Hour}, {Name: "two", Key: "two", Max: 100, Per: time.Hour}}
		},
	}
	_, err := p.db.OpenChallenge(bg, open)
	ok(p, err)
	_, _ = p.db.OpenChallenge(bg, open) // limited, and too soon
	correct := false
	attempt := auth.Attempt{
		Keys: []auth.ChallengeKey{key}, MaxAttempts: 3, MaxFailures: func(auth.ChallengeKey) int { return 2 }, Now: now,
		Matches: func(auth.Challenge) bool { return correct },
	}
	for range 4 { // two wrong codes, then blocked
		_, err := p.db.VerifyOTP(bg, attempt)
		ok(p, err)
	}
	ok(p, run(p.db, `DELETE FROM otp_failures`)) // as after a day
	attempt.MaxAttempts = 0
	_, err = p.db.VerifyOTP(bg, attempt)
	ok(p, err)
	attempt.MaxAttempts, attempt.MaxFailures, correct = 9, func(auth.ChallengeKey) int { return 9 }, true
	s := &auth.Session{
		ID: "session", AccountID: "account-60", Role: key.Role, Number: key.Number, DeviceID: "device", Generation: 1,
		CreatedAt: now, LastUsedAt: now, IdleAt: now.Add(time.Hour), EndsAt: now.Add(time.Hour),
	}
	attempt.SignIn = &auth.SignIn{Session: s, RefreshHash: []byte("1"), DeviceHash: []byte("d"), DeviceEnds: now.Add(time.Hour)}
	login := idempotency.Holder{Owner: "login", Key: "k", LeaseID: "l"}
	_, err = p.db.ClaimKey(bg, idempotency.Claim{Holder: login, Now: now, Fingerprint: []byte("f"), LeaseEndsAt: now.Add(time.Second), EndsAt: now.Add(time.Hour)})
	ok(p, err)
	_, err = p.db.VerifyOTP(idempotency.WithHolder(bg, login), attempt)
	ok(p, err)
	_, err = p.db.RepeatLogin(bg, attempt, false)
	ok(p, err)
	_, err = p.db.Device(bg, []byte("d"), key.Number, now)
	ok(p, err)
	_, _, err = p.db.LinkedRequest(bg, []byte("l"), key.Number, key.Role, now)
	ok(p, err)
}

// numberChangeAndClosure changes a coach's number and then closes the account.
func (p *fixture) numberChangeAndClosure() {
	p.Helper()
	now := p.clock.Now()
	by := p.coach(80)
	by.SessionID = "session-80"
	ok(p, run(p.db, `
		INSERT INTO sessions (id, account_id, role, mobile_number, device_id, generation, refresh_hash, created_at, last_used_at, idle_at, ends_at)
		VALUES ('session-80', $1, 'coach', $2, 'd', 1, $3, 1, 1, $4, $4)`, by.AccountID, string(by.Number), []byte{1}, now.Add(time.Hour).UnixMicro()))
	newAttempt := func(n phone.Number) auth.Attempt {
		key := auth.ChallengeKey{Number: n, Role: actor.Coach}
		_, err := p.db.OpenChallenge(bg, auth.ChallengeRequest{
			Challenge:   auth.Challenge{ChallengeKey: key, ID: string(n), Code: []byte("sealed"), SentAt: now, EndsAt: now.Add(time.Hour)},
			MaxAttempts: 2, LastSentBefore: now.Add(-time.Minute), Channel: "sms",
		})
		ok(p, err)
		return auth.Attempt{
			Keys: []auth.ChallengeKey{key}, MaxAttempts: 3, MaxFailures: func(auth.ChallengeKey) int { return 2 }, Now: now,
			Matches: func(auth.Challenge) bool { return true },
		}
	}
	_, err := p.db.ChangeNumber(bg, auth.NumberChange{By: by, To: number(81), Current: newAttempt(by.Number), New: newAttempt(number(81))})
	ok(p, err)
	by.Number = number(81)
	a := p.add(by, "Asha Rao", number(82), number(83))
	ok(p, p.decide(p.as(actor.Guardian, number(82)), a.ID, approval.Approve))
	p.clock.advance(2 * time.Minute)
	now = p.clock.Now()
	_, err = p.db.CloseAccount(bg, auth.CloseRequest{By: by, Attempt: newAttempt(by.Number)})
	ok(p, err)
	if got := p.statusChanges(a.ID); got[len(got)-1] != "4 removed - approved/pending" {
		p.Fatalf("after the closure: got changes %q", got)
	}
	copies, err := p.db.ClaimDeliveries(bg, sms(notify.NotificationCopy), "lease", now.Add(time.Minute), 10)
	if err != nil || len(copies) != 2 { // p.consents queued one, the closure the other
		p.Fatalf("claimed %v, %v; want two copies", copies, err)
	}
	for _, d := range copies {
		_, _, found, err := p.db.NotificationCopy(bg, d)
		if err != nil || !found {
			p.Errorf("NotificationCopy = %t, %v; want true", found, err)
		}
		_, err = p.db.AdmitMessages(bg, outgoing(1, d))
		ok(p, err)
	}
}

// sessions rotates, lists and ends the session that p.challenges opened.
func (p *fixture) sessions() {
	p.Helper()
	now := p.clock.Now()
	s, err := p.db.Session(bg, "session")
	ok(p, err)
	_, err = p.db.Rotate(bg, auth.Rotation{SessionID: s.ID, Generation: 1, OldHash: []byte("1"), NewHash: []byte("2"), Now: now, IdleAt: now})
	ok(p, err)
	ok(p, p.db.MarkUsed(bg, s.ID, 2, now))
	_, err = p.db.PageSession(bg, s.ID, []byte("2"))
	ok(p, err)
	ok(p, p.db.ExtendPageSession(bg, s.ID, now, now, now))
	_, err = p.db.FilledFields(bg, s.AccountID)
	ok(p, err)
	_, err = p.db.Sessions(bg, s.AccountID, now, "", 5)
	ok(p, err)
	_, err = p.db.Roles(bg, s.Number)
	ok(p, err)
	ok(p, p.db.Revoke(bg, s, event.Event{Type: event.TokenReused, PartyID: s.AccountID, Party: s.Role, SessionID: s.ID}))
	_, err = p.db.EndSession(bg, s.AccountID, s.ID)
	ok(p, err)
	ok(p, p.db.EndAllSessions(bg, s.Actor()))
}

// mail runs the statements on mails and their addresses.
func (p *fixture) mail() {
	p.Helper()
	c := p.coach(75)
	a, err := p.Add(bg, c, child("Asha Rao", ""), motherWithMail(number(76)))
	ok(p, err)
	mails := p.claimMail(notify.Request)
	_, _, _, err = p.db.RequestDetails(bg, mails[0])
	ok(p, err)
	ok(p, p.db.DeliverySent(bg, mails))
	_, err = p.db.StopAddressOfLink(bg, auth.HashLink(p.vault.LinkToken(mails[0].ID)), p.clock.Now())
	ok(p, err)
	ok(p, p.db.StopAddress(bg, "other@families.example"))
	for _, by := range []actor.Actor{c, p.as(actor.Guardian, number(76))} {
		_, err = p.db.StoppedAddresses(bg, by)
		ok(p, err)
		ok(p, p.db.AllowAddress(bg, by, address))
	}
	_, _, err = p.Send(bg, c, a.ID, actor.Guardian, approval.Patch{Guardian: &approval.GuardianPatch{Email: ptr("new@families.example")}}, nil)
	ok(p, err)
}

// push runs the statements on subscriptions for push messages.
func (p *fixture) push() {
	p.Helper()
	p.add(p.coach(77), "Asha Rao", number(78), "")
	by := p.subscribe(p.signIn(), actor.Guardian, number(78), "https://push.example/a")
	s, found, err := p.db.SessionPushSubscription(bg, by)
	if err != nil || !found {
		p.Fatalf("subscription %t, %v", found, err)
	}
	subscriptions := store.NewPushSubscriptions(p.sql, p.vault, p.clock.Now)
	for range 2 {
		_, _, err = subscriptions.PushSubscription(bg, s.ID)
		ok(p, err)
		ok(p, subscriptions.PushSubscriptionGone(bg, s.ID))
	}
	ok(p, p.db.DeletePushSubscription(bg, by))
}

// outbox completes a delivery with each result.
func (p *fixture) outbox() {
	p.Helper()
	for _, lane := range notify.SMS.Lanes() { // claim the deliveries of earlier steps
		_, err := p.db.ClaimDeliveries(bg, lane, "lease", p.clock.Now().Add(100*day), 100)
		ok(p, err)
	}
	c := p.coach(70)
	for i := range 9 { // the last ones exceed the limit and are held
		p.add(c, "Child "+strings.Repeat("x", i), number(71), number(72))
	}
	_, err := p.db.LanesDue(bg, notify.SMS.Lanes(), p.clock.Now())
	ok(p, err)
	claim := func() notify.Delivery {
		claimed, err := p.db.ClaimDeliveries(bg, sms(notify.Request), "lease", p.clock.Now().Add(time.Minute), 1)
		if err != nil || len(claimed) != 1 {
			p.Fatalf("claimed %v, %v", claimed, err)
		}
		return claimed[0]
	}
	d := claim()
	_, _, _, err = p.db.RequestDetails(bg, d)
	ok(p, err)
	_, _, _, err = p.db.LiveChallenge(bg, notify.Delivery{To: string(number(60)), Role: actor.Coach, ChallengeID: "challenge"}, 5)
	ok(p, err)
	ok(p, p.db.DeliverySent(bg, []notify.Delivery{d}))
	_, err = p.db.NewestSender(bg, phone.Number(d.To), notify.SMS)
	ok(p, err)
	ok(p, p.db.DeliveryDropped(bg, []notify.Delivery{claim()}, "gone"))
	postponed := claim()
	ok(p, p.db.PostponeDelivery(bg, []notify.Delivery{postponed}, p.clock.Now(), "later"))
	ok(p, p.db.RetryDelivery(bg, []notify.Delivery{claim()}, p.clock.Now(), "later"))
	_, err = p.db.StoreReceipt(bg, notify.Report{MessageID: d.ID, Attempt: 1, Receipt: notify.ReceiptUndeliverable})
	ok(p, err)
	_, err = p.db.StoreReceipt(bg, notify.Report{MessageID: d.ID, Attempt: 1, Receipt: notify.ReceiptDelivered})
	ok(p, err)
	ok(p, run(p.db, `UPDATE deliveries SET gathered_by = id, state = 'sent' WHERE id = $1`, d.ID))
	_, err = p.db.StoreReceipt(bg, notify.Report{MessageID: d.ID, Attempt: 1, Receipt: notify.ReceiptDelivered})
	ok(p, err)
	ok(p, p.db.AwaitStatus(bg, []notify.Delivery{claim()}, p.clock.Now().Add(day)))
	ok(p, p.db.FallBack(bg, []notify.Delivery{claim()}, notify.WhatsApp))
	d = claim()
	ok(p, p.db.DeliverySent(bg, []notify.Delivery{d}))
	_, err = p.with(func(s *store.Settings) { s.Fallbacks = map[notify.Channel]notify.Channel{notify.SMS: notify.WhatsApp} }).
		db.StoreReceipt(bg, notify.Report{MessageID: d.ID, Attempt: 1, Receipt: notify.ReceiptUndeliverable})
	ok(p, err)
	failed := claim()
	ok(p, p.db.DeliveryFailed(bg, []notify.Delivery{failed}, "refused", ""))
	for _, coachID := range []string{"", c.AccountID} {
		_, err = p.db.MessageCosts(bg, auditor, notify.MessageCostSearch{From: p.clock.Now(), To: p.clock.Now(), CoachID: coachID}, 5)
		ok(p, err)
		_, err = p.db.FailedDeliveries(bg, auditor, notify.FailedDeliverySearch{CoachID: coachID}, 5)
		ok(p, err)
	}
	_, err = p.db.RetryFailed(bg, auditor, failed.ID, func(notify.FailedDelivery) error { return nil })
	ok(p, err)
	p.clock.advance(2 * day)
	strict := p.with(limited(approval.MessageLimits{PerNumberFromCoach: 1})) // admits one delivery and holds the others
	for range 4 {
		d := claim()
		_, err = strict.db.AdmitMessages(bg, outgoing(1, d))
		ok(p, err)
	}
	ok(p, p.db.DeliverySuppressed(bg, []notify.Delivery{d}))
	p.clock.advance(2 * day)
	ok(p, p.db.WakeHeld(bg))
	if len(p.sendRequests(1)) == 0 {
		p.Error("no held message was sent")
	}
	p.gatherStatements()
	_, err = p.db.FailRemovedChannels(bg, nil, 1)
	ok(p, err)
	poor := p.with(budgeted(1))
	poor.requestOTP(75, actor.Coach)
	poor.requestOTP(76, actor.Coach)
	if sent := poor.sendOTPs(); sent != 1 {
		p.Errorf("%d OTPs left, want 1", sent)
	}
	_, err = poor.db.SMSSpent(bg)
	ok(p, err)
}

// gatherStatements sends a first question, and two more that gather and are retried.
func (p *fixture) gatherStatements() {
	p.Helper()
	p = p.with(gathering)
	c := p.coach(73)
	for i := range 3 {
		p.add(c, fmt.Sprint("Child ", i), number(74), "")
	}
	for _, m := range p.claimMessages() {
		ok(p, p.db.DeliverySent(bg, m.Deliveries))
	}
	p.clock.advance(2 * time.Minute)
	gathered := p.claimMessages()
	if len(gathered) != 1 || len(gathered[0].Deliveries) != 2 {
		p.Fatalf("messages = %v, want one with two questions", gathered)
	}
	ok(p, p.db.RetryDelivery(bg, gathered[0].Deliveries, p.clock.Now(), notify.ReasonRetrying))
	p.claimAll(1)
	second := gathered[0].Deliveries[1]
	second.GatheredBy = gathered[0].Deliveries[0].ID
	_, err := p.db.GatherRequests(bg, []notify.Delivery{second}, p.clock.Now())
	ok(p, err)
}

// importPlayers imports players, one of whom exists, and reads the import.
func (p *fixture) importPlayers() {
	p.Helper()
	by, s := p.coach(90), p.imports()
	p.add(by, "Child 1", number(1001), "")
	i, err := s.Create(bg, by, playersFile(1, 2))
	ok(p, err)
	_, err = s.Step(bg, by, i.ID)
	ok(p, err)
	ok(p, p.db.SetStop(bg, by.AccountID, i.ID, nil))
	_, err = s.Imports(bg, by)
	ok(p, err)
	p.states(s, by, i.ID)
}

// directory lists a coach, searches, and hides the coach.
func (p *fixture) directory() {
	p.Helper()
	id := p.coach(80).AccountID
	ok(p, p.show(id, true))
	ok(p, p.profile(id, "Asha Rao", "I coach runners.", "Athletics"))
	ok(p, p.profile(id, "Bela", "I run.", "Football"))
	_, err := p.db.ListingSource(bg, id)
	ok(p, err)
	_, err = p.db.Listing(bg, id)
	ok(p, err)
	for _, terms := range [][]string{nil, {"s:football"}, {"s:football", "w:bela", "w:run"}} {
		found, _, err := p.db.Listings(bg, terms, "", 5)
		if err != nil || len(found) != 1 {
			p.Errorf("%q finds %v, %v", terms, found, err)
		}
	}
	ok(p, p.show(id, false))
}

// installation stores a response under an idempotency key, a secret and a value.
func (p *fixture) installation() {
	p.Helper()
	now := p.clock.Now()
	holder := idempotency.Holder{Owner: "o", Key: "k", LeaseID: "l"}
	claim := idempotency.Claim{Holder: holder, Fingerprint: []byte("f"), Now: now, LeaseEndsAt: now.Add(time.Second), EndsAt: now.Add(time.Hour)}
	for range 2 {
		_, err := p.db.ClaimKey(bg, claim)
		ok(p, err)
	}
	ok(p, p.db.RenewKey(bg, holder, now.Add(time.Minute)))
	ok(p, p.db.SaveResponse(bg, holder, 200, []byte("sealed")))
	_, err := p.db.ReleaseKey(bg, holder)
	ok(p, err)
	installation := store.NewInstallation(p.sql)
	ok(p, installation.AddSecret(bg, auth.Secret{ID: "s", Purpose: "p", Sealed: []byte{1}, CreatedAt: now, ActiveAt: now, EndsAt: now}))
	_, err = installation.Secrets(bg)
	ok(p, err)
	ok(p, installation.DropSecrets(bg, now))
	_, err = installation.SetValue(bg, "n", "v")
	ok(p, err)
}

// announce publishes an account with new notifications to another replica.
func (p *fixture) announce() {
	p.Helper()
	if p.sql.Engine() != "postgres" {
		return
	}
	received := make(chan []string, 1)
	ctx := p.TB.Context()
	db := store.New(p.sql, store.Options{OnNotified: func(ids []string) {
		select {
		case received <- ids:
		default:
		}
	}})
	go db.Listen(ctx)
	for {
		db.Announce([]string{"account"})
		select {
		case <-received:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}
