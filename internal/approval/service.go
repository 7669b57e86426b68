package approval

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// loadOptions says what updatePlayer loads besides the player and its newest requests.
type loadOptions struct {
	// RemindersSince loads the reminders sent after it, unless zero.
	RemindersSince time.Time
	// Medical loads the medical text, for a change of it.
	Medical bool
	// Disputes loads the contacts that refuse requests.
	Disputes bool
	// CallFacts loads what calls depend on.
	CallFacts bool
	// History loads the decisions.
	History bool
	// Deliveries loads the deliveries of the newest requests, oldest first, after a change.
	Deliveries bool
}

// Service carries out the operations on players and consents, with their SQL.
type Service struct {
	DB    *store.DB
	Rules Rules
	Hooks Hooks
	Now   func() time.Time
	NewID func() string
	// Brand is the name of the service in calls.
	Brand string
	// Rand is the source of short codes; nil means crypto/rand.
	Rand io.Reader
	// NoticeHash returns the hash of the current notice to families in a language; nil if there is none.
	NoticeHash func(language string) string
	// CountDecision and SecurityEvent run after the commit of a decision; nil does nothing.
	CountDecision func(party, action string, onCoachDevice bool)
	SecurityEvent func(ctx context.Context, name string, attrs ...slog.Attr)
}

// Hooks are what features do in the transaction of a change of a player.
type Hooks struct {
	// PlayerAdded runs before the row of a new player is inserted; nil does nothing.
	PlayerAdded func(ctx context.Context, tx *store.Tx, playerID string) error
	// ConsentChanged records changes of the consents of one player or of removed players; nil does nothing.
	ConsentChanged func(ctx context.Context, tx *store.Tx, changes []ConsentChange) error
	// OpenShown returns what the record of a decision says was shown, from its sealed values; nil returns nothing.
	OpenShown func(db *store.DB, recordID string, sealed []byte) (Wording, error)
	// PlayerRemoved run when a coach removes a player.
	PlayerRemoved []func(ctx context.Context, tx *store.Tx, coachID, playerID string) error
}

// Channels returns the channels of the service, sorted.
func (s *Service) Channels() []message.Channel { return slices.Sorted(maps.Keys(s.Rules.Routes)) }

// operation returns a new Operation at the current time, in the precision of the database.
func (s *Service) operation() Operation {
	return Operation{Now: s.Now().UTC().Truncate(time.Microsecond), NewID: s.NewID, Claims: s.Rules.Claims}
}

// Add is AddWith for a player with one guardian, or none.
func (s *Service) Add(ctx context.Context, by actor.Actor, student Student, guardian *Person, batchIDs ...string) (*Player, error) {
	var guardians []Person
	if guardian != nil {
		guardians = []Person{*guardian}
	}
	return s.AddWith(ctx, by, student, guardians, batchIDs...)
}

// AddWith adds a player of the calling coach to batches of the coach and opens the first requests.
func (s *Service) AddWith(ctx context.Context, by actor.Actor, student Student, guardians []Person, batchIDs ...string) (*Player, error) {
	op := s.operation()
	p, err := newPlayer(by, student, guardians, s.Rules, op)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(batchIDs))) {
		p.Batches = append(p.Batches, Batch{ID: id})
	}
	err = s.addPlayer(ctx, p, func(roster Roster) (Change, error) {
		for i := range p.Parties {
			p.Parties[i].Request = nil // set by an earlier run
		}
		c, err := p.openFirstRequests(s.Rules, op, roster)
		c.By, c.StatusChanges = by, p.firstChanges(op.Now)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// update runs fn on the player and returns the player as saved. Each run has a new
// Operation, so that after a lost race the later change has the later time.
func (s *Service) update(ctx context.Context, id string, load loadOptions, fn func(*Player, Operation) (Change, error)) (*Player, error) {
	var saved *Player
	var decided *Record
	err := s.updatePlayer(ctx, id, load, func(p *Player) (Change, error) {
		saved = p
		op, before, live := s.operation(), p.ConsentStatus(), p.DeletedAt.IsZero()
		c, err := fn(p, op)
		if c.Save && live {
			c.StatusChanges = p.statusChanges(before, s.Rules, op.Now)
		}
		decided = c.History
		return c, err
	})
	if err != nil {
		return nil, err
	}
	if decided != nil {
		s.logDecision(ctx, saved.CoachID, decided)
	}
	return saved, nil
}

// logDecision counts a decision about a player of a coach and logs it as a security event.
func (s *Service) logDecision(ctx context.Context, coachID string, d *Record) {
	if s.CountDecision != nil {
		s.CountDecision(string(d.Party), string(d.Action), d.CoachDevice)
	}
	if s.SecurityEvent == nil {
		return
	}
	attrs := []slog.Attr{
		slog.String("account_id", d.ApproverID), slog.String("player_id", d.PlayerID),
		slog.String("party", string(d.Party)), slog.String("action", string(d.Action)),
	}
	s.SecurityEvent(ctx, "decision_recorded", attrs...)
	if d.CoachDevice {
		s.SecurityEvent(ctx, "approved_on_coach_device", append(attrs, slog.String("coach_id", coachID))...)
	}
}

// Decide records the decision of the party by. It returns the player and the history as
// they were saved, not later ones.
func (s *Service) Decide(ctx context.Context, by actor.Actor, id string, d Decision) (*Player, []Record, error) {
	p, saved, err := s.decide(ctx, by, id, d, loadOptions{History: true, Deliveries: true})
	if err != nil {
		return nil, nil, err
	}
	if !saved.Save { // a repeated decision: the player may have changed while it was read
		return s.Status(ctx, by, id)
	}
	history := p.History
	if saved.History != nil {
		history = append(history, *saved.History)
	}
	history, err = s.shownHistory(p, by, history)
	return p, history, err
}

// DecideOnly is Decide for a caller that needs no more than the error: it reads neither the history nor the deliveries.
func (s *Service) DecideOnly(ctx context.Context, by actor.Actor, id string, d Decision) error {
	_, _, err := s.decide(ctx, by, id, d, loadOptions{})
	return err
}

func (s *Service) decide(ctx context.Context, by actor.Actor, id string, d Decision, load loadOptions) (p *Player, saved Change, err error) {
	p, err = s.update(ctx, id, load, func(p *Player, op Operation) (c Change, err error) {
		if err := s.Rules.checkFresh(by, p, d, op.Now); err != nil {
			return Change{}, err
		}
		d.Wording = s.wordingFor(by, p, d.Wording)
		if c, err = p.Decide(by, by.Role, d, op); err == nil && c.Save {
			s.Rules.noteTextPlus(p, c.History)
			err = s.Rules.checkProof(p, p.PartyOf(by), d, op.Now)
		}
		saved = c
		return c, err
	})
	return p, saved, err
}

// WithholdUnproved turns the app services of a party off whose approval its record contradicts: the consent is pending
// again, and the coach can ask again. It reports false if the player has changed since version was read.
func (s *Service) WithholdUnproved(ctx context.Context, playerID string, party actor.Role, guardianID string, version int64) (withheld bool, err error) {
	_, err = s.update(ctx, playerID, loadOptions{}, func(p *Player, op Operation) (Change, error) {
		c := p.withholdUnproved(party, guardianID, version, op)
		withheld = c.Save
		return c, nil
	})
	return withheld, err
}

// Send asks party for its approval and reports whether the request is new.
func (s *Service) Send(ctx context.Context, by actor.Actor, id string, party actor.Role, correction Patch, channels []message.Channel) (*Request, bool, error) {
	var created bool
	p, err := s.update(ctx, id, loadOptions{Disputes: true, Deliveries: true}, func(p *Player, op Operation) (c Change, err error) {
		c, created, err = p.Send(by, party, correction, channels, s.Rules, op)
		return c, err
	})
	if err != nil {
		return nil, false, err
	}
	r := p.Find(party, correction.GuardianID).Request
	if !created {
		r, err = s.OwnRequest(ctx, by, r.ID) // with its follow-up
	}
	return r, created, err
}

// Remind is RemindParty for the first guardian or the student.
func (s *Service) Remind(ctx context.Context, by actor.Actor, id string, party actor.Role) (*Request, int, error) {
	return s.RemindParty(ctx, by, id, party, "")
}

// RemindParty repeats the open request of a party and returns how many reminders are left.
func (s *Service) RemindParty(ctx context.Context, by actor.Actor, id string, party actor.Role, guardianID string) (*Request, int, error) {
	var left int
	load := loadOptions{RemindersSince: s.operation().Now.Add(-s.Rules.ReminderWindow)}
	p, err := s.update(ctx, id, load, func(p *Player, op Operation) (c Change, err error) {
		c, left, err = p.Remind(by, party, guardianID, s.Rules, op)
		return c, err
	})
	if err != nil {
		return nil, 0, err
	}
	r, err := s.OwnRequest(ctx, by, p.Find(party, guardianID).Request.ID)
	return r, left, err
}

// Cancel closes an open request of the calling coach.
func (s *Service) Cancel(ctx context.Context, by actor.Actor, requestID string) (*Request, error) {
	return s.updateRequest(ctx, by, requestID, func(p *Player, op Operation) (Change, error) { return p.Cancel(by, requestID, op) })
}

// FollowUp notes that the calling coach followed up on an open request outside of the app.
func (s *Service) FollowUp(ctx context.Context, by actor.Actor, requestID, note string) (*Request, error) {
	return s.updateRequest(ctx, by, requestID, func(p *Player, op Operation) (Change, error) { return p.FollowUp(by, requestID, note, op) })
}

// Dispute closes an open request whose recipient is the wrong person, and read w.
func (s *Service) Dispute(ctx context.Context, by actor.Actor, requestID string, w Wording) (*Request, error) {
	return s.updateRequest(ctx, by, requestID, s.dispute(by, requestID, w))
}

func (s *Service) dispute(by actor.Actor, requestID string, w Wording) func(*Player, Operation) (Change, error) {
	return func(p *Player, op Operation) (Change, error) {
		var shown Wording
		if a := p.PartyOf(by); a != nil {
			shown = p.withShown(a, s.wordingFor(by, p, w)) // before the request is closed
		}
		c, err := p.Dispute(by, requestID, op)
		c.Wording = shown
		return c, err
	}
}

// Lift ends the dispute of a request.
func (s *Service) Lift(ctx context.Context, by actor.Actor, requestID string) error {
	return s.lift(ctx, by, requestID, nil)
}

// LiftShown is Lift for a form that showed a dispute of that time. It returns request_superseded
// if the party disputed the request again since: an old form must not end a later dispute.
func (s *Service) LiftShown(ctx context.Context, by actor.Actor, requestID string, disputedAt time.Time) error {
	return s.lift(ctx, by, requestID, &disputedAt)
}

// lift ends the dispute of a request, unless shown is not nil and not its time.
func (s *Service) lift(ctx context.Context, by actor.Actor, requestID string, shown *time.Time) error {
	_, err := s.updateRequest(ctx, by, requestID, func(p *Player, op Operation) (Change, error) {
		if a := p.PartyOf(by); shown != nil && a != nil && p.VisibleTo(by) {
			if r := a.Request; r != nil && r.ID == requestID && r.State == RequestDisputed && !r.ClosedAt.Equal(*shown) {
				return Change{}, errDisputedAgain()
			}
		}
		return p.Lift(by, requestID, op)
	})
	if fault.KindOf(err) == fault.NotFound && by.Role != actor.Coach {
		// The coach removed the player or changed the number. The dispute still exists,
		// and the party that disputed may still end it.
		return s.liftOutdated(ctx, nil, by.AccountID, requestID, shown)
	}
	return err
}

// errDisputedAgain returns request_superseded for a form that showed an earlier dispute.
func errDisputedAgain() error {
	return fault.New(fault.Conflict, "request_superseded", "You said again that this is not you after this page was opened.")
}

// LiftForOperator ends the dispute of a request with the effects of Lift, or returns
// not_found if there is no dispute.
func (s *Service) LiftForOperator(ctx context.Context, by actor.Operator, requestID string) error {
	r, err := s.disputed(ctx, requestID)
	if err != nil {
		return err
	}
	lifted := false
	_, err = s.update(ctx, r.PlayerID, loadOptions{}, func(p *Player, op Operation) (Change, error) {
		c, err := p.Lift(actor.Actor{AccountID: r.PartyID, Role: r.Party}, requestID, op)
		c.LiftedBy, c.By, lifted = &by, actor.Actor{}, c.Save
		return c, err
	})
	if err == nil && !lifted || fault.KindOf(err) == fault.NotFound {
		return s.liftOutdated(ctx, &by, r.PartyID, requestID, nil)
	}
	return err
}

func (s *Service) updateRequest(ctx context.Context, by actor.Actor, requestID string, fn func(*Player, Operation) (Change, error)) (*Request, error) {
	r, err := s.OwnRequest(ctx, by, requestID)
	if err != nil {
		return nil, err
	}
	if _, err := s.update(ctx, r.PlayerID, loadOptions{}, fn); err != nil {
		return nil, err
	}
	return s.OwnRequest(ctx, by, requestID)
}

// Edit applies the coach's patch to a player.
func (s *Service) Edit(ctx context.Context, by actor.Actor, id string, patch Patch) (*Player, error) {
	return s.update(ctx, id, loadOptions{Disputes: true, Medical: patch.Student.Medical != nil}, func(p *Player, op Operation) (Change, error) {
		return p.Edit(by, patch, s.Rules, op)
	})
}

// Remove ends the coach's link with a player.
func (s *Service) Remove(ctx context.Context, by actor.Actor, id string) error {
	_, err := s.update(ctx, id, loadOptions{}, func(p *Player, op Operation) (Change, error) { return p.Remove(by, op) })
	return err
}
