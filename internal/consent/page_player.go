package consent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/web"
)

// partyView is one party on the page of a player.
type partyView struct {
	Party actor.Role
	// Key names the party in forms: guardian (the only one), student, or the id of one of several guardians.
	Key string
	// Guardian is nil for the student. Position is its place among several guardians, else 0.
	Guardian *approval.Party
	Position int
	Name     string
	Number   phone.Number
	Consent  approval.Consent
	Request  *approval.Request // the newest, or nil
	Optional bool              // the guardian of an adult
	// RemindersLeft is the number of reminders that the coach may send now, and NextReminder when
	// the page offers the next one; zero if it is offered now.
	RemindersLeft int
	NextReminder  time.Time
	// LastReminder and LastSent are when the newest reminder and the newest question were
	// sent. Forms carry them, so that a form that is sent twice acts once.
	LastReminder, LastSent time.Time
	// CanResend reports whether the open question may be sent again now.
	CanResend bool
	// Next is the coach's possible next step, as a key of the texts "next.…".
	Next string
	// Held is the message that waits if Next is "held".
	Held *approval.Delivery
	// Reason is the reason that the party gave for a no, or "".
	Reason string
	// Call offers a call that asks the open question, or says when the page offers one; nil if it does not.
	Call *callOffer
	// Primary says that the step of this party has the filled button of the page.
	Primary bool
}

// callOffer is a call that the coach can have made.
type callOffer struct {
	// From is when the call is possible, in the time zone of the party; zero if it is possible now.
	From time.Time
	// Last is when the party was last called, or zero.
	Last time.Time
	// Language is the language of the call.
	Language string
	// Made is the newest call about the open question, or nil.
	Made *approval.Delivery
}

// newCallOffer returns the offer to call a party, or nil.
func (p pages) newCallOffer(player *approval.Player, party *approval.Party) *callOffer {
	facts := party.CallFacts
	o := &callOffer{Last: facts.Last, Language: message.SpokenLanguage(facts.To.Preferences.Language)}
	err := player.MayCall(party, p.Rules, p.Now())
	if f, ok := errors.AsType[*fault.Error](err); ok {
		at, later := f.Extra["retry_at"].(time.Time)
		if !later || f.Code == "call_too_early" {
			return nil
		}
		o.From = at.In(facts.To.CallZone())
	}
	for i, d := range party.Request.Deliveries {
		if d.Channel == message.Voice {
			o.Made = &party.Request.Deliveries[i]
		}
	}
	return o
}

// Open returns the open request, or nil.
func (v partyView) Open() *approval.Request {
	if v.Request != nil && v.Request.State == approval.RequestPending {
		return v.Request
	}
	return nil
}

// CanAsk reports whether the coach can send a question, because none is open.
func (v partyView) CanAsk() bool {
	return v.Number != "" && v.Open() == nil && v.Consent.State != approval.Approved
}

// Refused reports whether the party said no, or took a yes back.
func (v partyView) Refused() bool {
	return v.Consent.State == approval.Rejected || v.Consent.State == approval.Revoked
}

// CanRemind reports whether the page offers a reminder.
func (v partyView) CanRemind() bool {
	return v.Open() != nil && !v.NeedsNumber() && v.NextReminder.IsZero() && v.RemindersLeft > 0
}

// NeedsNumber reports whether only another number helps.
func (v partyView) NeedsNumber() bool { return v.Next == "disputed" || v.Next == "failed" }

// nextStep returns the coach's possible next step about a party, as a key of the texts "next.…".
func nextStep(number phone.Number, c approval.Consent, r *approval.Request, now time.Time) string {
	switch {
	case number == "":
		return "number"
	case c.State != approval.Pending:
		return string(c.State)
	case r == nil, r.State == approval.RequestCancelled:
		return "ask"
	case r.State == approval.RequestDisputed:
		return "disputed"
	case r.State != approval.RequestPending: // the answer no longer counts
		return "again"
	case r.DeliveryFailed:
		return "failed"
	case heldMessage(r) != nil:
		return "held"
	case stopped(r):
		return "stopped"
	case r.FollowedUpAt.IsZero() && now.Sub(r.RequestedAt) > coach.FollowUpTarget:
		return "overdue"
	}
	return "waiting"
}

// stopped reports whether the newest message of the request was not sent because the party
// wants none of the coach.
func stopped(r *approval.Request) bool {
	for _, d := range slices.Backward(r.Deliveries) {
		if d.State != message.DeliveredState {
			return d.Reason == message.ReasonStopped
		}
	}
	return false
}

// heldMessage returns the message of the request that waits for a limit, for other messages or for
// the end of quiet hours, or nil.
func heldMessage(r *approval.Request) *approval.Delivery {
	waiting := []string{message.ReasonHeld, message.ReasonGathering, message.ReasonQuietHours}
	for i, d := range r.Deliveries {
		if d.State == message.QueuedState && slices.Contains(waiting, d.Reason) {
			return &r.Deliveries[i]
		}
	}
	return nil
}

// newPartyView returns a party of the player of a timeline.
func (p pages) newPartyView(t *approval.Timeline, approver *approval.Party) partyView {
	now, player, party := p.Now(), t.Player, approver.Role
	v := partyView{
		Party: party, Key: string(party), Name: player.Student.FullName, Number: approver.Number, Consent: approver.Consent, Request: approver.Request,
		RemindersLeft: t.RemindersLeft(approver, p.Rules),
	}
	if party == actor.Guardian {
		v.Name, v.Guardian, v.Optional = approver.Name, approver, player.Adult(now)
		if guardians := player.Guardians(); len(guardians) > 1 {
			v.Position, v.Key = slices.Index(guardians, approver)+1, approver.GuardianID
		}
	}
	if n := len(approver.Reminders); n > 0 {
		v.LastReminder = approver.Reminders[n-1]
	}
	if r := approver.Request; r != nil {
		v.LastSent = r.LastSentAt
		v.CanResend = v.Open() != nil && !now.Before(r.ResendAllowedAt(p.Rules))
		if next := t.NextReminder(approver, p.Rules); next.After(now) {
			v.NextReminder = next
		}
	}
	if v.Open() != nil {
		v.Call = p.newCallOffer(player, approver)
	}
	for _, d := range t.History {
		if d.Party == party && d.GuardianID == approver.GuardianID && d.At.Equal(v.Consent.ChangedAt) && v.Refused() {
			v.Reason = d.Reason
		}
	}
	if v.Next = nextStep(v.Number, v.Consent, v.Request, now); v.Next == "held" {
		v.Held = heldMessage(v.Request)
	}
	return v
}

// player serves GET /coach/players/{player_id}: both parties with the next step, the
// details, and the timeline.
func (p pages) player(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.playerPage(ctx, r, by, r.Restored(new(web.Form)))
}

// disagreement says which guardians of a minor said yes and which said no, or is empty if they agree.
func (p pages) disagreement(v *web.View, player *approval.Player) string {
	if player.GuardianApproval() != approval.GuardiansDisagree || player.Adult(p.Now()) {
		return ""
	}
	yes, no := player.Disagreement()
	return v.MustT("player.disagree", "Yes", strings.Join(yes, ", "), "No", strings.Join(no, ", "))
}

// latestEntries is how many entries of the timeline the first tab shows.
const latestEntries = 2

func (p pages) playerPage(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	id := r.PathValue("player_id")
	t, err := p.Timeline(ctx, by, id)
	if err != nil {
		return web.Response{}, err
	}
	var parties []partyView
	for _, g := range t.Player.Guardians() {
		parties = append(parties, p.newPartyView(t, g))
	}
	parties = append(parties, p.newPartyView(t, t.Player.Party(actor.Student)))
	for i, party := range parties {
		if parties[i].Primary = party.NeedsNumber() || party.Next == "again" || party.Next == "overdue" && party.CanRemind(); parties[i].Primary {
			break
		}
	}
	// The page that a script loads again is not read: it may be open in another tab.
	if r.Header.Get(web.LiveHeader) == "" && slices.ContainsFunc(parties, partyView.Refused) {
		if err := p.Tray.MarkRefusalsRead(ctx, by, id); err != nil {
			return web.Response{}, err
		}
	}
	v := p.site.CoachView(r, "players", "player.title", by)
	v.TitleName = t.Player.Student.FullName
	v.Form = f
	v.Path = web.CoachPlayer(id)
	query := r.URL.Query()
	tab := query.Get("tab")
	if tab != "details" && tab != "history" {
		tab = "family"
	}
	strip, err := p.Strip(ctx, by, id)
	if err != nil {
		return web.Response{}, err
	}
	names, err := p.namesBeside(ctx, by, t.Player)
	if err != nil {
		return web.Response{}, err
	}
	entries, guardians := timeline(v, t), len(t.Player.Guardians())
	v.Data = map[string]any{
		"HasRule": guardians > 1 && p.Rules.GuardianBelow > 0, "MayAdd": guardians < approval.MaxGuardians,
		"Tab": tab, "Strip": strip, "Names": names, "Latest": entries[:min(len(entries), latestEntries)],
		"Player": t.Player, "Parties": parties, "Age": t.Player.Student.DateOfBirth.AgeOn(p.Now()),
		"Disagree": p.disagreement(v, t.Player), "Timeline": entries, "Done": v.TextOr("player.done."+query.Get("done"), ""), "Added": query.Get("added"),
	}
	return web.FormPage("player", v), nil
}
