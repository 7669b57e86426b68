package message

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Reply is a text that a person sent to the number of the service.
type Reply struct {
	Channel Channel
	// From is the number of the person. It is empty if the provider does not name it: Replies places the reply
	// by what it quotes, by its button or by UserID.
	From phone.Number
	// UserID is WhatsApp's id of the person for this account, such as IN.13491208655302741918, or empty.
	UserID string
	Text   string
	// ID is the provider's id of the reply: a repeated call has the same. It is empty if the
	// provider names none.
	ID string
	// SentAt is when the person sent the reply, in whole seconds. It is zero if the provider does
	// not say.
	SentAt time.Time
	// Context is the provider's id of the message to which the person replied, or empty.
	Context string
	// Button is the ID of the ChatButton that the person pressed, or empty.
	Button string
	// Media is the type of a file without its content, such as image, or empty.
	Media string
	// Kind says what the reply is if it is neither a new text, a file nor a button.
	Kind ReplyKind
	// Means is the keyword that the provider recognised in the text, or empty.
	Means Keyword
	// CoachID is the coach whom a STOP or START means, and Allowed how many coaches a START allowed again.
	// Replies sets both.
	CoachID string
	Allowed int
}

// ReplyKind is what a reply is.
type ReplyKind string

// The kinds of replies that are not a new text, a file or a button.
const (
	ReplyReaction    ReplyKind = "reaction"
	ReplyEdit        ReplyKind = "edit"        // Text is the new text of an earlier reply
	ReplyDeleted     ReplyKind = "deleted"     // an earlier reply was deleted
	ReplyUnsupported ReplyKind = "unsupported" // WhatsApp hands over no content
	ReplyNoAnswer    ReplyKind = "no_answer"   // Text was typed in place of pressing a button of a question
)

// RepliesKept is how long the hash of a reply is stored. Meta repeats a call for 7 days:
// https://developers.facebook.com/docs/graph-api/webhooks/getting-started
const RepliesKept = 14 * 24 * time.Hour

// clockTolerance is how far the clock of a provider may be behind. Few people reply within a minute
// to one message and get another one.
const clockTolerance = time.Minute

// writtenBy returns the latest time at which the person may have sent the reply, or zero if
// the provider does not say.
func (r Reply) writtenBy() time.Time {
	if r.SentAt.IsZero() {
		return time.Time{}
	}
	return r.SentAt.Add(clockTolerance)
}

// ParseSentAt parses a Unix time in seconds. It returns zero for any other text.
func ParseSentAt(seconds string) time.Time {
	if s, err := strconv.ParseInt(seconds, 10, 64); err == nil && s > 0 {
		return time.Unix(s, 0)
	}
	return time.Time{}
}

// ReplyStore stores what replies say. Store implements it.
type ReplyStore interface {
	// PlaceReply returns the number of the person who sent a reply without one, or "" if it is not known. It keeps
	// the user id of a reply for later ones.
	PlaceReply(ctx context.Context, r Reply) (phone.Number, error)
	// QuotedSender returns the coach of the message that has a provider's id, to a number, or "" if it has none.
	QuotedSender(ctx context.Context, n phone.Number, providerID string) (coachID string, err error)
	// NewestSender returns the coach whose message on a channel was the newest to a number at a
	// time, else the newest on another channel, else the only coach of the number, or "". A zero time is now. So is a time before the first message: that clock is wrong,
	// and the STOP must not be lost.
	NewestSender(ctx context.Context, n phone.Number, channel Channel, until time.Time) (coachID string, err error)
	// StopCoachByReply stops a coach, unless an earlier call had the same reply.
	StopCoachByReply(ctx context.Context, r Reply, coachID string) (stopped bool, err error)
	// AllowCoachesByReply ends each StopCoachByReply of the sender, and any stop of one coach, who
	// may be "". A stop that is later than the reply stays, and the reply of an earlier call ends
	// none. It returns how many coaches may send messages again.
	AllowCoachesByReply(ctx context.Context, r Reply, coachID string) (coaches int, err error)
}

// Replies receives replies to messages.
type Replies struct {
	Store ReplyStore
	// Readers has an entry for each provider that reports replies. It returns false if the
	// call is not from the provider, or a Reply without a number if there is none in it. secret
	// is the last part of the address, or empty.
	Readers map[string]func(call ProviderCall, secret string) (Reply, bool)
	// Chat receives every reply after STOP and START have counted; nil receives none. See
	// conversation.Inbox.
	Chat func(ctx context.Context, r Reply) error
	// CountUnplaced counts a reply by WhatsApp of a person whose number is not known; nil counts none.
	CountUnplaced func()
	Log           *slog.Logger
}

// CheckProvider returns not_found unless the provider reports replies. It needs no body.
func (s *Replies) CheckProvider(provider string) error {
	if s.Readers[provider] == nil {
		return fault.Missing()
	}
	return nil
}

// Receive applies the reply in a call. Unless the call is from the provider, it returns
// token_invalid and changes nothing.
func (s *Replies) Receive(ctx context.Context, provider, secret string, call ProviderCall) error {
	if err := s.CheckProvider(provider); err != nil {
		return err
	}
	r, ok := s.Readers[provider](call, secret)
	if !ok {
		return fault.New(fault.Unauthenticated, "token_invalid", "This is not the address for replies.")
	}
	return s.Apply(ctx, r)
}

// Apply stops the coach whose message the reply quotes, if the reply asks for that. If it quotes none, that is the coach whose message
// was the newest to the sender when the person sent the reply, or now if the provider does not say when. START allows that coach again and each coach whom a reply stopped: it does not say
// whose messages it wants, and the newest may be of a coach who was never stopped. Another coach whom
// the person stopped on the page stays stopped. No reply changes consent.
//
// A provider may repeat a call, and deliver it late. Neither must end a later stop:
//
//	10:00  START, the response is lost
//	10:05  STOP
//	10:06  START of 10:00 again
//
// Every inbound message goes through Apply: SMS and WhatsApp, texts and buttons, and those of the phones
// for development.
func (s *Replies) Apply(ctx context.Context, r Reply) error {
	if r.Channel == Chat && (r.From == "" || r.UserID != "") {
		n, err := s.Store.PlaceReply(ctx, r)
		if err != nil {
			return err
		}
		r.From = n
	}
	if r.From == "" {
		if r.Channel == Chat {
			s.logUnplaced(r)
		}
		return nil
	}
	if r.Button == "" {
		var err error
		r.CoachID, r.Allowed, err = s.applyStop(ctx, r)
		if err != nil {
			return err
		}
	}
	if s.Chat == nil {
		return nil
	}
	return s.Chat(ctx, r)
}

// ApplyAll applies every reply of a call. One that fails keeps none of the others back: the provider repeats the
// whole call, and those that were applied change nothing again. The error is unavailable.
func (s *Replies) ApplyAll(ctx context.Context, replies []Reply) error {
	var failed []error
	for _, r := range replies {
		if err := s.Apply(ctx, r); err != nil {
			failed = append(failed, err)
		}
	}
	return repeatLater(failed)
}

// repeatLater returns unavailable if there are errors, so that the provider calls again.
func repeatLater(failed []error) error {
	if len(failed) == 0 {
		return nil
	}
	return fault.Down(errors.Join(failed...))
}

// logUnplaced logs that a person wrote whose number is not known. The id of the message is not logged, because
// it contains the number in another form.
func (s *Replies) logUnplaced(r Reply) {
	if s.CountUnplaced != nil {
		s.CountUnplaced()
	}
	country, id, _ := strings.Cut(r.UserID, ".")
	if id != "" {
		id = country + "…" + id[max(0, len(id)-4):]
	}
	s.Log.Warn("a reply by WhatsApp names no known number and was not handled", "user_id", id, "stop", r.Stops(),
		"button", r.Button != "", "quotes", r.Context != "", "sent_at", r.SentAt)
}

// applyStop returns the coach whom a STOP or START means, and how many coaches the START allowed again.
func (s *Replies) applyStop(ctx context.Context, r Reply) (coach string, allowed int, err error) {
	if !r.Stops() && !r.Starts() {
		return "", 0, nil
	}
	coach, err = s.sender(ctx, r)
	if err != nil {
		return "", 0, err
	}
	if r.Starts() {
		allowed, err = s.Store.AllowCoachesByReply(ctx, r, coach)
		if err == nil && allowed > 0 {
			s.Log.Info("a reply allowed the messages of coaches again", "from", r.From, "coaches", allowed)
		}
		return coach, allowed, err
	}
	if coach == "" {
		return "", 0, nil
	}
	stopped, err := s.Store.StopCoachByReply(ctx, r, coach)
	if err == nil && stopped {
		s.Log.Info("a reply stopped the messages of a coach", "from", r.From, "coach", coach)
	}
	return coach, 0, err
}

// sender returns the coach whom a reply means, or "": that of the quoted message, else of the newest one.
func (s *Replies) sender(ctx context.Context, r Reply) (coachID string, err error) {
	if r.Context != "" {
		coachID, err = s.Store.QuotedSender(ctx, r.From, r.Context)
		if err != nil || coachID != "" {
			return coachID, err
		}
	}
	return s.Store.NewestSender(ctx, r.From, r.Channel, r.writtenBy())
}

// Hash identifies a call with r.
func (r Reply) Hash() [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%s %s %t %d %s", r.Channel, r.From, r.Stops(), r.SentAt.Unix(), r.ID))
}

// DeliveryOfButton returns the delivery whose question the button answers, or "".
func (r Reply) DeliveryOfButton() string {
	if p, ok := ParseChatPress(r.Button); ok && p.Action != ChatCoach {
		return p.ID
	}
	return ""
}
