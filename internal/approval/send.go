package approval

import (
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Send asks party for its approval. It opens a new request if none is open or the
// correction changes the number; otherwise it sends the open request again, after the wait
// or a failed delivery. It reports whether the request is new. If channels is nil, the
// channels stay as they are. A guardian other than the first is that of correction.GuardianID.
func (p *Player) Send(by actor.Actor, party actor.Role, correction Patch, channels []message.Channel, rules Rules, op Operation) (Change, bool, error) {
	if err := p.ownedBy(by); err != nil {
		return Change{}, false, err
	}
	approver, err := p.find(party, correction.GuardianID)
	if err != nil {
		return Change{}, false, err
	}
	before, i := p.Copy(), p.Index(approver)
	if err := fault.Validation(p.merge(correction, op)); err != nil {
		return Change{}, false, err
	}
	corrected := approver.Number != before.Parties[i].Number
	if corrected {
		if err := rules.checkContacts(p, p.CoachNumber); err != nil {
			return Change{}, false, err
		}
	}
	if approver.Consent.State == Approved {
		return Change{}, false, fault.New(fault.Conflict, "already_approved", "The %s has already approved.", party)
	}
	if approver.Number == "" {
		return Change{}, false, fault.New(fault.Conflict, "no_contact_number", "There is no number for the %s. Add one first.", party)
	}
	if p.disputed(party, approver.Number) {
		return Change{}, false, errDisputed(party)
	}
	if err := rules.checkChannels(approver, channels); err != nil {
		return Change{}, false, err
	}
	c := Change{Save: true, By: by}
	if open := approver.OpenRequest(); open != nil && !corrected {
		err := p.resend(approver, channels, rules.changedChannels(before.Parties[i].addresses(), approver.addresses()), rules, op, &c)
		return c, false, err
	}
	if channels == nil {
		channels = rules.defaultChannels(approver)
	}
	if corrected {
		p.changeContact(approver, before.Parties[i].Number, op, &c)
		for j := range p.Parties {
			if other := &p.Parties[j]; other.Role != party && other.Consent.State == Approved {
				e := p.NewEvent(event.Changed, other)
				e.Changes = p.changes(before, party)
				c.Events = append(c.Events, e)
			}
		}
	}
	if approver.Consent.State != Pending {
		if _, err := approver.Consent.State.Next(Ask); err != nil {
			return Change{}, false, err
		}
		approver.Consent.restart(PendingResent, op.Now)
		c.AfterDecision = true
	}
	p.newRequest(approver, channels, rules, op, &c)
	return c, true, nil
}

// resend sends the open request of a again, on each of the channels that does not wait.
// If channels is nil, these are the channels of the request and of changed: the
// correction changed the address there.
func (p *Player) resend(a *Party, channels, changed []message.Channel, rules Rules, op Operation, c *Change) error {
	open := a.OpenRequest()
	if channels == nil {
		channels = slices.Clone(open.Channels)
		for _, channel := range changed {
			if !slices.Contains(channels, channel) && slices.Contains(rules.DefaultChannels, channel) {
				channels = append(channels, channel)
			}
		}
	}
	again := channels
	if allowed := open.LastSentAt.Add(rules.ResendAfter); allowed.After(op.Now) {
		again = open.resendable(channels, changed, func(channel message.Channel) bool { return rules.destination(a, channel).Address != "" })
		if again == nil {
			return fault.New(fault.Conflict, "request_pending", "The %s has an open request. Wait before you send it again.", a.Role).
				With("request_id", open.ID).With("resend_allowed_at", allowed).After(allowed.Sub(op.Now))
		}
	}
	// A channel that waits keeps its delivery.
	kept := slices.DeleteFunc(slices.Clone(open.Channels), func(channel message.Channel) bool { return slices.Contains(again, channel) })
	open.Channels, open.LastSentAt, open.FollowedUpAt, open.SentVersion = channels, op.Now, op.Now, open.Version
	c.Resent = append(c.Resent, open)
	p.queueMessages(a, MessageRequest, again, kept, rules, c)
	return nil
}

// newRequest opens a request to a, whose consent is pending, and queues its messages.
func (p *Player) newRequest(a *Party, channels []message.Channel, rules Rules, op Operation, c *Change) {
	a.Request = &Request{
		ID: op.NewID(), PlayerID: p.ID, CoachID: p.CoachID, Party: a.Role, GuardianID: a.GuardianID, PartyID: a.AccountID,
		State: RequestPending, Channels: channels, RequestedAt: op.Now, LastSentAt: op.Now,
		Version: 1, SentVersion: 1,
	}
	c.Opened = append(c.Opened, a.Request)
	p.queueMessages(a, MessageRequest, channels, nil, rules, c)
}

// queueMessages queues the open request of a on channels. A delivery that fails at once,
// such as an SMS to an unserved country, notifies the coach. kept are the channels of an
// earlier sending that still counts.
func (p *Player) queueMessages(a *Party, kind string, channels, kept []message.Channel, rules Rules, c *Change) {
	r := a.Request
	eventType := event.Requested
	if kind == MessageReminder {
		eventType = event.Reminded
	}
	var failed []message.Channel
	left := false // a message has left the app, or leaves it
	inApp := false
	for _, channel := range kept {
		if slices.Contains(r.FailedChannels, channel) {
			failed = append(failed, channel)
		} else {
			left = left || rules.destination(a, channel).Address != ""
		}
	}
	for _, channel := range channels {
		m := Message{Request: r, Channel: channel, Kind: kind, Destination: rules.destination(a, channel)}
		switch m.State {
		case "":
			continue // the address was removed
		case message.DeliveredState:
			inApp = true
			c.Events = append(c.Events, p.NewEvent(eventType, a))
		case message.FailedState:
			failed = append(failed, channel)
			c.Events = append(c.Events, p.DeliveryFailed(a, channel))
		}
		left = left || m.Address != "" && m.State != message.FailedState
		c.Send = append(c.Send, m)
	}
	if kind == MessageRequest && !inApp { // spec section 4.2: each request notifies in the app
		c.Events = append(c.Events, p.NewEvent(eventType, a))
	}
	if kind == MessageRequest {
		r.FailedChannels, r.DeliveryFailed = failed, len(failed) > 0 && !left
	}
}

// DeliveryFailed returns the event of a message to party that failed permanently on a channel.
func (p *Player) DeliveryFailed(party *Party, channel message.Channel) event.Event {
	e := p.NewEvent(event.DeliveryFailed, party)
	e.Channel = string(channel)
	return e
}

// closeRequest closes the open request of a, if there is one.
func (a *Party) closeRequest(state RequestState, now time.Time, c *Change) {
	if r := a.OpenRequest(); r != nil {
		r.State, r.ClosedAt = state, now
		if state == RequestCancelled { // only the coach cancels an open request
			r.FollowedUpAt = now
		}
		c.Closed = append(c.Closed, r)
	}
}

// changeContact resets a for a new number, because consent belongs to a person.
// The old account loses access to the player and its notifications about it; the
// open request and its link are cancelled. A first number is not a change of the person, so
// it keeps the reason why the consent is pending. A guardian in the empty place of a former one is another guardian.
func (p *Player) changeContact(a *Party, before phone.Number, op Operation, c *Change) {
	a.closeRequest(RequestCancelled, op.Now, c)
	if a.AccountID != "" {
		c.ForgetNotifications = append(c.ForgetNotifications, a.AccountID)
		if a.Consent.State == Approved {
			c.Events = append(c.Events, p.NewEvent(event.Unlinked, a))
		}
	}
	a.AccountID = ""
	reason := PendingContact
	if before == "" {
		reason = a.Consent.PendingReason
	}
	a.Consent.restart(reason, op.Now)
	if before != "" {
		return
	}
	a.Consent.Refused = false
	if a.Role == actor.Guardian && a.Request != nil {
		a.GuardianID, a.Request, a.Reminders = op.NewID(), nil, nil
		a.Consent.ChangedAt = time.Time{}
	}
	if a.Role == actor.Guardian {
		p.tellAdded(a, op, c)
	}
}

// Remind repeats the open request of a party, the first guardian if guardianID is empty, at most RemindersPerWindow
// times in any ReminderWindow, and returns how many reminders are left.
func (p *Player) Remind(by actor.Actor, party actor.Role, guardianID string, rules Rules, op Operation) (Change, int, error) {
	if err := p.ownedBy(by); err != nil {
		return Change{}, 0, err
	}
	approver, err := p.find(party, guardianID)
	if err != nil {
		return Change{}, 0, err
	}
	if approver.OpenRequest() == nil {
		return Change{}, 0, errNoOpenRequest()
	}
	left := rules.RemindersPerWindow - len(approver.Reminders)
	if left <= 0 {
		f := fault.New(fault.TooMany, "reminder_limit", "You can send %d reminders to one party in %s. Wait before you send another one.", rules.RemindersPerWindow, formatDays(rules.ReminderWindow))
		if n := len(approver.Reminders) - rules.RemindersPerWindow; n < len(approver.Reminders) {
			ends := approver.Reminders[n].Add(rules.ReminderWindow)
			f = f.After(ends.Sub(op.Now)).With("limit", "reminders_per_window").With("ends_at", ends)
		}
		return Change{}, 0, f
	}
	approver.Request.FollowedUpAt = op.Now
	c := Change{Save: true, Reminded: approver.Request, RemindersLeft: left - 1, By: by}
	p.queueMessages(approver, MessageReminder, approver.Request.Channels, nil, rules, &c)
	return c, left - 1, nil
}

// Cancel closes an open request for the coach; the consent stays pending.
func (p *Player) Cancel(by actor.Actor, requestID string, op Operation) (Change, error) {
	r, err := p.openRequest(by, requestID)
	if err != nil {
		return Change{}, err
	}
	c := Change{Save: true}
	p.Asked(r).closeRequest(RequestCancelled, op.Now, &c)
	return c, nil
}

// FollowUp notes that the coach followed up on an open request outside of the app, for
// example with a phone call. An empty note keeps the previous one.
func (p *Player) FollowUp(by actor.Actor, requestID, note string, op Operation) (Change, error) {
	r, err := p.openRequest(by, requestID)
	if err != nil {
		return Change{}, err
	}
	r.FollowedUpAt, r.FollowUpNote = op.Now, note
	return Change{Save: true, FollowedUp: r}, nil
}

// openRequest returns the open request of the calling coach with this id, or no_open_request.
func (p *Player) openRequest(by actor.Actor, requestID string) (*Request, error) {
	if err := p.ownedBy(by); err != nil {
		return nil, err
	}
	for i := range p.Parties {
		if r := p.Parties[i].OpenRequest(); r != nil && r.ID == requestID {
			return r, nil
		}
	}
	return nil, errNoOpenRequest()
}

// RemindAfter is Remind, but does nothing if the party got a reminder after last, so that
// a form that is sent twice sends one reminder.
func (p *Player) RemindAfter(by actor.Actor, party actor.Role, guardianID string, last time.Time, rules Rules, op Operation) (Change, error) {
	if err := p.ownedBy(by); err != nil {
		return Change{}, err
	}
	a, err := p.find(party, guardianID)
	if err != nil {
		return Change{}, err
	}
	if all := a.Reminders; len(all) > 0 && all[len(all)-1].After(last) {
		return Change{}, nil
	}
	c, _, err := p.Remind(by, party, guardianID, rules, op)
	return c, err
}
