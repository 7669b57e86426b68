// Package voice calls people and speaks to them. A Transport makes one call; Sender connects one to
// the outbox.
package voice

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Call is a call to one number. Its ID is the same in every attempt, so that a gateway can drop
// duplicates.
type Call struct {
	ID string
	To phone.Number
	// TotalAttempts is how often the call was tried, with this attempt.
	TotalAttempts int
	// Prompt is what the call says first. If it has keys, an Answerer says what follows. An Answerer
	// also returns the first prompt when the person answers: the question may have been answered since.
	Prompt
	// Code is the OTP in Lines, or "".
	Code string
}

// Transport makes calls. Call makes one attempt and returns nil if the call was accepted (which does
// not mean that someone heard it), a *message.SendError, or the context's error. No error contains
// what is said, the number or a credential. A Transport is safe for concurrent use.
type Transport interface {
	Call(ctx context.Context, c Call) error
}

// callTimeout bounds one attempt.
const callTimeout = 10 * time.Second

// Log shows calls in development and makes none.
type Log struct {
	// Show shows a call on a phone; nil shows none.
	Show func(Call)
	// Terminal gets each call; nil gets none.
	Terminal io.Writer
}

// Call shows c.
func (l *Log) Call(ctx context.Context, c Call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.Terminal != nil {
		text := strings.Map(func(r rune) rune { // names must not control the terminal
			if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				return -1
			}
			return r
		}, strings.Join(c.Lines, "\n"))
		// One write, so that concurrent calls do not interleave.
		_, err := fmt.Fprintf(l.Terminal, "\n┌── Call, NOT MADE: for development only; anyone who sees this can sign in ──\n│ to %s\n│\n│   %s\n└──\n",
			c.To.Format(), strings.ReplaceAll(text, "\n", "\n│   "))
		if err != nil {
			return &message.SendError{Reason: "write to terminal"}
		}
	}
	if l.Show != nil {
		l.Show(c)
	}
	return nil
}

// Sender sends the outbox's deliveries by call. It implements worker.Sender.
type Sender struct {
	transport  Transport
	testNumber func(phone.Number) bool
}

// NewSender returns a Sender. Numbers for which testNumber returns true get no call.
func NewSender(t Transport, testNumber func(phone.Number) bool) *Sender {
	return &Sender{t, testNumber}
}

// Send makes one attempt to call the recipient of m. OTPs and the questions of reminders are spoken.
func (s *Sender) Send(ctx context.Context, m message.Message) error {
	c := Call{ID: m.ID, To: phone.Number(m.To), TotalAttempts: m.TotalAttempts, Code: m.Code}
	switch m.Kind {
	case message.OTP:
		c.Prompt = Prompt{Language: message.SpokenLanguage(m.Language), Lines: message.SpokenOTP(m)}
	case message.Reminder:
		c.Prompt = message.CallQuestionOf(m).Ask()
	default:
		return &message.SendError{Permanent: true, Reason: "calls speak OTPs and questions only"}
	}
	return s.transport.Call(ctx, c)
}

// Segments returns 1: the limits count a call as one segment, and its price is the price of a call.
func (s *Sender) Segments(message.Message) int { return 1 }

// Suppressed reports whether to is a test number.
func (s *Sender) Suppressed(to string) bool { return s.testNumber(phone.Number(to)) }
