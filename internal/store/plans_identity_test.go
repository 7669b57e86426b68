package store_test

import (
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/identity"
	"github.com/touchline/touchline/internal/platform/actor"
)

// identityStatements runs the statements on proofs of adults.
func (p *fixture) identityStatements() {
	p.Helper()
	p.Rules.GuardianProof, p.Rules.SecondMessage, p.Rules.GuardianBelow = approval.ProofRequired, day, 13
	defer func() { p.Rules.GuardianProof, p.Rules.SecondMessage, p.Rules.GuardianBelow = "", 0, 0 }()
	defer p.clock.now.Store(p.clock.now.Load()) // it moves by two years
	s := p.adultProofs()
	a := p.add(p.coach(140), "Asha Rao", number(141), "")
	guardian := p.as(actor.Guardian, number(141))
	p.prove(s, guardian, a.ID, "minor")
	p.clock.advance(2 * time.Hour)
	other, err := s.Answer(bg, actor.Actor{}, "", p.beginProof(s, guardian, a.ID), "adult", "")
	ok(p, err)
	_, err = s.Finish(bg, guardian, other.ID, other.Browser)
	ok(p, err)
	_, err = s.Answer(bg, guardian, "", strings.Repeat("a", 43), "", "")
	p.refused(err, "not_found")
	_, err = s.Finish(bg, guardian, other.ID, other.Browser)
	ok(p, err)
	_, _, err = s.Start(bg, strings.Repeat("a", 43), "")
	p.refused(err, "not_found")
	_, address, err := s.Begin(bg, guardian, a.ID, "test", "")
	ok(p, err)
	state := strings.TrimPrefix(address, identity.StartPath)
	opened, err := s.Opened(bg, state)
	ok(p, err)
	_, _, err = s.Start(bg, state, "")
	p.refused(err, "forbidden")
	_, _, err = s.Start(bg, state, opened.Asked)
	ok(p, err)
	ok(p, p.decide(guardian, a.ID, approval.Approve))
	p.clock.advance(day)
	for range 2 {
		_, err = p.SendSecondMessages(bg, 100)
		ok(p, err)
		p.clock.advance(day)
		ok(p, run(p.db, `UPDATE deliveries SET state = 'failed' WHERE account_id = $1`, guardian.AccountID))
	}
	_, err = s.Status(bg, guardian)
	ok(p, err)
	_, err = s.NewestChild(bg, guardian)
	ok(p, err)
	_, err = s.Flagged(bg, "", 50)
	ok(p, err)
	p.clock.advance(710 * day)
	_, err = s.EndDue(bg, 100)
	ok(p, err)
	p.clock.advance(30 * day)
	_, err = s.EndDue(bg, 100)
	ok(p, err)
	_, _, err = s.RecordPapers(bg, actor.Operator{ID: "t", Name: "desk"}, number(141), identity.SameName)
	ok(p, err)
	ok(p, p.decide(guardian, a.ID, approval.Approve)) // without a new question
	ok(p, s.Withdraw(bg, guardian))
}
