package conversation

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

const (
	// MaxText is the length of the longest message or reply, in characters.
	MaxText = 1000
	// MaxPlayers is how many players one message may go to.
	MaxPlayers = 1000
)

// Channel is a way by which a message reaches a person.
type Channel = message.Channel

// The channels. A message by InApp is a notification and an entry of the conversation in
// the app; the others leave the service.
const (
	InApp = message.InApp
	SMS   = message.SMS
	Chat  = message.Chat
)

// Channels lists every channel, in the order in which responses name them.
var Channels = []Channel{SMS, Chat, InApp}

// Audience says which parties of a player a message is for.
type Audience string

// The audiences.
const (
	ToGuardians Audience = "guardian"
	ToStudents  Audience = "student"
	ToBoth      Audience = "both"
)

// Has reports whether a message is for a party.
func (a Audience) Has(party actor.Role) bool { return a == ToBoth || a == Audience(party) }

// Target says which players a message is about: listed ones, the players of a batch, or all.
type Target struct {
	PlayerIDs []string
	BatchID   string
	All       bool
}

// broadcast reports whether t is more than one named player.
func (t Target) broadcast() bool { return t.All || t.BatchID != "" || len(t.sortedPlayers()) > 1 }

// Draft is a message that a coach writes.
type Draft struct {
	To       Target
	Audience Audience
	// GuardianID is the only guardian whom a message to guardians is for; empty for all.
	GuardianID string
	Text       string
	Channels   []Channel
}

// equals reports whether d and other are the same message. The order of players and channels does not
// matter.
func (d Draft) equals(other Draft) bool {
	return d.Text == other.Text && d.Audience == other.Audience && d.GuardianID == other.GuardianID && joinChannels(d.Channels) == joinChannels(other.Channels) &&
		d.To.All == other.To.All && d.To.BatchID == other.To.BatchID && slices.Equal(d.To.sortedPlayers(), other.To.sortedPlayers())
}

// sortedPlayers returns the listed players in the order of their ids, each once.
func (t Target) sortedPlayers() []string {
	return slices.Compact(slices.Sorted(slices.Values(t.PlayerIDs)))
}

// Message is a message that the service has accepted.
type Message struct {
	ID      string
	CoachID string
	Draft
	// Recipients and LeftOut count the recipients as they were planned. LeftOut are those
	// that no channel reaches. Segments is how many SMS segments count for the tier.
	Recipients, LeftOut, Segments int
	// People and PeopleLeftOut count people as they were planned; see Totals.
	People, PeopleLeftOut int
	CreatedAt             time.Time
	// ExpandedAt is when the last recipient got a row; zero before.
	ExpandedAt time.Time
	// GivenUp is true if the remaining recipients got no row because every attempt failed.
	GivenUp bool
}

// checkText returns why text cannot be sent, as the code and detail of a fault, or "".
func checkText(text string) (code, detail string) {
	switch {
	case !strings.ContainsFunc(text, visible):
		return "invalid_characters", "This must contain a visible character."
	case utf8.RuneCountInString(text) > MaxText:
		return "too_long", "This may have at most " + strconv.Itoa(MaxText) + " characters."
	}
	return "", ""
}

// visible reports whether r shows something: also an emoji, but no space, mark or filler, and
// not the blank Braille pattern, which is a symbol.
func visible(r rune) bool {
	return unicode.IsOneOf([]*unicode.RangeTable{unicode.L, unicode.N, unicode.P, unicode.S}, r) && r != '\u2800' &&
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// checkTarget returns an error unless t names players in exactly one way.
func (t Target) checkTarget() error {
	if onlyOne(t.PlayerIDs != nil, t.BatchID != "", t.All) {
		return nil
	}
	return fault.Validation([]fault.Field{{Pointer: "/to", Code: "invalid_value", Detail: "Give one of player_ids, batch_id and all."}})
}

func onlyOne(ways ...bool) bool {
	n := 0
	for _, way := range ways {
		if way {
			n++
		}
	}
	return n == 1
}

// checkSize returns an error unless a message may go to n players.
func checkSize(n int) error {
	switch {
	case n == 0:
		return fault.Validation([]fault.Field{{Pointer: "/to", Code: "too_few", Detail: "There is no player to write to."}})
	case n > MaxPlayers:
		return fault.Validation([]fault.Field{{
			Pointer: "/to", Code: "too_many",
			Detail: "A message may go to at most " + strconv.Itoa(MaxPlayers) + " players. Send several messages, for example one for each batch.",
		}})
	}
	return nil
}

// reachedInApp returns the recipients whom a message reaches in the app.
func reachedInApp(recipients []Recipient) []Recipient {
	var reached []Recipient
	for _, r := range recipients {
		if slices.ContainsFunc(r.Sends, func(s Send) bool { return s.Channel == InApp && s.Reason == "" }) {
			reached = append(reached, r)
		}
	}
	return reached
}

// events returns the events that notify recipients of m: those who have notifications in the
// app.
func (m Message) events(coachName string, recipients []Recipient, enabled team.Enabled) []event.Event {
	var events []event.Event
	for _, r := range recipients {
		if enabled(r.PlayerID, r.Party, r.GuardianID, team.InAppNotifications) != team.Granted {
			continue
		}
		events = append(events, event.Event{
			Type: event.TeamMessage, Party: r.Party, GuardianID: r.GuardianID, PartyID: r.AccountID, CoachID: m.CoachID, CoachName: coachName,
			PlayerID: r.PlayerID, StudentName: r.StudentName, MessageID: m.ID,
		})
	}
	return events
}
