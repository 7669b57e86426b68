package worker

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

// rendered is a delivery rendered from the current state.
type rendered struct {
	message message.Message
	// dropReason is set if the message must no longer be sent, waitUntil if it must wait for
	// the end of quiet hours. Both are zero for a message that is sent now.
	dropReason string
	waitUntil  time.Time
	// refused is true if the recipient chose no messages on this channel. The message is then
	// sent on the fallback channel.
	refused bool
}

// render renders the message of d.
func (o *Outbox) render(ctx context.Context, d message.Delivery) (r rendered, err error) {
	now := o.Now() // once: whether a message is late and whether it must wait are decided for the same moment
	m := &r.message
	*m = message.Message{ID: d.ID, Attempt: d.Attempts, TotalAttempts: d.TotalAttempts, To: d.To, Kind: d.Kind, Brand: o.Brand, Role: d.Role, Ending: message.OTPEnding{Host: message.OTPHost(o.PublicURL), AppHash: o.AppHash}}
	var to message.Recipient
	switch d.Kind {
	case message.OTP:
		c, holdsRole, live, err := o.Contents.LiveChallenge(ctx, d, o.OTPAttempts)
		if err != nil || !live {
			return rendered{dropReason: message.ReasonNotWanted}, err
		}
		m.Code, err = o.OpenCode(c.ID, c.Code)
		m.ValidFor, m.HoldsRole, m.Language = c.EndsAt.Sub(now), holdsRole, c.Language
		if c.Address != "" {
			m.To, m.ConfirmsAddress = c.Address, !c.ByEmail()
		}
		return r, err
	case message.NotificationCopy:
		found := false
		m.Copy, to, found, err = o.Contents.NotificationCopy(ctx, d)
		if err != nil || !found || !m.Copy.Needed(d.Channel) || m.Copy.Late(now) {
			return rendered{dropReason: message.ReasonNotWanted}, err
		}
		if m.Copy.Type.Answerable() {
			m.Link, err = o.TrainingURL(ctx, m.Copy)
			if err != nil {
				return r, err
			}
		}
		m.Copy.Answer = m.Link != ""
		if !m.Copy.Answer {
			m.Link = o.startURL(m.Copy, d.Role)
		}
	case message.Team:
		m.Team, to, r.dropReason, err = o.Contents.TeamMessage(ctx, d)
		if err != nil || r.dropReason != "" {
			return r, err
		}
		m.Team.StopURL, m.Team.Language = message.StopURL(o.PublicURL), to.Preferences.Language
		if message.TeamText(m.Team) == "" {
			return rendered{dropReason: message.ReasonOnlyLinks}, nil
		}
	default:
		open := false
		m.Request, to, open, err = o.Contents.RequestDetails(ctx, d)
		if err != nil || !open {
			return rendered{dropReason: message.ReasonRequestClosed}, err
		}
		m.Link = o.PublicURL + "/a/" + o.LinkToken(d.ID)
	}
	m.Language = to.Preferences.Language
	r.dropReason, r.waitUntil = to.Check(d.Kind, m.Copy.Type, now)
	if d.Channel == message.Voice {
		checkCall(&r, d, to, now)
		return r, nil
	}
	if to.Preferences.Refuses(d.Kind, d.Channel) {
		_, r.refused = o.fallbackOf(d)
		if !r.refused && d.Stays {
			r.dropReason = message.ReasonNotWanted
		}
	}
	return r, nil
}

// checkCall decides whether a call with a question may ring now. One that was never made waits for the
// morning; one that failed during the day ends in the evening. A call goes to the number of the SMS, so a
// person who wants no SMS gets none.
func checkCall(r *rendered, d message.Delivery, to message.Recipient, now time.Time) {
	at, until, ok := to.CallAt(now)
	switch {
	case r.dropReason != "":
	case !ok || to.Preferences.Refuses(d.Kind, message.SMS):
		r.dropReason = message.ReasonNotWanted
	case at.After(now) && d.TotalAttempts > 1:
		r.dropReason = message.ReasonGaveUp
	case at.After(now):
		r.waitUntil = at
	default:
		r.waitUntil, r.message.LeavesBefore = time.Time{}, until
	}
}

// startURL returns the address of the page on which the recipient reads the notification, or ""
// if the recipient can no longer sign in.
func (o *Outbox) startURL(c message.Copy, role actor.Role) string {
	switch {
	case !c.Readable:
		return ""
	case role == actor.Coach:
		return o.PublicURL + "/coach"
	case c.Type == message.CoachRenamed, c.Type == message.CoachRenaming, c.Type == message.SecondMessage: // the page has the button that takes a yes back
		return o.PublicURL + "/me/" + string(role) + "/players/" + c.Data.PlayerID
	}
	return o.PublicURL + "/me/" + string(role)
}
