package store_test

import (
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

// access gives the guardian with a number a session, a passkey, a confirmed address and a proof of an adult. The returned function says how
// many of the four count.
func (p *fixture) access(n int, playerID string) (guardian actor.Actor, left func() int) {
	p.Helper()
	guardian = p.as(actor.Guardian, number(n))
	account, until := guardian.AccountID, p.clock.Now().Add(day).UnixMicro()
	p.prove(p.adultProofs(), guardian, playerID, "adult")
	ok(p, run(p.db, `
		INSERT INTO sessions (id, account_id, role, mobile_number, device_id, generation, refresh_hash, created_at, last_used_at, idle_at, ends_at)
		VALUES ($1, $1, 'guardian', $2, 'phone', 1, $3, 1, 1, $4, $4)`, account, string(number(n)), []byte(account), until))
	ok(p, run(p.db, `INSERT INTO passkeys (id, account_id, credential_id, credential, sign_count, created_at) VALUES ($1, $1, $2, '{}', 0, 1)`, account, []byte(account)))
	ok(p, run(p.db, `INSERT INTO confirmed_addresses (mobile_number, role, address, ends_at) VALUES ($1, 'guardian', 'a@example.org', $2)`, string(number(n)), until))
	return guardian, func() int {
		p.Helper()
		return p.count(`SELECT (SELECT count(*) FROM sessions WHERE account_id = $1 AND idle_at > 0) + (SELECT count(*) FROM passkeys WHERE account_id = $1)
			+ (SELECT count(*) FROM confirmed_addresses WHERE mobile_number = $2) + (SELECT count(*) FROM adult_proofs WHERE account_id = $1)`, account, string(number(n)))
	}
}

// TestNumberNamedAgain: when a coach names a number that no player names, its former holder has no session, passkey, address or proof any
// more, also where the role was kept. While a player names it, a second coach ends nothing.
func TestNumberNamedAgain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c, other := p.coach(1), p.coach(9)
		removed := p.add(c, "Asha Rao", number(2), "")
		_, _, err := p.AddGuardian(bg, c, removed.ID, *mother(number(3)))
		ok(p, err)
		former, formerLeft := p.access(2, removed.ID)
		ok(p, p.decide(former, removed.ID, approval.Approve))
		current, err := p.Player(bg, c, removed.ID)
		ok(p, err)
		ok(p, p.RemoveGuardian(bg, c, removed.ID, current.Guardians()[0].GuardianID, current.Guardians()[1].GuardianID))

		wrong := p.add(c, "Bela Rao", number(4), "")
		disputing, disputingLeft := p.access(4, wrong.ID)
		_, err = p.Dispute(bg, disputing, wrong.Party(actor.Guardian).Request.ID, approval.Wording{})
		ok(p, err)
		ok(p, p.Remove(bg, c, wrong.ID))

		gone := p.add(c, "Chitra Rao", number(5), "")
		_, goneLeft := p.access(5, gone.ID)
		ok(p, p.Remove(bg, c, gone.ID))

		_, namedLeft := p.access(6, p.add(c, "Deepa Rao", number(6), "").ID)
		check := func(when string, want ...int) {
			p.Helper()
			for i, left := range []func() int{formerLeft, disputingLeft, goneLeft, namedLeft} {
				if got := left(); got != want[i] {
					p.Errorf("%s: %s has %d of session, passkey, address and proof, want %d", when, []string{"a former guardian", "one with a dispute", "one without a role", "one with a player"}[i], got, want[i])
				}
			}
		}
		check("after the removals", 4, 4, 0, 4)
		for i, name := range []string{"Esha Rao", "Fara Rao", "Gita Rao", "Hema Rao"} {
			p.add(other, name, number([]int{2, 4, 5, 6}[i]), "")
		}
		check("after another coach named them", 0, 0, 0, 4)
	}, func(s *settings) { s.Rules.GuardianProof = approval.ProofOffered })
}
