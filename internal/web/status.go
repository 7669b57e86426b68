package web

import (
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
)

// Status is a state that people read: a word with a shape and a colour, for the template
// "status".
type Status struct {
	// Class is "yes", "wait", "no" or "" for a neutral one.
	Class  string
	Symbol string
	Text   string
	// Short is the state in a word, after the name of the party: "yes".
	Short string
}

// Consent returns how the question to a party stands, for its coach. A no is neutral: red is for
// what the coach can mend. newest is the newest
// request, or nil.
func (v *View) Consent(c approval.Consent, newest *approval.Request) Status {
	switch {
	case c.State == approval.Approved:
		return Status{"yes", "✓", v.MustT("consent.approved", "Date", v.Date(c.ChangedAt)), v.MustT("consent.short.approved")}
	case c.State == approval.Rejected:
		return Status{"", "✕", v.MustT("consent.rejected", "Date", v.Date(c.ChangedAt)), v.MustT("consent.short.rejected")}
	case c.State == approval.Revoked:
		return Status{"", "↩", v.MustT("consent.revoked", "Date", v.Date(c.ChangedAt)), v.MustT("consent.short.revoked")}
	case newest != nil && newest.State == approval.RequestDisputed:
		return Status{"no", "!", v.MustT("consent.disputed"), v.MustT("consent.short.disputed")}
	case newest == nil, newest.State != approval.RequestPending: // cancelled, or answered by a yes that no longer counts
		return Status{"", "–", v.MustT("consent.not_asked"), v.MustT("consent.short.not_asked")}
	case newest.DeliveryFailed:
		return Status{"no", "!", v.MustT("consent.undelivered"), v.MustT("consent.short.undelivered")}
	}
	return Status{"wait", "○", v.MustT("consent.waiting", "Days", v.Since(c.PendingSince)), v.MustT("consent.short.waiting")}
}

// DeliveryStatus returns how far a message of a question has come. What is in the app waits there
// until the person opens it: it counts as delivered in the API, but nothing has reached the person.
func (v *View) DeliveryStatus(d approval.Delivery) Status {
	symbols := map[string]Status{
		message.DeliveredState: {Class: "yes", Symbol: "✓"}, message.FailedState: {Class: "no", Symbol: "!"}, message.SentState: {Class: "wait", Symbol: "→"},
	}
	status, known := symbols[d.State]
	if !known {
		status = Status{Class: "wait", Symbol: "○"}
	}
	state := "delivery." + d.State
	if d.Channel == message.InApp && d.State == message.DeliveredState {
		status, state = Status{Symbol: "–"}, "delivery.in_app"
	}
	if d.Channel == message.Voice {
		if state = "delivery.voice." + d.State; d.Reason == message.ReasonUnreachable {
			state = "delivery.voice.unanswered"
		}
		status.Text = v.Channel(d.Channel) + ": " + v.MustT(state)
		return status
	}
	status.Text = v.Channel(d.Channel) + ": " + v.MustT(state)
	if d.Kind == approval.MessageReminder {
		status.Text = v.MustT("timeline.reminder") + " · " + status.Text
	}
	return status
}

// Answer returns how a question stands, for the party that it asks.
func (v *View) Answer(page interface{ Asked() Question }) Status {
	d := page.Asked()
	switch {
	case d.State == approval.Approved:
		return Status{Class: "yes", Symbol: "✓", Text: v.MustT("status.approved", "Date", v.Date(d.Consent.ChangedAt))}
	case d.State == approval.Rejected:
		return Status{Symbol: "✕", Text: v.MustT("status.rejected", "Date", v.Date(d.Consent.ChangedAt))}
	case d.State == approval.Revoked:
		return Status{Symbol: "↩", Text: v.MustT("status.revoked", "Date", v.Date(d.Consent.ChangedAt))}
	case d.Disputed:
		return Status{Class: "no", Symbol: "!", Text: v.MustT("status.disputed")}
	case d.CanAnswer():
		return Status{Class: "wait", Symbol: "○", Text: v.MustT("status.waiting", "Days", v.Since(d.Consent.PendingSince))}
	}
	return Status{Symbol: "–", Text: v.MustT("status.closed")}
}

// DeliveryReason explains why a message is in its state, or returns "".
func (v *View) DeliveryReason(d message.DeliveryRecord) string {
	text, err := v.T("operator.reason." + d.Reason)
	if d.Cause != "" {
		text, err = v.T("operator.cause." + string(d.Cause))
	}
	if err != nil {
		return ""
	}
	return text
}
