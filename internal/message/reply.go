package message

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Reply is a text that a person sent to the number of the service.
type Reply struct {
	Channel Channel
	From    phone.Number
	Text    string
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
}

// RepliesKept is how long the hash of a reply is stored. Meta repeats a call for 7 days:
// https://developers.facebook.com/docs/graph-api/webhooks/getting-started
const RepliesKept = 14 * 24 * time.Hour

// stopWords end the messages of a coach, startWords allow what stopWords ended, if they are
// all that a reply says. The English words are words that networks know, and the words of 47 CFR
// 64.1200(a)(10).
var (
	stopWords = []string{
		"STOP", "STOPALL", "STOP ALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT", "OPT OUT",
		"बंद", "बंद करो", "बंद करें", "बन्द", "बन्द करो", "बन्द करें", "रोको", "रोकें",
	}
	startWords = []string{"START", "UNSTOP", "शुरू", "शुरू करें"}
)

// Stops reports whether the reply asks for no more messages, Starts whether it allows them
// again.
func (r Reply) Stops() bool  { return slices.Contains(stopWords, r.words()) }
func (r Reply) Starts() bool { return slices.Contains(startWords, r.words()) }

var helpWords = []string{"HELP", "INFO", "मदद", "सहायता"}

// Helps reports whether the reply asks for help.
func (r Reply) Helps() bool { return slices.Contains(helpWords, r.words()) }

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

// words returns the words of the text in capitals, without digits, punctuation and characters that
// are not visible, such as the joiners of Hindi.
func (r Reply) words() string {
	visible := strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Cf, c) {
			return -1
		}
		return c
	}, r.Text)
	words := strings.FieldsFunc(strings.ToUpper(visible), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) })
	return strings.Join(words, " ")
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
	// QuotedSender returns the coach of the message that has a provider's id, to a number, or "" if it has none.
	QuotedSender(ctx context.Context, n phone.Number, providerID string) (coachID string, err error)
	// NewestSender returns the coach whose message on a channel was the newest to a number at a
	// time, or "". A zero time is now. So is a time before the first message: that clock is wrong,
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
	Log  *slog.Logger
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
	if r.From == "" {
		return nil
	}
	if r.Button == "" {
		if err := s.applyStop(ctx, r); err != nil {
			return err
		}
	}
	if s.Chat == nil {
		return nil
	}
	return s.Chat(ctx, r)
}

func (s *Replies) applyStop(ctx context.Context, r Reply) error {
	if !r.Stops() && !r.Starts() {
		return nil
	}
	coach, err := s.sender(ctx, r)
	if err != nil {
		return err
	}
	if r.Starts() {
		coaches, err := s.Store.AllowCoachesByReply(ctx, r, coach)
		if err == nil && coaches > 0 {
			s.Log.Info("a reply allowed the messages of coaches again", "from", r.From, "coaches", coaches)
		}
		return err
	}
	if coach == "" {
		return nil
	}
	stopped, err := s.Store.StopCoachByReply(ctx, r, coach)
	if err == nil && stopped {
		s.Log.Info("a reply stopped the messages of a coach", "from", r.From, "coach", coach)
	}
	return err
}

// sender returns the coach whom a reply means, or "": that of the quoted message, else of the newest one.
func (s *Replies) sender(ctx context.Context, r Reply) (coachID string, err error) {
	if r.Context != "" {
		if coachID, err = s.Store.QuotedSender(ctx, r.From, r.Context); err != nil || coachID != "" {
			return coachID, err
		}
	}
	return s.Store.NewestSender(ctx, r.From, r.Channel, r.writtenBy())
}
