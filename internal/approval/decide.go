package approval

import (
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/fault"
)

// Decision is what a party answered. Who answers is the session, never the body.
type Decision struct {
	Action Trigger // Approve, Reject or Revoke
	// RequestID is the request that the party saw; empty where it named none.
	RequestID string
	Reason    string
}

// Decide records d as the answer of party, given by by. The same answer again
// changes nothing and is no error. Errors: not_found, request_superseded,
// no_open_request, invalid_transition.
func (p *Player) Decide(by actor.Actor, party actor.Role, d Decision, op Operation) (Change, error) {
	if by.Role == actor.Coach || by.Role != party || !p.VisibleTo(by) {
		return Change{}, fault.Missing()
	}
	approver := p.Approver(party)
	if err := approver.checkRequest(d); err != nil {
		return Change{}, err
	}
	if approver.Consent.State == d.Action.targetState() {
		return Change{}, nil
	}
	if approver.Consent.State == Pending && approver.OpenRequest() == nil {
		return Change{}, errNoOpenRequest()
	}
	next, err := approver.Consent.State.Next(d.Action)
	if err != nil {
		return Change{}, err
	}
	// The history is read by time: no decision may sort before one that it follows.
	for _, party := range Parties {
		op.Now = laterThan(p.Approver(party).Consent.ChangedAt, op.Now)
	}
	c := Change{Save: true, History: &Record{
		ID: op.NewID(), PlayerID: p.ID, Party: party, ApproverID: by.AccountID,
		Action: d.Action, Reason: d.Reason, At: op.Now,
	}}
	if approver.Consent.State == Pending {
		p.closeRequest(party, RequestState(next), op.Now, &c)
	}
	if approver.Request != nil {
		c.History.RequestID = approver.Request.ID
	}
	approver.Consent.move(next, op.Now)
	c.Events = append(c.Events, p.newEvent(event.Type(d.Action), party))
	return c, nil
}

// answers refuses an answer to a question that is no longer asked, so that a
// late retry cannot answer a newer one.
func (a *Approver) checkRequest(d Decision) error {
	if d.RequestID == "" {
		return nil
	}
	newest := a.Request
	if newest != nil && newest.ID == d.RequestID {
		if newest.State == RequestPending || newest.State == RequestApproved || newest.State == RequestRejected {
			return nil
		}
	}
	f := fault.New(fault.Conflict, "request_superseded", "That request is no longer open; look at the player again before you answer.")
	if open := a.OpenRequest(); open != nil {
		f = f.With("request_id", open.ID)
	}
	return f
}

// Dispute ends the open request because its holder says "this isn't me". That
// number takes no further request from this coach for this student and party.
func (p *Player) Dispute(by actor.Actor, requestID string, op Operation) (Change, error) {
	if by.Role == actor.Coach || !p.VisibleTo(by) {
		return Change{}, fault.Missing()
	}
	r := p.Approver(by.Role).Request
	if r == nil || r.ID != requestID || r.State != RequestPending {
		return Change{}, errNoOpenRequest()
	}
	c := Change{Save: true, Dispute: r}
	p.closeRequest(by.Role, RequestDisputed, op.Now, &c)
	c.Events = append(c.Events, p.newEvent(event.Disputed, by.Role))
	return c, nil
}

// Lift takes a dispute back: the coach may ask this number again. The request
// stays closed.
func (p *Player) Lift(by actor.Actor, requestID string) (Change, error) {
	if by.Role == actor.Coach || !p.VisibleTo(by) {
		return Change{}, fault.Missing()
	}
	r := p.Approver(by.Role).Request
	if r == nil || r.ID != requestID || r.State != RequestDisputed {
		return Change{}, nil
	}
	r.State = RequestCancelled
	return Change{Save: true, Closed: []*Request{r}, Lift: by.Role}, nil
}

// days says a duration as people do.
func formatDays(d time.Duration) string {
	if d == 24*time.Hour {
		return "24 hours"
	}
	if d%(24*time.Hour) == 0 && d > 0 {
		return strconv.Itoa(int(d/(24*time.Hour))) + " days"
	}
	return d.String()
}
