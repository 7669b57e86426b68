// Package player carries out the operations on players: it loads a player, lets the rules of package approval change
// it, and saves it with its history, requests, messages and notifications in one transaction. It also reads what
// coaches and families see of players.
package player

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
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
	Rules approval.Rules
	Hooks Hooks
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
	ConsentChanged func(ctx context.Context, tx *store.Tx, changes []approval.ConsentChange) error
	// OpenShown returns what the record of a decision says was shown, from its sealed values; nil returns nothing.
	OpenShown func(db *store.DB, recordID string, sealed []byte) (approval.Wording, error)
	// PlayerRemoved run when a coach removes a player.
	PlayerRemoved []func(ctx context.Context, tx *store.Tx, coachID, playerID string) error
}

// Channels returns the channels of the service, sorted.
func (s *Service) Channels() []message.Channel { return slices.Sorted(maps.Keys(s.Rules.Routes)) }

// Now returns the time of the database.
func (s *Service) Now() time.Time { return s.DB.Now() }

// operation returns a new Operation at the current time.
func (s *Service) operation() approval.Operation {
	return approval.Operation{Now: s.DB.Now(), NewID: s.DB.NewID, Claims: s.Rules.Claims}
}

// Add is AddWith for a player with one guardian, or none.
func (s *Service) Add(ctx context.Context, by actor.Actor, student approval.Student, guardian *approval.Person, batchIDs ...string) (*approval.Player, error) {
	var guardians []approval.Person
	if guardian != nil {
		guardians = []approval.Person{*guardian}
	}
	return s.AddWith(ctx, by, student, guardians, batchIDs...)
}

// AddWith adds a player of the calling coach to batches of the coach and opens the first requests.
func (s *Service) AddWith(ctx context.Context, by actor.Actor, student approval.Student, guardians []approval.Person, batchIDs ...string) (*approval.Player, error) {
	op := s.operation()
	p, err := approval.NewPlayer(by, student, guardians, s.Rules, op)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(batchIDs))) {
		p.Batches = append(p.Batches, approval.Batch{ID: id})
	}
	if err := s.addPlayer(ctx, by, p, op); err != nil {
		return nil, err
	}
	return p, nil
}

// changer changes a player, and may run more than once.
type changer = func(*approval.Player, approval.Operation) (approval.Change, error)

// update is change for a caller that needs the player only.
func (s *Service) update(ctx context.Context, id string, load loadOptions, fn changer) (*approval.Player, error) {
	p, _, err := s.change(ctx, id, load, fn)
	return p, err
}

// change runs fn on the player, and returns the player and the change as saved.
func (s *Service) change(ctx context.Context, id string, load loadOptions, fn changer) (*approval.Player, approval.Change, error) {
	p, c, err := s.updatePlayer(ctx, id, load, fn)
	if err != nil {
		return nil, approval.Change{}, err
	}
	if c.History != nil {
		s.logDecision(ctx, p.CoachID, c.History)
	}
	return p, c, nil
}

// logDecision counts a decision about a player of a coach and logs it as a security event.
func (s *Service) logDecision(ctx context.Context, coachID string, d *approval.Record) {
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
func (s *Service) Decide(ctx context.Context, by actor.Actor, id string, d approval.Decision) (*approval.Player, []approval.Record, error) {
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
	return p, s.shownHistory(p, by, history), nil
}

// DecideOnly is Decide for a caller that needs no more than the error: it reads neither the history nor the deliveries.
func (s *Service) DecideOnly(ctx context.Context, by actor.Actor, id string, d approval.Decision) error {
	_, _, err := s.decide(ctx, by, id, d, loadOptions{})
	return err
}

func (s *Service) decide(ctx context.Context, by actor.Actor, id string, d approval.Decision, load loadOptions) (*approval.Player, approval.Change, error) {
	return s.change(ctx, id, load, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		d.Wording = s.wordingFor(by, p, d.Wording)
		return s.Rules.Decide(by, p, d, op)
	})
}

// WithholdUnproved turns the app services of a party off whose approval its record contradicts: the consent is pending
// again, and the coach can ask again. It reports false if the player has changed since version was read.
func (s *Service) WithholdUnproved(ctx context.Context, playerID string, party actor.Role, guardianID string, version int64) (bool, error) {
	_, c, err := s.change(ctx, playerID, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.WithholdUnproved(party, guardianID, version, op), nil
	})
	return c.Save, err
}

// Send asks party for its approval and reports whether the request is new.
func (s *Service) Send(ctx context.Context, by actor.Actor, id string, party actor.Role, correction approval.Patch, channels []message.Channel) (*approval.Request, bool, error) {
	var created bool
	p, err := s.update(ctx, id, loadOptions{Disputes: true, Deliveries: true}, func(p *approval.Player, op approval.Operation) (c approval.Change, err error) {
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
func (s *Service) Remind(ctx context.Context, by actor.Actor, id string, party actor.Role) (*approval.Request, int, error) {
	return s.RemindParty(ctx, by, id, party, "")
}

// RemindParty repeats the open request of a party and returns how many reminders are left.
func (s *Service) RemindParty(ctx context.Context, by actor.Actor, id string, party actor.Role, guardianID string) (*approval.Request, int, error) {
	var left int
	p, err := s.update(ctx, id, s.remindLoads(), func(p *approval.Player, op approval.Operation) (c approval.Change, err error) {
		c, left, err = p.Remind(by, party, guardianID, s.Rules, op)
		return c, err
	})
	if err != nil {
		return nil, 0, err
	}
	r, err := s.OwnRequest(ctx, by, p.Find(party, guardianID).Request.ID)
	return r, left, err
}

func (s *Service) remindLoads() loadOptions {
	return loadOptions{RemindersSince: s.operation().Now.Add(-s.Rules.ReminderWindow)}
}

// Cancel closes an open request of the calling coach.
func (s *Service) Cancel(ctx context.Context, by actor.Actor, requestID string) (*approval.Request, error) {
	return s.updateRequest(ctx, by, requestID, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.Cancel(by, requestID, op)
	})
}

// FollowUp notes that the calling coach followed up on an open request outside of the app.
func (s *Service) FollowUp(ctx context.Context, by actor.Actor, requestID, note string) (*approval.Request, error) {
	return s.updateRequest(ctx, by, requestID, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.FollowUp(by, requestID, note, op)
	})
}

// Dispute closes an open request whose recipient is the wrong person, and read w.
func (s *Service) Dispute(ctx context.Context, by actor.Actor, requestID string, w approval.Wording) (*approval.Request, error) {
	return s.updateRequest(ctx, by, requestID, loadOptions{}, s.dispute(by, requestID, w))
}

func (s *Service) dispute(by actor.Actor, requestID string, w approval.Wording) changer {
	return func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.Dispute(by, requestID, s.wordingFor(by, p, w), op)
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
	_, err := s.updateRequest(ctx, by, requestID, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.LiftShown(by, requestID, shown, op)
	})
	if fault.KindOf(err) == fault.NotFound && by.Role != actor.Coach {
		// The coach removed the player or changed the number. The dispute still exists,
		// and the party that disputed may still end it.
		return s.liftOutdated(ctx, nil, by.AccountID, requestID, shown)
	}
	return err
}

// LiftForOperator ends the dispute of a request with the effects of Lift, or returns
// not_found if there is no dispute.
func (s *Service) LiftForOperator(ctx context.Context, by actor.Operator, requestID string) error {
	r, err := s.disputed(ctx, requestID)
	if err != nil {
		return err
	}
	_, c, err := s.change(ctx, r.PlayerID, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		c, err := p.Lift(actor.Actor{AccountID: r.PartyID, Role: r.Party}, requestID, op)
		c.LiftedBy, c.By = &by, actor.Actor{}
		return c, err
	})
	if err == nil && !c.Save || fault.KindOf(err) == fault.NotFound {
		return s.liftOutdated(ctx, &by, r.PartyID, requestID, nil)
	}
	return err
}

func (s *Service) updateRequest(ctx context.Context, by actor.Actor, requestID string, load loadOptions, fn changer) (*approval.Request, error) {
	r, err := s.OwnRequest(ctx, by, requestID)
	if err != nil {
		return nil, err
	}
	if _, err := s.update(ctx, r.PlayerID, load, fn); err != nil {
		return nil, err
	}
	return s.OwnRequest(ctx, by, requestID)
}

// Edit applies the coach's patch to a player.
func (s *Service) Edit(ctx context.Context, by actor.Actor, id string, patch approval.Patch) (*approval.Player, error) {
	return s.update(ctx, id, editLoads(patch), func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.Edit(by, patch, s.Rules, op)
	})
}

func editLoads(patch approval.Patch) loadOptions {
	return loadOptions{Disputes: true, Medical: patch.Student.Medical != nil}
}

// Remove ends the coach's link with a player.
func (s *Service) Remove(ctx context.Context, by actor.Actor, id string) error {
	_, err := s.update(ctx, id, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) { return p.Remove(by, op) })
	return err
}

// AddGuardian adds a guardian of a player of the calling coach.
func (s *Service) AddGuardian(ctx context.Context, by actor.Actor, id string, person approval.Person) (p *approval.Player, guardianID string, err error) {
	p, err = s.update(ctx, id, loadOptions{Disputes: true}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		a, c, err := p.AddGuardian(by, person, s.Rules, op)
		if err == nil {
			guardianID = a.GuardianID
		}
		return c, err
	})
	return p, guardianID, err
}

// RemoveGuardian removes a guardian of a player of the calling coach; next becomes the first if that one goes.
func (s *Service) RemoveGuardian(ctx context.Context, by actor.Actor, id, guardianID, next string) error {
	_, err := s.update(ctx, id, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.RemoveGuardian(by, guardianID, next, op)
	})
	return err
}

// SendShown is Send for a form: see Player.SendShown.
func (s *Service) SendShown(ctx context.Context, by actor.Actor, id string, party actor.Role, correction approval.Patch, shown approval.Shown) error {
	_, err := s.update(ctx, id, loadOptions{Disputes: true}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.SendShown(by, party, correction, shown, s.Rules, op)
	})
	return err
}

// EndGuardianView removes a guardian of a player, or all if guardianID is empty, for the calling student, who is an
// adult.
func (s *Service) EndGuardianView(ctx context.Context, by actor.Actor, id, guardianID string) (*approval.Player, error) {
	return s.update(ctx, id, loadOptions{}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.EndGuardianView(by, guardianID, op)
	})
}

// Call has the party of an open request called.
func (s *Service) Call(ctx context.Context, by actor.Actor, requestID string) (*approval.Request, error) {
	return s.updateRequest(ctx, by, requestID, loadOptions{Disputes: true, CallFacts: true}, func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.Call(by, requestID, s.Rules, op)
	})
}
