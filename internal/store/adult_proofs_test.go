package store_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/identity"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/server/devphone"
	"github.com/touchline/touchline/internal/store/storetest"
)

// proofRequired makes a guardian of a minor prove to be an adult before a yes.
func proofRequired(s *settings) { s.Rules.GuardianProof = approval.ProofRequired }

// adultProofs is the service of proofs, with a provider that answers what the code says.
func (p *fixture) adultProofs() *identity.Service {
	return &identity.Service{
		DB: p.db, Approvals: p.Service, Providers: []identity.Provider{devphone.IdentityProvider()},
		Client: identity.NewClient(nil, p.clock.Now, "https://touchline.example/proof/callback"), Secrets: p.vault.For(vault.ForIdentity), Rand: rand.Reader, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}

// begin begins an attempt on a page, and returns its state.
func (p *fixture) beginProof(s *identity.Service, by actor.Actor, playerID string) (state string) {
	p.Helper()
	by.Via = actor.ViaPage
	_, address, err := s.Begin(bg, by, playerID, "test", "")
	ok(p, err)
	u, err := url.Parse(address)
	ok(p, err)
	return u.Query().Get("state")
}

// prove lets the provider say code about a guardian.
func (p *fixture) prove(s *identity.Service, by actor.Actor, playerID, code string) identity.Attempt {
	p.Helper()
	a, err := s.Answer(bg, by, "", p.beginProof(s, by, playerID), code, "")
	ok(p, err)
	return a
}

// TestProofRequired: a yes for a minor needs a proof, once for all children and coaches of the number. A no needs none, nor does
// the yes of a student or of the guardian of an adult. The record has the proof, and the audit agrees.
func TestProofRequired(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := p.adultProofs()
		c, other := p.coach(1), p.coach(9)
		a, second := p.add(c, "Asha Rao", number(2), number(3)), p.add(other, "Bela Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		p.refused(p.decide(guardian, a.ID, approval.Approve), "proof_required")
		if got := p.checkInvariants(c, a.ID).Party(actor.Guardian).Consent.State; got != approval.Pending {
			p.Errorf("after the refusal: state %s", got)
		}
		ok(p, p.decide(p.as(actor.Student, number(3)), a.ID, approval.Approve))
		ok(p, p.decide(guardian, second.ID, approval.Reject))
		grown, err := p.Add(bg, c, adult("Chitra Rao", ""), mother(number(2)))
		ok(p, err)
		ok(p, p.decide(guardian, grown.ID, approval.Approve))
		for code, want := range map[string]identity.Failure{"minor": identity.Minor, "no_age": identity.NoAge, "error": identity.Away} {
			p.clock.advance(2 * time.Hour)
			if got := p.prove(s, guardian, a.ID, code); got.State != identity.Failed || got.Failure != want {
				p.Errorf("%s: got %s, %s", code, got.State, got.Failure)
			}
			p.refused(p.decide(guardian, a.ID, approval.Approve), "proof_required")
		}
		p.clock.advance(2 * time.Hour)
		if got := p.prove(s, guardian, a.ID, "adult"); got.State != identity.Valid {
			p.Fatalf("got %+v", got)
		}
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		_, _, err = p.Send(bg, other, second.ID, actor.Guardian, approval.Patch{}, nil)
		ok(p, err)
		ok(p, p.decide(guardian, second.ID, approval.Approve)) // asks for nothing more
		log := p.consentLog()
		ok(p, log.Work(bg))
		records, err := log.Receipts(bg, guardian, "", 1)
		ok(p, err)
		if got := records[0].Claims.Proof(); got == nil || !got.Adult || got.Method != "oidc" || got.Provider != "test" || got.NameFit != "same" || got.Assurance != "test" {
			p.Errorf("the newest record has the proof %+v", got)
		}
		if report, err := log.Audit(bg); err != nil || len(report.Findings) > 0 {
			p.Errorf("audit: %+v, %v", report, err)
		}
	}, proofRequired)
}

// TestProofEnds: a proof that is withdrawn, or over after 24 months, ends the approvals that need it. Both are told, and the
// guardian 30 days before the end. A new proof before the end keeps them.
func TestProofEnds(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := p.adultProofs()
		c := p.coach(1)
		a := p.add(c, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		approve := func() {
			p.Helper()
			if p.count(`SELECT count(*) FROM requests WHERE player_id = $1 AND state = 'pending'`, a.ID) == 0 {
				_, _, err := p.Send(bg, c, a.ID, actor.Guardian, approval.Patch{}, nil)
				ok(p, err)
			}
			p.prove(s, guardian, a.ID, "adult")
			ok(p, p.decide(guardian, a.ID, approval.Approve))
		}
		check := func(when string, want approval.State, reason approval.PendingReason) {
			p.Helper()
			got := p.checkInvariants(c, a.ID).Party(actor.Guardian).Consent
			if got.State != want || got.PendingReason != reason {
				p.Errorf("%s: got %s %q, want %s %q", when, got.State, got.PendingReason, want, reason)
			}
			if report, err := p.consentLog().Audit(bg); err != nil || len(report.Findings) > 0 {
				p.Errorf("%s: audit: %+v, %v", when, report, err)
			}
		}
		sweep := func() {
			p.Helper()
			_, err := s.EndDue(bg, 100)
			ok(p, err)
		}
		approve()
		check("after the yes", approval.Approved, "")
		ok(p, s.Withdraw(bg, guardian))
		ok(p, s.Withdraw(bg, guardian)) // again
		check("withdrawn", approval.Pending, approval.PendingProof)
		for _, by := range []actor.Actor{c, guardian} {
			if got := p.tray(by.AccountID); got[len(got)-1] != "proof_ended" {
				p.Errorf("%s: got %q", by.Role, got)
			}
		}
		p.refused(p.decide(guardian, a.ID, approval.Approve), "proof_required")
		if st, err := s.Status(bg, guardian); err != nil || st.State == identity.Valid {
			p.Errorf("status after the withdrawal: %+v, %v", st, err)
		}

		approve()
		p.clock.now.Store(p.clock.stopped().AddDate(0, 24, -31).UnixMicro())
		sweep()
		told := func() int {
			return p.count(`SELECT count(*) FROM notifications WHERE type = 'proof_ending' AND account_id = $1`, guardian.AccountID)
		}
		if told() != 0 {
			p.Error("told more than 30 days before")
		}
		p.clock.advance(2 * day)
		sweep()
		sweep()
		if told() != 1 {
			p.Errorf("told %d times", told())
		}
		p.prove(s, guardian, a.ID, "adult") // again before the end
		p.clock.advance(40 * day)
		sweep()
		check("proved again", approval.Approved, "")
		p.clock.now.Store(p.clock.stopped().AddDate(0, 24, 0).UnixMicro())
		sweep()
		check("after 24 months", approval.Pending, approval.PendingProof)
		if st, err := s.Status(bg, guardian); err != nil || st.State != identity.Ended {
			p.Errorf("status after 24 months: %+v, %v", st, err)
		}
		// Without a question the guardian says yes after another proof, and no after its end.
		p.prove(s, guardian, a.ID, "adult")
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		check("proved without a question", approval.Approved, "")
		ok(p, s.Withdraw(bg, guardian))
		ok(p, p.decide(guardian, a.ID, approval.Reject))
		check("a no without a question", approval.Rejected, "")
	}, proofRequired)
}

// TestProofWithdrawnWhileYes: a yes and the end of its proof at the same time leave no approval without a proof.
func TestProofWithdrawnWhileYes(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := p.adultProofs()
		c := p.coach(1)
		for i := range storetest.Rounds(8, 100) {
			n := number(100 + i)
			a, b := p.add(c, fmt.Sprint("Child A ", i), n, ""), p.add(c, fmt.Sprint("Child B ", i), n, "")
			guardian := p.as(actor.Guardian, n)
			p.prove(s, guardian, a.ID, "adult")
			p.countCodes(concurrently(3, func(j int) error {
				switch j {
				case 0:
					return s.Withdraw(bg, guardian)
				case 1:
					return p.decide(guardian, a.ID, approval.Approve)
				}
				return p.decide(guardian, b.ID, approval.Approve)
			}))
			for _, id := range []string{a.ID, b.ID} {
				if got := p.checkInvariants(c, id).Party(actor.Guardian).Consent; got.State == approval.Approved {
					p.Errorf("round %d: approved without a proof", i)
				}
			}
		}
		if report, err := p.consentLog().Audit(bg); err != nil || len(report.Findings) > 0 {
			p.Errorf("audit: %+v, %v", report, err)
		}
	}, proofRequired)
}

// TestAnswersWhileProofArrives: two answers at the same time as the proof end in one yes, or in a refusal of both.
func TestAnswersWhileProofArrives(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := p.adultProofs()
		c := p.coach(1)
		for i := range storetest.Rounds(8, 100) {
			n := number(100 + i)
			a := p.add(c, fmt.Sprint("Child ", i), n, "")
			guardian := p.as(actor.Guardian, n)
			state := p.beginProof(s, guardian, a.ID)
			codes := p.countCodes(concurrently(4, func(j int) error {
				if j < 2 { // a double tap of the way back
					_, err := s.Answer(bg, guardian, "", state, "adult", "")
					return err
				}
				return p.decide(guardian, a.ID, approval.Approve)
			}))
			if codes[""]+codes["proof_required"] != 4 {
				p.Errorf("round %d: %v", i, codes)
			}
			got := p.checkInvariants(c, a.ID).Party(actor.Guardian).Consent.State
			if yes := codes[""] > 2; yes != (got == approval.Approved) {
				p.Errorf("round %d: %v, state %s", i, codes, got)
			}
			if st, err := s.Status(bg, guardian); err != nil || st.State != identity.Valid {
				p.Errorf("round %d: %+v, %v", i, st, err)
			}
		}
	}, proofRequired)
}

// TestProofAttempts: a minor waits an hour, a state counts once and for 15 minutes, an answer in another browser waits for the
// sign-in, and no other guardian finishes it.
func TestProofAttempts(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := p.adultProofs()
		c := p.coach(1)
		a := p.add(c, "Asha Rao", number(2), "")
		p.add(c, "Bela Rao", number(4), "")
		guardian, stranger := p.as(actor.Guardian, number(2)), p.as(actor.Guardian, number(4))
		begin := func(by actor.Actor) error {
			_, _, err := s.Begin(bg, by, a.ID, "test", "")
			return err
		}
		p.refused(begin(stranger), "not_found")
		p.prove(s, guardian, a.ID, "minor")
		f := p.refused(begin(guardian), "rate_limited")
		if f.RetryAfter != time.Hour {
			p.Errorf("wait %s", f.RetryAfter)
		}
		for _, by := range []actor.Actor{c, guardian} {
			if got := p.tray(by.AccountID); slices.Contains(got, "proof_ended") || len(got) > 1 {
				p.Errorf("%s was told: %q", by.Role, got)
			}
		}
		p.clock.advance(time.Hour)
		state := p.beginProof(s, guardian, a.ID)
		p.clock.advance(15 * time.Minute)
		_, err := s.Answer(bg, guardian, "", state, "adult", "")
		p.refused(err, "not_found") // too late
		_, err = s.Answer(bg, guardian, "", "forged", "adult", "")
		p.refused(err, "not_found")
		if got, err := s.Answer(bg, guardian, "", p.beginProof(s, guardian, a.ID), "", "access_denied"); err != nil || got.Failure != identity.Cancelled {
			p.Errorf("cancelled: %+v, %v", got, err)
		}

		state = p.beginProof(s, guardian, a.ID)
		other, err := s.Answer(bg, stranger, "", state, "adult", "") // a browser of another guardian
		ok(p, err)
		if again, err := s.Answer(bg, guardian, "", state, "adult", ""); err != nil || again.State == identity.Valid || again.Browser != "" {
			p.Errorf("the same state again: %+v, %v", again, err)
		}
		if st, err := s.Status(bg, guardian); err != nil || st.State != identity.Started {
			p.Errorf("before the sign-in: %+v, %v", st, err)
		}
		_, err = s.Finish(bg, stranger, other.ID, other.Browser)
		p.refused(err, "not_found")
		if got, err := s.Finish(bg, guardian, other.ID, "another browser"); err != nil || got.State == identity.Valid {
			p.Errorf("in another browser than the provider's: %+v, %v", got, err)
		}
		for range 2 {
			if got, err := s.Finish(bg, guardian, other.ID, other.Browser); err != nil || got.State != identity.Valid {
				p.Errorf("after the sign-in: %+v, %v", got, err)
			}
		}
		p.clock.advance(2 * time.Hour)
		for range 20 {
			ok(p, begin(guardian))
		}
		p.refused(begin(guardian), "rate_limited")
	}, proofRequired)
}

// TestProofsToLookAt: operators see another name, and a person who proves more than five numbers. A check of papers counts.
func TestProofsToLookAt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := p.adultProofs()
		c := p.coach(1)
		for i := range 7 {
			n := number(10 + i)
			a := p.add(c, fmt.Sprint("Child ", i), n, "")
			p.prove(s, p.as(actor.Guardian, n), a.ID, "adult") // the name, and so the person, is the same
		}
		a := p.add(c, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		p.prove(s, guardian, a.ID, "other_name")
		found, err := s.Flagged(bg, "", 50)
		ok(p, err)
		flags := map[string]int{}
		for _, f := range found {
			flags[f.Flag]++
		}
		if flags["numbers"] != 2 || flags["name"] != 1 || len(found) != 3 {
			p.Errorf("got %v", flags)
		}
		ok(p, s.Withdraw(bg, guardian))
		account, _, err := s.RecordPapers(bg, actor.Operator{ID: "t", Name: "desk"}, number(2), identity.SameName)
		ok(p, err)
		if account != guardian.AccountID {
			p.Errorf("papers of account %s", account)
		}
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		_, _, err = s.RecordPapers(bg, actor.Operator{ID: "t", Name: "desk"}, number(99), identity.SameName)
		if fault.KindOf(err) != fault.NotFound {
			p.Errorf("an unknown number: %v", err)
		}
	}, proofRequired)
}

// TestSecondMessage: a day after a guardian's yes for a child under 13 a second message leaves once, unless the yes was taken back. An
// older child needs none.
func TestSecondMessage(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		send := func() {
			p.Helper()
			_, err := p.SendSecondMessages(bg, 100)
			ok(p, err)
		}
		got := func(n int) (messages, sms int) {
			by := p.as(actor.Guardian, number(n))
			return p.count(`SELECT count(*) FROM notifications WHERE type = 'second_message' AND account_id = $1`, by.AccountID),
				p.count(`SELECT count(*) FROM deliveries WHERE kind = 'notice' AND channel = 'sms' AND account_id = $1`, by.AccountID)
		}
		stays, takenBack := p.add(c, "Asha Rao", number(2), ""), p.add(c, "Bela Rao", number(3), "")
		older, err := p.Add(bg, c, approval.Student{FullName: "Chitra Rao", DateOfBirth: approval.Date{Year: 2012, Month: 1, Day: 1}}, mother(number(4)))
		ok(p, err)
		for i, a := range []*approval.Player{stays, takenBack, older} {
			ok(p, p.decide(p.as(actor.Guardian, number(2+i)), a.ID, approval.Approve))
		}
		ok(p, p.decide(p.as(actor.Guardian, number(3)), takenBack.ID, approval.Revoke))
		log := p.consentLog()
		ok(p, log.Work(bg))
		for n, want := range map[int]string{2: approval.TextPlus, 4: ""} {
			method := ""
			records, err := log.Receipts(bg, p.as(actor.Guardian, number(n)), "", 1)
			ok(p, err)
			if proved := records[0].Claims.Proof(); proved != nil {
				if method = proved.Method; proved.Adult {
					p.Errorf("number %d: a second message proves an adult", n)
				}
			}
			if method != want {
				p.Errorf("number %d: the record has the method %q, want %q", n, method, want)
			}
		}
		p.clock.advance(day - time.Microsecond)
		send()
		if n, _ := got(2); n != 0 {
			p.Error("sent before a day")
		}
		p.clock.advance(time.Minute)
		send()
		send()
		for n, want := range map[int]int{2: 1, 3: 0, 4: 0} {
			if messages, sms := got(n); messages != want || sms != want {
				p.Errorf("number %d: %d messages, %d SMS, want %d", n, messages, sms, want)
			}
		}
		// The yes needs a message that left: one that failed ends it, and the coach is told.
		fails := p.add(c, "Deepa Rao", number(5), "")
		ok(p, p.decide(p.as(actor.Guardian, number(5)), fails.ID, approval.Approve))
		p.clock.advance(day)
		send()
		for n, state := range map[int]string{2: "sent", 5: "failed"} {
			ok(p, run(p.db, `UPDATE deliveries SET state = $2 WHERE kind = 'notice' AND channel = 'sms' AND account_id = $1`, p.as(actor.Guardian, number(n)).AccountID, state))
		}
		p.clock.advance(day)
		send()
		send()
		for _, tt := range []struct {
			id     string
			state  approval.State
			reason approval.PendingReason
			told   int
		}{{stays.ID, approval.Approved, "", 0}, {fails.ID, approval.Pending, approval.PendingProof, 1}} {
			a := p.checkInvariants(c, tt.id).Party(actor.Guardian)
			told := p.count(`SELECT count(*) FROM notifications WHERE account_id = $1 AND player_id = $2 AND type = 'delivery_failed'`, c.AccountID, tt.id)
			if a.Consent.State != tt.state || a.Consent.PendingReason != tt.reason || told != tt.told {
				p.Errorf("got %s, %q, the coach told %d times; want %+v", a.Consent.State, a.Consent.PendingReason, told, tt)
			}
		}
		if n := p.count(`SELECT count(*) FROM second_messages`); n != 0 {
			p.Errorf("%d rows are left", n)
		}
	}, func(s *settings) { s.Rules.SecondMessage, s.Rules.GuardianBelow = day, 13 })
}

// TestProofInChatAndCall: a button and a key say that a yes needs a proof first, and take a no.
func TestProofInChatAndCall(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		a := p.add(c, "Asha Rao", number(2), "")
		s := &said{}
		in := p.inbox(s)
		press := func(id, action string) string {
			p.Helper()
			r := p.chatFrom(number(2), id)
			r.Button = action + ":" + p.questionOf(number(2))
			if action == "sure" {
				r.Button += fmt.Sprint(":", p.clock.Now().Unix())
			}
			ok(p, in.Receive(bg, r))
			return s.answers[len(s.answers)-1].Text
		}
		if got := press("1", "sure"); !strings.Contains(got, "First prove that you are an adult, here: https://t.example/me") {
			p.Errorf("the chat says %q", got)
		}
		if got := p.guardianState(c, a.ID); got != "pending" {
			p.Errorf("after the yes in the chat: %s", got)
		}
		if got := press("2", "no"); !strings.HasPrefix(got, "You said no for ") {
			p.Errorf("the chat says %q", got)
		}

		p.Rules.Call = message.RouteToNumber(func(phone.Number) bool { return true }, noTestNumber)
		b, r := p.lateRequest(c, "Bela Rao", number(3))
		call := p.call(c, r.ID)
		if got := p.pressKeys(call, number(3), "1", "1"); !strings.Contains(strings.Join(got.Lines, " "), "you must first prove that you are an adult") || got.Keys != "" {
			p.Errorf("the call says %q", got.Lines)
		}
		if got := p.guardianState(c, b.ID); got != "pending" {
			p.Errorf("after the yes in the call: %s", got)
		}
		p.pressKeys(call, number(3), "2")
		if got := p.guardianState(c, b.ID); got != "rejected" {
			p.Errorf("after the no in the call: %s", got)
		}
	}, proofRequired)
}

// TestProofCostsNoStatement: a yes with a valid proof sends as many statements as one of a service that asks for none. It is not parallel,
// because it counts the statements of the process.
func TestProofCostsNoStatement(t *testing.T) {
	for _, url := range []string{storetest.SQLite(t), storetest.Postgres(t)} {
		p := newFixture(t, url)
		s, c := p.adultProofs(), p.coach(1)
		var players []string
		for n := range 4 {
			players = append(players, p.add(c, fmt.Sprint("Asha ", n), number(2+n), "").ID)
		}
		yes := func(n int) int64 {
			by := p.as(actor.Guardian, number(2+n))
			var statements atomic.Int64
			stop := database.Observe(func(string, []any) { statements.Add(1) })
			defer stop()
			ok(p, p.decide(by, players[n], approval.Approve))
			return statements.Load()
		}
		yes(0) // statements are prepared
		without := yes(1)
		p.Rules.GuardianProof = approval.ProofRequired
		for _, n := range []int{2, 3} {
			p.prove(s, p.as(actor.Guardian, number(2+n)), players[n], "adult")
		}
		yes(2)
		if with := yes(3); with != without {
			p.Errorf("a yes sends %d statements with a proof, and %d without", with, without)
		}
	}
}
