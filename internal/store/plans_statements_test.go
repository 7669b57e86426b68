package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store"
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
	p := newFixture(t, url, limited(message.Limits{
		TotalHour: 1000, TotalDay: 1000, PerAddress: 1000, PerBlock: 1000, NewCoach: 1000, PerCoach: 1000, PerNumberFromCoach: 3, PerNumber: 1000, Budget: 1000,
	}))
	p.consents()
	p.challenges()
	p.coachDevices()
	p.emailCodes()
	p.passkeys()
	p.numberChangeAndClosure()
	p.sessions()
	p.outbox()
	p.inboxStatements()
	p.callStatements()
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
	p.proofStatements()
	p.erasures()
	p.trainingStatements()
	p.teamStatements()
	p.webhookStatements()
	p.needStatements()
	p.adulthood()
	p.noticeStatements()
	p.identityStatements()
	ok(t, run(p.db, `UPDATE requests SET closed_at = 1 WHERE closed_at IS NOT NULL`)) // their short codes are freed
	if _, err := p.db.Sweep(bg, p.clock.Now()); err != nil {
		t.Fatal(err)
	}
	p.secretRotation()
	return p
}

// noticeStatements runs the statements on the notice to families.
func (p *fixture) noticeStatements() {
	p.Helper()
	texts, err := privacy.ReadNotices("", privacy.Words{})
	ok(p, err)
	s, err := privacy.Keep(bg, p.db, texts)
	ok(p, err)
	_, err = privacy.Keep(bg, p.db, []privacy.Notice{{Language: "en", Text: "Another one", Hash: "another"}})
	ok(p, err)
	_, err = s.Version(bg, "hi", 99)
	_, unknown := s.ByHash(bg, "none")
	if fault.KindOf(err) != fault.NotFound || fault.KindOf(unknown) != fault.NotFound {
		p.Error(err, unknown)
	}
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
	guardian.Call(t, "DELETE", "/api/me", nil).Want(t, 204)
	s.SignIn(t, "student", "+919812300021").Call(t, "DELETE", "/api/me", nil).Want(t, 204)
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
	request, _ := p.OwnRequest(bg, c, a.Party(actor.Guardian).Request.ID)
	_, err = p.Link(bg, p.link(request.ID))
	ok(p, err)
	p.refused(p.DisputeByLink(bg, []byte("unknown"), approval.Wording{}), "not_found")
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
	_, err = p.Dispute(bg, student, a.Party(actor.Student).Request.ID, approval.Wording{})
	ok(p, err)
	_, err = p.Disputes(bg, student, approval.Page{Limit: 5})
	ok(p, err)
	ok(p, p.Lift(bg, student, a.Party(actor.Student).Request.ID))
	_, err = p.Timeline(bg, c, a.ID)
	ok(p, err)
	_, err = p.Edit(bg, c, a.ID, approval.Patch{Student: approval.StudentPatch{Medical: ptr("Asthma")}})
	ok(p, err)
	_, err = p.Medical(bg, guardian, a.ID, approval.ReadToShow)
	ok(p, err)
	_, err = p.ExportMedical(bg, c, []string{a.ID})
	ok(p, err)
	_, err = p.MedicalReadings(bg, guardian, a.ID, approval.Page{Limit: 5})
	ok(p, err)
	for _, by := range []actor.Actor{guardian, student} {
		statuses, err := player.ConsentStatusesOfNumber(bg, p.db, auditor, by.Number, by.Role)
		if err != nil || len(statuses) == 0 {
			p.Fatal(statuses, err)
		}
	}
	_, err = player.ConsentStatuses(bg, p.db, []string{a.ID, b.ID})
	ok(p, err)
	_, err = p.CountRemindable(bg, c)
	ok(p, err)
	_, err = p.StoppedBy(bg, c, a.ID, actor.Guardian, "")
	ok(p, err)
	_, guardianID, err := p.AddGuardian(bg, c, a.ID, approval.Person{Name: "Ravi Rao", Relationship: "father", Number: "+919812345699"})
	ok(p, err)
	_, err = p.Edit(bg, c, a.ID, approval.Patch{GuardianID: guardianID, Position: ptr(1), Rule: ptr(approval.AllGuardians)})
	ok(p, err)
	ok(p, p.RemoveGuardian(bg, c, a.ID, guardianID, a.Party(actor.Guardian).GuardianID))
	_, guardianID, err = p.AddGuardian(bg, c, a.ID, approval.Person{Name: "Ravi Rao", Relationship: "father", Number: "+919812345699"}) // a known number
	ok(p, err)
	ok(p, p.RemoveGuardian(bg, c, a.ID, guardianID, ""))
	_, err = p.FormerPlayers(bg, guardian, "", 50)
	ok(p, err)
	_, err = p.FormerDecisions(bg, guardian, a.ID)
	ok(p, err)
	_, err = p.RemindAll(bg, c, p.clock.Now())
	ok(p, err)
	_, _, err = p.feed().Read(bg, feed.Cursor{}, 50)
	ok(p, err)
	ok(p, player.RecordAdults(bg, p.db, approval.Date{Year: 1990, Month: 1, Day: 1}, true))
	ok(p, player.RecordAdults(bg, p.db, approval.AdultBirthDate(p.clock.Now()), true))
	for _, by := range []actor.Actor{c, guardian, student} {
		_, err := p.Availability(bg, by, a.ID)
		ok(p, err)
		_, _, err = p.Status(bg, by, a.ID)
		ok(p, err)
		_, err = p.Links(bg, by, false, approval.Page{Limit: 5})
		ok(p, err)
		_, err = p.PlayersByID(bg, by, []string{a.ID})
		ok(p, err)
		_, err = p.accounts().Own(bg, by)
		ok(p, err)
		_, _ = p.OwnRequest(bg, by, a.Party(actor.Guardian).Request.ID)
	}
	_, err = p.Players(bg, c, approval.Filter{Search: "rao"}, approval.Page{Limit: 5})
	ok(p, err)
	_, err = p.Pending(bg, c, approval.Page{Limit: 5})
	ok(p, err)
	_, err = p.coaches().Dashboard(bg, c.AccountID, p.clock.Now())
	ok(p, err)
	_, err = p.coaches().Overview(bg, c.AccountID, 5, p.clock.Now())
	ok(p, err)
	_, err = p.PlayerNames(bg, c, 5)
	ok(p, err)
	_, err = p.NamesOf(bg, c, []string{c.AccountID})
	ok(p, err)
	_, err = p.CountByName(bg, c, approval.Filter{})
	ok(p, err)
	byName, err := p.PlayersByName(bg, c, approval.Filter{}, approval.NamePage{Limit: 5})
	ok(p, err)
	_, err = p.PlayersByName(bg, c, approval.Filter{}, approval.NamePage{After: byName[0].ID, Limit: 5})
	ok(p, err)
	_, err = store.BatchNames(bg, p.db, c.AccountID, 5)
	ok(p, err)
	_, err = p.db.Outbox.TimeZone(bg, number(1))
	ok(p, err)
	_ = p.CheckAppAccess(bg, student)
	p.clock.advance(3*day + time.Hour)
	_, err = p.SendDigests(bg, 10)
	ok(p, err)
	ok(p, p.Remove(bg, c, a.ID))
	otherStudent := p.as(actor.Student, number(4))
	_, err = p.Dispute(bg, otherStudent, b.Party(actor.Student).Request.ID, approval.Wording{})
	ok(p, err)
	ok(p, p.Remove(bg, c, b.ID))
	operatorBy := actor.Operator{Name: "shell:root"}
	for _, search := range []approval.DisputeSearch{{}, {CoachID: c.AccountID}, {Number: number(4)}} {
		_, err = player.FindDisputes(bg, p.db, operatorBy, search, 5)
		ok(p, err)
	}
	ok(p, p.LiftForOperator(bg, operatorBy, b.Party(actor.Student).Request.ID))
	p.clock.advance(4 * day)
	_, err = p.SendDigests(bg, 10)
	ok(p, err)
	p.notifications(c)
	p.streams(c)
	p.tls()
	_, err = p.coaches().Profile(bg, c.AccountID)
	ok(p, err)
	ok(p, p.coaches().UpdateProfile(bg, c.AccountID, func(v coach.Profile) (coach.Profile, error) { return v, nil }))
}

// needStatements makes a need of each kind and lists it.
func (p *fixture) needStatements() {
	by := p.coach(9700)
	p.add(by, "Asha Rao", number(9701), number(9702))
	const open = `state = 'pending', closed_at = NULL, followed_up_at = NULL`
	for _, changes := range [][]string{
		{`UPDATE requests SET delivery_failed = TRUE WHERE coach_id = $1`},
		{
			`UPDATE requests SET state = 'disputed', closed_at = 1 WHERE coach_id = $1`, `UPDATE parties SET state = 'pending' WHERE coach_id = $1`,
			`INSERT INTO disputes (coach_id, approver_id, player_id, student_hash, number_hash, created_at, request_id)
			SELECT coach_id, approver_id, player_id, '\x01', '\x02', 1, id FROM requests WHERE coach_id = $1`,
		},
		{
			`UPDATE parties SET state = 'rejected' WHERE role = 'guardian' AND coach_id = $1`,
			`INSERT INTO notifications (account_id, seq, id, type, title, body, data, player_id, created_at)
			SELECT coach_id, 100000, 'refusal', 'guardian_rejected', 'No', 'No', '{}', id, 1 FROM players WHERE coach_id = $1 ORDER BY id LIMIT 1`,
		},
		{`UPDATE requests SET ` + open + `, delivery_failed = FALSE, requested_at = 1 WHERE coach_id = $1`},
		{`UPDATE requests SET requested_at = 1, followed_up_at = 2 WHERE coach_id = $1`},
		{`UPDATE deliveries SET state = 'queued', reason = 'held', lease = NULL WHERE coach_id = $1`},
		{
			`INSERT INTO stopped_coaches (mobile_number, coach_id, stopped_at)
			SELECT DISTINCT a.mobile_number, r.coach_id, 1 FROM requests r JOIN accounts a ON a.id = r.approver_id WHERE r.coach_id = $1 ON CONFLICT DO NOTHING`,
		},
	} {
		for _, change := range changes {
			ok(p, run(p.db, change, by.AccountID))
		}
		needs, err := p.coaches().Needs(bg, by.AccountID, coach.NeedQuery{Limit: 50}, p.clock.Now())
		ok(p, err)
		if len(needs.Items) == 0 {
			p.Errorf("no need after %s", changes)
		}
		for _, need := range needs.Items {
			ok(p, p.notices().MarkRefusalsRead(bg, by, need.PlayerID))
		}
	}
}

// importPlayers imports players, of whom one exists, one is refused and one is beyond a limit, and reads
// the import.
func (p *fixture) importPlayers() {
	p.Helper()
	by, s := p.coach(90), p.imports()
	p.add(by, "Child 1", number(1001), "")
	file := playersText(1, 1) + "Own,2014-05-06,Meera,mother," + string(by.Number) + "\nChild 2,2014-05-06,Meera,mother," + string(number(1002)) + "\n"
	i, err := s.Create(bg, by, roster.NewFile([]byte(file)), roster.Options{})
	ok(p, err)
	check := p.Rules.CheckRoster
	p.Rules.CheckRoster = func(approval.Roster) error {
		return fault.New(fault.Forbidden, "tier_limit", "The tier Free allows 1 player.")
	}
	ok(p, second(s.Step(bg, by, i.ID)))
	p.Rules.CheckRoster = check
	ok(p, second(s.Step(bg, by, i.ID)))
	ok(p, second(s.Imports(bg, by)))
	ok(p, second(s.Rows(bg, by, i.ID, roster.RowFilter{State: roster.Refused, Limit: 5})))
	p.states(s, by, i.ID)
	faulty, err := s.Create(bg, by, roster.NewFile([]byte(playersText(1, 1)+"Wrong,2014-05-06,Meera,mother,12\n")), roster.Options{})
	ok(p, err)
	ok(p, s.Correct(bg, by, faulty.ID, []roster.Correction{{Number: 3, Cells: map[roster.Column]string{roster.GuardianNumber: string(number(1003))}}}))
	long, err := s.Create(bg, by, playersFile(1, 501), roster.Options{})
	ok(p, err)
	_, err = s.Await(bg, by, long.ID, time.Minute)
	ok(p, err)
}

// directory lists a coach, searches, and hides the coach.
func (p *fixture) directory() {
	p.Helper()
	id := p.coach(80).AccountID
	ok(p, p.show(id, true))
	ok(p, p.profile(id, "Asha Rao", "I coach runners.", "Athletics"))
	ok(p, p.profile(id, "Bela", "I run.", "Football"))
	_, err := p.coaches().ListingSource(bg, id)
	ok(p, err)
	_, err = p.coaches().Listing(bg, id)
	ok(p, err)
	for _, terms := range [][]string{nil, {"s:football"}, {"s:football", "w:bela", "w:run"}} {
		found, _, err := p.coaches().Listings(bg, terms, "", 5)
		if err != nil || len(found) != 1 {
			p.Errorf("%q finds %v, %v", terms, found, err)
		}
	}
	ok(p, p.show(id, false))
}

// adulthood runs the statements on students who become adults.
func (p *fixture) adulthood() {
	p.Helper()
	a := p.add(p.coach(91), "Chand Rao", number(92), number(93))
	ok(p, p.decide(p.as(actor.Guardian, number(92)), a.ID, approval.Approve))
	born := approval.DateOf(p.clock.Now().AddDate(-18, 0, -1))
	ok(p, run(p.db, `UPDATE players SET date_of_birth = $2, adult_step = 'turned', adult_step_at = 1 WHERE id = $1`, a.ID, born.String()))
	_, err := p.TurnAdults(bg, 5)
	ok(p, err)
	born = approval.DateOf(p.clock.Now().AddDate(-17, 0, -1))
	_, err = p.Edit(bg, p.as(actor.Coach, number(91)), a.ID, approval.Patch{Student: approval.StudentPatch{DateOfBirth: &born}})
	ok(p, err)
}
