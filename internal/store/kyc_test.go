package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/verification"
)

var testOperator = actor.Operator{ID: "token", Name: "desk"}

// identity adds a document of a kind and returns its id.
func (p *fixture) identity(by actor.Actor, kind string) string {
	p.Helper()
	id := p.db.NewID()
	ok(p, run(p.db, `INSERT INTO documents (id, coach_id, kind, title, file_name, media_type, size, sha256, variants, blob, in_profile, version, created_at, updated_at)
		VALUES ($1, $2, $3, 'Passport', 'p.pdf', 'application/pdf', 1, 'x', '[]', $1, FALSE, 1, 1, 1)`, id, by.AccountID, kind))
	return id
}

func (p *fixture) verify() *verification.Service {
	return &verification.Service{DB: p.db, Documents: &document.Service{DB: p.db}, On: true}
}

func (p *fixture) submit(by actor.Actor, ids ...string) verification.Submission {
	p.Helper()
	_, s, err := p.verify().Submit(bg, by, "Asha Kumari Rao", ids)
	ok(p, err)
	return s
}

// verifications runs every statement on verifications for TestPlans.
func (p *fixture) verifications() {
	p.Helper()
	by := p.coach(9180)
	id := p.identity(by, "identity")
	p.submit(by, id)
	queue, err := p.verify().Queue(bg, auditor, verification.Cursor{}, 5)
	ok(p, err)
	_, err = p.verify().Read(bg, testOperator, queue[0].ID)
	ok(p, err)
	_, err = p.verify().OpenDocument(bg, testOperator, by.AccountID, p.db.NewID())
	p.refused(err, "not_found")
	_, err = p.verify().Reject(bg, testOperator, queue[0].ID, "unreadable")
	ok(p, err)
	_, _, err = p.verify().State(bg, by)
	ok(p, err)
	p.names()
}

func TestVerification(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, other := p.coach(1), p.coach(2)
		first, second := p.identity(by, "identity"), p.identity(by, "identity")
		if state, s, err := p.verify().State(bg, by); err != nil || state != coach.NotStarted || !cmp.Equal(s, verification.Submission{}) {
			p.Fatalf("before submission: got %s, %+v, %v", state, s, err)
		}
		_, _, err := p.verify().Submit(bg, by, "Asha", []string{first, p.identity(by, "certification"), p.identity(other, "identity"), p.db.NewID()})
		f := p.refused(err, "validation_failed")
		var at []string
		for _, field := range f.Fields {
			at = append(at, field.Pointer+" "+field.Code)
		}
		if want := []string{"/document_ids/1 unknown_document", "/document_ids/2 unknown_document", "/document_ids/3 unknown_document"}; !slices.Equal(at, want) {
			p.Errorf("%q, want %q", at, want)
		}
		s := p.submit(by, second, first)
		state, got, err := p.verify().State(bg, by)
		want := verification.Submission{
			ID: s.ID, CoachID: by.AccountID, CoachName: "Coach 1", Number: by.Number, State: coach.Submitted,
			LegalName: "Asha Kumari Rao", DocumentIDs: []string{first, second}, SubmittedAt: p.clock.Now(),
		}
		if diff := cmp.Diff(want, got); diff != "" || state != coach.Submitted || err != nil {
			p.Errorf("after submission: got %s, %v: %s", state, err, diff)
		}
		var sealed []byte
		ok(p, p.db.QueryRow(bg, `SELECT legal_name FROM kyc_submissions WHERE id = $1`, s.ID).Scan(&sealed))
		if strings.Contains(string(sealed), "Asha") || len(sealed) < 30 {
			p.Errorf("legal name is stored as %q, want it encrypted", sealed)
		}
		// Faults of the request are reported before the state.
		_, _, err = p.verify().Submit(bg, by, "Asha", []string{p.db.NewID()})
		p.refused(err, "validation_failed")
		_, _, err = p.verify().Submit(bg, by, "Asha", []string{first})
		if f := p.refused(err, "invalid_transition"); f.Extra["state"] != "submitted" || !cmp.Equal(f.Extra["allowed"], []verification.Action{verification.Withdraw}) {
			p.Errorf("unexpected members %+v", f.Extra)
		}
		for _, reason := range []string{"", " \n", strings.Repeat("é", 501), "a\x00b", "\xff"} {
			_, err := p.verify().Reject(bg, testOperator, s.ID, reason)
			p.refused(err, "validation_failed")
		}
		p.clock.advance(time.Hour)
		rejected, err := p.verify().Reject(bg, testOperator, s.ID, " "+strings.Repeat("é", 500)+"\n")
		ok(p, err)
		want.State, want.Reason, want.DecidedAt, want.LegalName = coach.Rejected, strings.Repeat("é", 500), p.clock.Now(), ""
		if diff := cmp.Diff(want, rejected); diff != "" {
			p.Error(diff)
		}
		if state, got, err := p.verify().State(bg, by); err != nil || state != coach.Rejected || got.Reason != want.Reason {
			p.Errorf("after rejection: got %s, %+v, %v", state, got, err)
		}
		for _, decide := range []func() (verification.Submission, error){
			func() (verification.Submission, error) { return p.verify().Approve(bg, testOperator, s.ID) },
			func() (verification.Submission, error) { return p.verify().Reject(bg, testOperator, s.ID, "again") },
		} {
			_, err := decide()
			if f := p.refused(err, "invalid_transition"); f.Extra["state"] != "rejected" {
				p.Errorf("unexpected members %+v", f.Extra)
			}
		}
		_, err = p.verify().Approve(bg, testOperator, p.db.NewID())
		p.refused(err, "not_found")
		// A rejected coach may submit again; the old submission stays rejected.
		again := p.submit(by, first)
		_, err = p.verify().Approve(bg, testOperator, s.ID)
		if f := p.refused(err, "request_superseded"); f.Extra["request_id"] != again.ID {
			p.Errorf("unexpected members %+v", f.Extra)
		}
		verified, err := p.verify().Approve(bg, testOperator, again.ID)
		ok(p, err)
		if verified.State != coach.Verified {
			p.Errorf("got %+v, want verified", verified)
		}
		_, _, err = p.verify().Submit(bg, by, "Asha", []string{first})
		if f := p.refused(err, "invalid_transition"); f.Extra["state"] != "verified" || len(f.Extra["allowed"].([]verification.Action)) != 0 {
			p.Errorf("unexpected members %+v", f.Extra)
		}
		if got := p.tray(by.AccountID); !slices.Equal(got, []string{"kyc_rejected", "kyc_verified"}) {
			p.Errorf("got notifications %q", got)
		}
		if read, err := p.verify().Read(bg, testOperator, again.ID); err != nil || read.LegalName != "Asha Kumari Rao" || read.State != coach.Verified {
			p.Errorf("read: got %+v, %v", read, err)
		}
		_, err = p.verify().Read(bg, testOperator, p.db.NewID())
		p.refused(err, "not_found")
		log, err := p.db.Operators.Audit(bg, auditor, by.AccountID, "", 10)
		ok(p, err)
		var actions []string
		for _, e := range log {
			actions = append(actions, e.Action+" "+e.Detail)
		}
		if want := []string{
			operator.KYCRead + " submission " + again.ID, operator.KYCApproved + " submission " + again.ID, operator.KYCRejected + " submission " + s.ID,
		}; !slices.Equal(actions, want) {
			p.Errorf("got audit log %q", actions)
		}
	})
}

func TestKYCQueue(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		var want []string
		for i := range 7 {
			by := p.coach(i + 1)
			s := p.submit(by, p.identity(by, "identity"))
			if i == 3 {
				_, err := p.verify().Approve(bg, testOperator, s.ID)
				ok(p, err)
				continue
			}
			want = append(want, s.ID)
			p.clock.advance(time.Duration(i%2) * time.Minute) // some at the same time
		}
		var got []string
		var after verification.Cursor
		for {
			page, err := p.verify().Queue(bg, auditor, after, 2)
			ok(p, err)
			for _, s := range page {
				if s.LegalName != "" || s.CoachName == "" || s.Number == "" || s.State != coach.Submitted {
					p.Errorf("unexpected queue entry %+v", s)
				}
				got = append(got, s.ID)
				after = verification.Cursor{At: s.SubmittedAt, ID: s.ID}
			}
			if len(page) < 2 {
				break
			}
		}
		if !slices.Equal(got, want) {
			p.Errorf("got queue %q, want %q", got, want)
		}
	})
}

// TestConcurrentKYCSubmit checks that one of many concurrent submissions succeeds.
func TestConcurrentKYCSubmit(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		for round := range 5 {
			by := p.coach(round + 1)
			id := p.identity(by, "identity")
			var won atomic.Int32
			for _, err := range concurrently(20, func(int) error {
				_, _, err := p.verify().Submit(bg, by, "Asha", []string{id})
				if err == nil {
					won.Add(1)
				}
				return err
			}) {
				if err != nil && fault.CodeOf(err) != "invalid_transition" {
					p.Error(err)
				}
			}
			if n := p.count(`SELECT count(*) FROM kyc_submissions WHERE coach_id = $1`, by.AccountID); n != 1 || won.Load() != 1 {
				p.Errorf("got %d submissions and %d successes, want 1", n, won.Load())
			}
		}
	})
}

// TestKYCDecisionDuringResubmission decides while the coach withdraws the
// submission and submits again: the decision applies to the submission that it
// names, or fails.
func TestKYCDecisionDuringResubmission(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		for round := range 20 {
			by := p.coach(round + 1)
			id, second := p.identity(by, "identity"), p.identity(by, "identity")
			s := p.submit(by, id)
			var newer verification.Submission
			var approved error
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := p.newDocuments(nil).Remove(bg, by, id); err != nil {
					p.Error(err)
				}
				_, newer, _ = p.verify().Submit(bg, by, "Asha", []string{second})
			})
			wg.Go(func() { _, approved = p.verify().Approve(bg, testOperator, s.ID) })
			wg.Wait()
			state, got, err := p.verify().State(bg, by)
			ok(p, err)
			switch code := fault.CodeOf(approved); {
			case approved == nil && state == coach.Verified && got.ID == s.ID:
			case (code == "request_superseded" || code == "invalid_transition") && state == coach.Submitted && got.ID == newer.ID:
			default:
				p.Errorf("got error %v and state %s of %+v", approved, state, got)
			}
		}
	})
}

// TestConcurrentKYCDecisions approves, rejects and deletes the document
// concurrently: exactly one takes effect, and all tables agree which.
func TestConcurrentKYCDecisions(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		for round := range 20 {
			by := p.coach(round + 1)
			id := p.identity(by, "identity")
			s := p.submit(by, id)
			var wg sync.WaitGroup
			var won [3]error
			for i, act := range []func() error{
				func() error { _, err := p.verify().Approve(bg, testOperator, s.ID); return err },
				func() error { _, err := p.verify().Reject(bg, testOperator, s.ID, "no"); return err },
				func() error { _, err := p.newDocuments(nil).Remove(bg, by, id); return err },
			} {
				wg.Go(func() { won[i] = act() })
			}
			wg.Wait()
			var winner []string
			for i, state := range []string{"verified", "rejected"} {
				if won[i] == nil {
					winner = append(winner, state)
				} else if fault.CodeOf(won[i]) != "invalid_transition" {
					p.Error(won[i])
				}
			}
			ok(p, won[2])
			if len(winner) == 0 {
				winner = []string{"not_started"}
			}
			var state, submission string
			ok(p, p.db.QueryRow(bg, `SELECT c.kyc_state, s.state FROM coaches c JOIN kyc_submissions s ON s.coach_id = c.id WHERE c.id = $1`, by.AccountID).Scan(&state, &submission))
			notified := p.tray(by.AccountID)
			if len(winner) != 1 || state != winner[0] || submission != map[string]string{"not_started": "withdrawn"}[state] && submission != state {
				p.Errorf("round %d: winners %q, coach %s, submission %s", round, winner, state, submission)
			}
			if want := map[string]string{"verified": "[kyc_verified]", "rejected": "[kyc_rejected]", "not_started": "[]"}[state]; fmt.Sprint(notified) != want {
				p.Errorf("round %d: got notifications %v in state %s", round, notified, state)
			}
			if n := p.count(`SELECT count(*) FROM audit_log WHERE object_id = $1`, by.AccountID); n != len(notified) {
				p.Errorf("round %d: got %d audit entries in state %s", round, n, state)
			}
		}
	})
}

// TestClosedCoachHasNoSession deletes a coach's row, as a concurrent closure does.
func TestClosedCoachHasNoSession(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		id, player := p.identity(by, "identity"), p.add(by, "Asha Rao", number(2), "")
		ok(p, run(p.db, `DELETE FROM coaches WHERE id = $1`, by.AccountID))
		_, _, err := p.verify().Submit(bg, by, "Asha", []string{id})
		p.refused(err, "session_revoked")
		_, _, err = p.verify().State(bg, by)
		if fault.CodeOf(err) != "session_revoked" {
			p.Error(err)
		}
		_, err = p.Add(bg, by, child("Bela Rao", ""), mother(number(3)))
		p.refused(err, "session_revoked")
		_, _, err = p.Remind(bg, by, player.ID, actor.Guardian)
		ok(p, err) // the player still exists
		ok(p, p.Remove(bg, by, player.ID))
	})
}
