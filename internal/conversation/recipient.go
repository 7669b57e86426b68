package conversation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/team"
)

// Reason says why a message does not reach a party on a channel.
type Reason string

// The reasons.
const (
	// ReasonNoGuardian: an adult student has no guardian.
	ReasonNoGuardian Reason = "no_guardian"
	// ReasonNoNumber: the coach has not entered a number.
	ReasonNoNumber Reason = "no_number"
	// ReasonDisputed: the owner of the number said that it is the wrong one.
	ReasonDisputed Reason = "disputed"
	// ReasonStopped: the person wants no messages of the coach outside of the app.
	ReasonStopped Reason = "stopped"
	// ReasonNotApproved: the app needs the approval of the party.
	ReasonNotApproved Reason = "not_approved"
	// ReasonNotInTier: the tier of the coach has no messages in the app.
	ReasonNotInTier Reason = "tier"
	// ReasonChatNotConfigured: the service has no transport for the chat.
	ReasonChatNotConfigured Reason = "chat_not_configured"
	// ReasonNumberNotAllowed: the service sends nothing to the country of the number.
	ReasonNumberNotAllowed Reason = "number_not_allowed"
	// ReasonWeeklyLimit: the person has never approved and had as many messages as are allowed.
	ReasonWeeklyLimit Reason = "weekly_limit"
	// ReasonSameNumber: the number gets the message already, as another recipient.
	ReasonSameNumber Reason = "same_number"
	// ReasonOnlyLinks: nothing is left of the text without links and numbers.
	ReasonOnlyLinks Reason = "only_links"
	// ReasonPlayerRemoved: the coach removed the player before the message left.
	ReasonPlayerRemoved Reason = "player_removed"
	// ReasonSuspended: an operator suspended the coach before the message left.
	ReasonSuspended Reason = "account_suspended"
)

// MaxPerWeek is how many messages of a coach reach a party that never approved in 7 days.
const MaxPerWeek = 2

// partyFacts decide which channels reach one party of a player.
type partyFacts struct {
	// Exists is false if an adult has no guardian.
	Exists bool
	// GuardianID is empty for a student.
	GuardianID string
	AccountID  string // "" without a number
	Number     phone.Number
	Name       string
	Language   string // "" if the party has none
	// App says whether the party has team communications in the app.
	App team.Access
	// EverApproved is true if the account has approved a player of the coach at any time.
	EverApproved bool
	Disputed     bool
	Stopped      bool
	// SentInWeek counts the coach's messages to the number in the last 7 days, by chat or SMS.
	SentInWeek int
	// InWindow is true if the number wrote by WhatsApp so recently that a chat to it needs no template and is free.
	InWindow bool
	// HasMessage are the channels on which the number got this message already.
	HasMessage []Channel
}

// playerFacts is a player that a message is about.
type playerFacts struct {
	PlayerID    string
	StudentName string
	Adult       bool
	// Removed is true if the coach removed the player, and Suspended if an operator suspended
	// the coach.
	Removed, Suspended bool

	// Others are the guardians after the first.
	Guardian, Student partyFacts
	Others            []partyFacts
}

// of returns the facts of the parties of a role: of each guardian, or of the student.
func (p *playerFacts) of(party actor.Role) []*partyFacts {
	if party != actor.Guardian {
		return []*partyFacts{&p.Student}
	}
	list := []*partyFacts{&p.Guardian}
	for i := range p.Others {
		list = append(list, &p.Others[i])
	}
	return list
}

// Recipient is one party to which a message goes, or would go.
type Recipient struct {
	PlayerID, StudentName string
	Party                 actor.Role
	GuardianID            string
	AccountID             string
	Name                  string
	// Copy is true for a guardian who gets what a student under 18 gets.
	Copy  bool
	Sends []Send
}

// LeftOut returns why no channel reaches the recipient, or "".
func (r Recipient) LeftOut() Reason {
	for _, s := range r.Sends {
		if s.Reason == "" {
			return ""
		}
	}
	return r.Sends[0].Reason
}

// Send is a message to one recipient on one channel.
type Send struct {
	Channel Channel
	// Reason is why the channel does not reach the recipient, or "".
	Reason Reason
	Number phone.Number
	// Restricted and Language are fields of the message.TeamMessage.
	Restricted bool
	Language   string
	// Stays is true for a message by chat that never leaves by SMS.
	Stays bool
	// Template is true for a message by chat that needs a template of WhatsApp.
	Template bool
	// Segments and Cost are the length and the price of the text; 0 in the app. SMSCost is the price if it leaves by SMS.
	Segments      int
	Cost, SMSCost Cost
}

// firstState returns the state in which the delivery of s begins.
func (s Send) firstState() State {
	switch {
	case s.Reason != "":
		return LeftOut
	case s.Channel == InApp:
		return Delivered
	}
	return Queued
}

// Cost is an amount in 1/10,000 of the unit of a currency.
type Cost int64

const (
	costUnit     = 10_000
	costDecimals = 4
)

// String returns the amount as a decimal number, such as 0.36.
func (c Cost) String() string {
	whole := strconv.FormatInt(int64(c/costUnit), 10)
	decimals := strings.TrimRight(fmt.Sprintf("%0*d", costDecimals, c%costUnit), "0")
	if decimals == "" {
		return whole
	}
	return whole + "." + decimals
}

// State is the state of a message to one recipient.
type State string

// The states, the best last.
const (
	LeftOut   State = "left_out"
	Failed    State = "failed"
	Queued    State = "queued"
	Sent      State = "sent"
	Delivered State = "delivered"
)

// Read is what pages call Delivered once the recipient has read the message.
const Read State = "read"

// States lists every state, the best last.
var States = []State{LeftOut, Failed, Queued, Sent, Delivered}

// SendState is a message to one recipient on one channel.
type SendState struct {
	Channel Channel
	State   State
	// Reason explains State; it may be empty.
	Reason string
	At     time.Time
	// ReadAt is when the recipient read the message, zero if the channel does not say.
	ReadAt time.Time
}

// Shown returns the state for pages.
func (s SendState) Shown() State {
	if s.State == Delivered && !s.ReadAt.IsZero() {
		return Read
	}
	return s.State
}

// RecipientState is a recipient with the state of the message on each channel.
type RecipientState struct {
	Recipient
	Position int
	Channels []SendState
}

// Best returns the channel with the best state, the first of several.
func (r RecipientState) Best() SendState {
	return slices.MaxFunc(r.Channels, func(a, b SendState) int {
		return slices.Index(States, a.State) - slices.Index(States, b.State)
	})
}
