package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// ProofRule says whether a guardian proves to be an adult before a yes.
type ProofRule string

// The rules. The zero ProofRule is ProofOff.
const (
	ProofOff      ProofRule = "off"
	ProofOffered  ProofRule = "offered"
	ProofRequired ProofRule = "required"
)

// AdultProof is a proof that the holder of a guardian's account is an adult. The zero AdultProof is none. Package identity makes and ends it.
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

// ProofState returns whether the yes of a guardian of p needs a proof. No other party does, and no guardian of an adult.
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

// endProof makes the approval of the guardian with an account pending again, whose proof has ended, and tells the guardian and the
// coach. It changes nothing where no proof is needed.
func (p *Player) endProof(accountID string, rules Rules, op Operation) Change {
	c := Change{}
	for _, a := range p.Guardians() {
		if a.AccountID != accountID || a.Consent.State != Approved || rules.ProofState(p, a, op.Now) != ProofMissing {
			continue
		}
		c.Events = append(c.Events, p.newEvent(event.ProofEnded, a))
		a.Consent.restart(PendingProof, op.Now)
		c.Save = true
	}
	return c
}

// ProofEnded makes the approvals pending again that need the proof of an account. The caller has ended the proof in the same
// transaction. A yes that read the proof meanwhile runs again: this changes the version of each player of the account.
func (s *Service) ProofEnded(ctx context.Context, tx *store.Tx, accountID string) error {
	if s.Rules.GuardianProof != ProofRequired {
		return nil
	}
	rs, err := tx.Query(ctx, `
		UPDATE players SET version = version + 1
		WHERE deleted_at IS NULL AND id IN (SELECT a.player_id FROM parties a WHERE a.account_id = $1 AND a.role = 'guardian' AND a.deleted_at IS NULL)
		RETURNING id`, accountID)
	ids, err := database.CollectTexts(rs, err)
	if err != nil {
		return fmt.Errorf("count the end of a proof in the players of account %s: %w", accountID, err)
	}
	slices.Sort(ids)
	for _, id := range ids {
		p, err := s.loadPlayer(ctx, tx, id, loadOptions{})
		if err != nil {
			return err
		}
		err = s.changePlayer(ctx, tx, p, loadOptions{}, func(p *Player) (Change, error) {
			op, before := s.operation(), p.ConsentStatus()
			c := p.endProof(accountID, s.Rules, op)
			if c.Save {
				c.StatusChanges = p.statusChanges(before, s.Rules, op.Now)
			}
			return c, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ProofEnding returns the events that tell a guardian that its proof ends on a day, one for each coach whose approval needs it.
func (s *Service) ProofEnding(ctx context.Context, tx *store.Tx, accountID, day string) ([]event.Event, error) {
	if s.Rules.GuardianProof != ProofRequired {
		return nil, nil
	}
	by := actor.Actor{AccountID: accountID, Role: actor.Guardian}
	players, err := s.readPlayers(tx.Query(ctx, playerSelect+`
		WHERE p.id IN (SELECT o.player_id FROM parties o WHERE o.account_id = $1 AND o.role = 'guardian' AND o.deleted_at IS NULL)`, accountID))
	if err != nil {
		return nil, fmt.Errorf("read the players of account %s: %w", accountID, err)
	}
	for _, p := range players {
		a := p.PartyOf(by)
		if a != nil && a.Consent.State == Approved && !p.Adult(tx.Now) { // one is enough: the proof is the same for all
			e := p.newEvent(event.ProofEnding, a)
			e.Day = day
			return []event.Event{e}, nil
		}
	}
	return nil, nil
}

// ProofChoice is a provider of proofs on a page.
type ProofChoice struct{ Name, Label string }
