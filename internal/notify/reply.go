package notify

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"unicode"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/phone"
)

// Reply is a text that a person sent to the number of the service.
type Reply struct {
	Channel Channel
	From    phone.Number
	Text    string
}

// stopWords end the messages of a coach, startWords allow those of every coach again, if they are
// all that a reply says. The English words are those that networks know.
var (
	stopWords  = []string{"STOP", "STOPALL", "STOP ALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "बंद", "बंद करो", "बंद करें", "रोको", "रोकें"}
	startWords = []string{"START", "UNSTOP", "शुरू", "शुरू करें"}
)

// Stops reports whether the reply asks for no more messages, Starts whether it allows them
// again.
func (r Reply) Stops() bool  { return slices.Contains(stopWords, r.words()) }
func (r Reply) Starts() bool { return slices.Contains(startWords, r.words()) }

// words returns the words of the text in capitals, without digits and punctuation.
func (r Reply) words() string {
	words := strings.FieldsFunc(strings.ToUpper(r.Text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) })
	return strings.Join(words, " ")
}

// ReplyStore stores what replies say; package store implements it.
type ReplyStore interface {
	// NewestSender returns the coach whose message on a channel was the newest to a number, or
	// "".
	NewestSender(ctx context.Context, n phone.Number, channel Channel) (coachID string, err error)
	StopCoach(ctx context.Context, n phone.Number, coachID string) error
	// AllowAllCoaches ends StopCoach for every coach, and returns their number.
	AllowAllCoaches(ctx context.Context, n phone.Number) (coaches int, err error)
}

// Replies receives replies to messages.
type Replies struct {
	Store ReplyStore
	// Readers has an entry for each provider that reports replies. It returns false if the
	// call is not from the provider, or a Reply without a number if there is none in it. secret
	// is the last part of the address, or empty.
	Readers map[string]func(call ProviderCall, secret string) (Reply, bool)
	Log     *slog.Logger
}

// Receive applies the reply in a call. Unless the call is from the provider, it returns
// token_invalid and changes nothing.
func (s *Replies) Receive(ctx context.Context, provider, secret string, call ProviderCall) error {
	read := s.Readers[provider]
	if read == nil {
		return fault.Missing()
	}
	r, ok := read(call, secret)
	if !ok {
		return fault.New(fault.Unauthenticated, "token_invalid", "This is not the address for replies.")
	}
	return s.Apply(ctx, r)
}

// Apply stops the coach whose message was the newest to the sender of a reply, if the reply asks
// for that, or allows every coach again: the reply does not say whose messages it wants, and the
// newest may be of a coach who was never stopped. It changes no consent.
func (s *Replies) Apply(ctx context.Context, r Reply) error {
	switch {
	case r.From == "":
		return nil
	case r.Stops():
		coachID, err := s.Store.NewestSender(ctx, r.From, r.Channel)
		if err != nil || coachID == "" {
			return err
		}
		if err := s.Store.StopCoach(ctx, r.From, coachID); err != nil {
			return err
		}
		s.Log.Info("a reply stopped the messages of a coach", "from", r.From, "coach", coachID)
	case r.Starts():
		coaches, err := s.Store.AllowAllCoaches(ctx, r.From)
		if err != nil || coaches == 0 {
			return err
		}
		s.Log.Info("a reply allowed the messages of coaches again", "from", r.From, "coaches", coaches)
	}
	return nil
}
