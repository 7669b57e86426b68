package approval

import (
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Decision is a party's response. The session says which party, never the body.
type Decision struct {
	Action Trigger // Approve, Reject or Revoke
	// RequestID is the request that the party saw; empty if the body named none.
	RequestID string
	Reason    string
	// Wording is what the party saw; its Version is that of the request that it saw.
	Wording Wording
}

// Decide records d as the response of party, made by by in the way by.Via. Repeating a decision
// changes nothing and is no error. Errors: not_found, request_superseded,
// no_open_request, invalid_transition.
func (p *Player) Decide(by actor.Actor, party actor.Role, d Decision, op Operation) (Change, error) {
	if by.Role == actor.Coach || by.Role != party || !p.VisibleTo(by) {
		return Change{}, fault.Missing()
	}
	approver := p.PartyOf(by)
	if err := approver.checkRequest(d); err != nil {
		return Change{}, err
	}
	if approver.Consent.State == d.Action.targetState() {
		return Change{}, nil
	}
	if approver.Consent.State == Pending && !approver.mayAnswer(d.Action) {
		return Change{}, errNoOpenRequest()
	}
	next, err := approver.Consent.State.Next(d.Action)
	if err != nil {
		return Change{}, err
	}
	if err := approver.checkVersion(by, d); err != nil {
		return Change{}, err
	}
	d.Wording = p.withShown(approver, d.Wording)
	// The history is ordered by time: a decision must be later than those before it.
	for i := range p.Parties {
		op.Now = laterThan(p.Parties[i].Consent.ChangedAt, op.Now)
	}
	c := Change{Save: true, By: by, History: &Record{
		ID: op.NewID(), PlayerID: p.ID, Party: party, GuardianID: approver.GuardianID, ApproverID: by.AccountID,
		Action: d.Action, Reason: d.Reason, At: op.Now, Via: by.Via, Wording: d.Wording,
	}}
	if d.Action == Approve {
		c.History.SessionID = by.SessionID
		if approver.Proof.Valid(op.Now) {
			c.History.Proof = approver.Proof
		}
	}
	open, again := approver.OpenRequest(), approver.ProofEnded()
	approver.closeRequest(RequestState(next), op.Now, &c)
	switch {
	case again:
		c.AnsweredAgain, c.History.RequestID = approver.Request, approver.Request.ID
	case open != nil:
		open.Via, c.History.RequestID = by.Via, open.ID
	case d.Action == Revoke:
		c.History.RequestID = approver.RequestID()
	}
	before := p.GuardianApproval()
	approver.Consent.move(next, op.Now)
	c.Events = append(c.Events, p.NewEvent(event.Type(d.Action), approver))
	if after := p.GuardianApproval(); after == GuardiansDisagree && before != after && !p.Adult(op.Now) {
		c.Events = append(c.Events, p.conflictEvent())
	}
	return c, nil
}

// mayAnswer reports whether the party, whose consent is pending, can answer: a Question always. Without one it can say no if an
// earlier no stands or its proof ended.
func (a *Party) mayAnswer(action Trigger) bool {
	if a.Question() != nil || action == Approve {
		return a.Question() != nil
	}
	return a.Consent.Refused || a.Consent.PendingReason == PendingProof
}

// Question returns the request that the party can answer with yes or no, or nil: the open one, or that of the former yes if the
// proof ended.
func (a *Party) Question() *Request {
	if a.ProofEnded() {
		return a.Request
	}
	return a.OpenRequest()
}

// ProofEnded reports whether the consent is pending because the proof of a guardian ended, and the coach has not asked since. The guardian
// answers the question of the former yes.
func (a *Party) ProofEnded() bool {
	return a.Consent.PendingReason == PendingProof && a.Request != nil && a.Request.State == RequestApproved
}

// checkRequest refuses a decision about an outdated request, so that a late retry
// cannot answer a newer one.
func (a *Party) checkRequest(d Decision) error {
	if d.RequestID == "" {
		return nil
	}
	newest := a.Request
	if newest != nil && newest.ID == d.RequestID {
		if newest.State == RequestPending || newest.State == RequestApproved || newest.State == RequestRejected {
			return nil
		}
	}
	f := fault.New(fault.Conflict, "request_superseded", "That request is no longer open. Load the player again before you respond.")
	if q := a.Question(); q != nil {
		f = f.With("request_id", q.ID).With("version", q.Version)
	}
	return f
}

// checkVersion refuses a yes to a question as it was shown before a change: the party said yes to another name or
// picture of the coach, batch or notice. A no or "this isn't me" counts: it is right about what follows too. But the
// API says that to its callers, who ask again. A revocation ends a yes, whatever was shown since.
func (a *Party) checkVersion(by actor.Actor, d Decision) error {
	r := a.Question()
	if r == nil || r.Shows(d.Wording.Version) || d.Action != Approve && by.Via != actor.ViaAPI {
		return nil
	}
	return fault.New(fault.Conflict, "request_superseded", "What the request shows has changed. Load it again, show it to the person, and send the version that you showed.").
		With("request_id", r.ID).With("version", r.Version)
}

// Dispute closes the open request because its recipient, who read w, says "this isn't me". The
// coach cannot send further requests to that number for this student and party.
func (p *Player) Dispute(by actor.Actor, requestID string, w Wording, op Operation) (Change, error) {
	if by.Role == actor.Coach || !p.VisibleTo(by) {
		return Change{}, fault.Missing()
	}
	a := p.PartyOf(by)
	r := a.Request
	if r == nil || r.ID != requestID || r.State != RequestPending {
		return Change{}, errNoOpenRequest()
	}
	c := Change{Save: true, By: by, Dispute: r, Wording: p.withShown(a, w)}
	a.closeRequest(RequestDisputed, op.Now, &c)
	r.Via = by.Via
	c.Events = append(c.Events, p.NewEvent(event.Disputed, a))
	return c, nil
}

// reopenWithin is how long after a dispute its lifting opens the request again.
const reopenWithin = 30 * 24 * time.Hour

// Lift ends a dispute: the coach may ask this number again. The request is open again if it
// still concerns this party and the same student, and the dispute is not older than
// reopenWithin. Otherwise the coach is notified and may send a new one.
func (p *Player) Lift(by actor.Actor, requestID string, op Operation) (Change, error) {
	if by.Role == actor.Coach || !p.VisibleTo(by) {
		return Change{}, fault.Missing()
	}
	a := p.PartyOf(by)
	r := a.Request
	if r == nil || r.ID != requestID || r.State != RequestDisputed {
		return Change{}, nil
	}
	c := Change{Save: true, By: by, Lift: r}
	consent := a.Consent
	outdated := consent.State != Pending || consent.PendingSince.After(r.RequestedAt) // another student
	if outdated || r.PartyID != by.AccountID || op.Now.Sub(r.ClosedAt) > reopenWithin {
		r.State = RequestCancelled
		c.Closed = append(c.Closed, r)
		c.Events = append(c.Events, p.DisputeLifted(a))
		return c, nil
	}
	r.State, r.ClosedAt, r.Via = RequestPending, time.Time{}, ""
	c.Reopened = r
	return c, nil
}

// LiftOutdated ends the dispute of party about a request that the party can no longer see; state
// is the state of that request. It returns false if the dispute has ended already, as in a retry of
// the client. The events notify the coach, unless the coach closed the account.
func (p *Player) LiftOutdated(party *Party, state RequestState, coachClosed bool) (lifted bool, events []event.Event) {
	switch {
	case state != RequestDisputed:
		return false, nil
	case coachClosed:
		return true, nil
	}
	return true, []event.Event{p.DisputeLifted(party)}
}

// DisputeLifted returns the event that the dispute of party ended and that its request stays closed.
func (p *Player) DisputeLifted(party *Party) event.Event {
	return p.NewEvent(event.DisputeLifted, party)
}

// WithholdUnproved makes an approval pending again, whose record contradicts it. It changes nothing if the player has
// changed since version was read.
func (p *Player) WithholdUnproved(party actor.Role, guardianID string, version int64, op Operation) Change {
	a := p.Find(party, guardianID)
	if p.Version != version || !p.DeletedAt.IsZero() || a == nil || a.Consent.State != Approved {
		return Change{}
	}
	a.Consent.restart(PendingUnproved, op.Now)
	return Change{Save: true}
}

// formatDays formats a duration for people.
func formatDays(d time.Duration) string {
	if d == 24*time.Hour {
		return "24 hours"
	}
	if d%(24*time.Hour) == 0 && d > 0 {
		return strconv.Itoa(int(d/(24*time.Hour))) + " days"
	}
	return d.String()
}

// LiftShown is Lift for a form that showed a dispute of that time, if shown is not nil. It returns request_superseded
// if the party disputed the request again since: an old form must not end a later dispute.
func (p *Player) LiftShown(by actor.Actor, requestID string, shown *time.Time, op Operation) (Change, error) {
	if a := p.PartyOf(by); shown != nil && a != nil && p.VisibleTo(by) {
		if r := a.Request; r != nil && r.ID == requestID && r.State == RequestDisputed && !r.ClosedAt.Equal(*shown) {
			return Change{}, ErrDisputedAgain()
		}
	}
	return p.Lift(by, requestID, op)
}

// ErrDisputedAgain returns request_superseded for a form that showed an earlier dispute.
func ErrDisputedAgain() error {
	return fault.New(fault.Conflict, "request_superseded", "You said again that this is not you after this page was opened.")
}
