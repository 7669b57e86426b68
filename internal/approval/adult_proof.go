package approval

import (
	"errors"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// ProofRule says whether a guardian proves to be an adult before a yes.
type ProofRule string

// The rules. The zero ProofRule is ProofOff.
const (
	ProofOff      ProofRule = "off"
	ProofOffered  ProofRule = "offered"
	ProofRequired ProofRule = "required"
)

// AdultProof is a proof that the holder of a guardian's account is an adult. The zero AdultProof is none. Package
// identity makes and ends it.
type AdultProof struct {
	// Method and Provider say by what, NameFit whether the provider knows the name that a coach entered.
	Method, Provider, NameFit string
	// Assurance is what the provider calls its level, or "".
	Assurance  string
	At, EndsAt time.Time
}

// TextPlus is the method of a yes that a second message repeats (Rules.SecondMessage). It does not prove an adult.
const TextPlus = "text_plus"

// Valid reports whether the proof counts at now.
func (a AdultProof) Valid(now time.Time) bool { return now.Before(a.EndsAt) }

// ProofState says whether the yes of a guardian needs a proof.
type ProofState string

// The states.
const (
	ProofNotNeeded ProofState = "not_needed"
	ProofMissing   ProofState = "missing"
	ProofValid     ProofState = "valid"
)

// ProofState returns whether the yes of a guardian of p needs a proof. No other party does, and no guardian of an
// adult.
func (r Rules) ProofState(p *Player, a *Party, now time.Time) ProofState {
	switch {
	case a.Role != actor.Guardian || r.GuardianProof == "" || r.GuardianProof == ProofOff || p.Adult(now):
		return ProofNotNeeded
	case a.Proof.Valid(now):
		return ProofValid
	case r.GuardianProof == ProofRequired:
		return ProofMissing
	}
	return ProofNotNeeded
}

// checkProof returns proof_required for a yes without the proof that it needs. A no and a revocation never need one.
func (r Rules) checkProof(p *Player, a *Party, d Decision, now time.Time) error {
	if d.Action != Approve || r.ProofState(p, a, now) != ProofMissing {
		return nil
	}
	return fault.New(fault.Forbidden, "proof_required", "Prove first that you are an adult. Then say yes. You can say no without it.")
}

// NeedsProof reports whether an error is proof_required.
func NeedsProof(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Code == "proof_required"
}

// EndProof makes the approval of the guardian with an account pending again, whose proof has ended, and tells the
// guardian and the coach. It changes nothing where no proof is needed.
func (p *Player) EndProof(accountID string, rules Rules, op Operation) Change {
	c := Change{}
	for _, a := range p.Guardians() {
		if a.AccountID != accountID || a.Consent.State != Approved || rules.ProofState(p, a, op.Now) != ProofMissing {
			continue
		}
		p.EndApproval(a, p.NewEvent(event.ProofEnded, a), op, &c)
	}
	return c
}

// EndApproval makes an approval without its proof pending again. told tells it. The request has a new version, so that no page
// from before the yes answers it: changes since then gave it none. An answer that names no version counts as before.
func (p *Player) EndApproval(a *Party, told event.Event, op Operation, c *Change) {
	c.Events = append(c.Events, told)
	a.Consent.restart(PendingProof, op.Now)
	c.Save = true
	if r := a.Question(); r != nil {
		r.Version++
		r.SentVersion, c.Ended = r.Version, r
	}
}

// ProofChoice is a provider of proofs on a page.
type ProofChoice struct{ Name, Label string }
