package sms

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"

	"github.com/touchline/touchline/internal/message"
)

// Log prints messages to a terminal and sends nothing. It is for development. No
// other part of the service shows phone numbers and OTPs.
type Log struct {
	mu       sync.Mutex
	out      io.Writer
	received func(Message)
}

// NewLog returns a Log that prints to out.
func NewLog(out io.Writer) *Log { return &Log{out: out} }

// Send prints m with one write, so that concurrent messages do not interleave.
func (l *Log) Send(ctx context.Context, m Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("\n┌── SMS, NOT SENT: for development only; anyone who sees this can sign in ──\n")
	fmt.Fprintf(&b, "│ to %s (%s)\n│\n", clean(m.To.Format()), clean(string(m.Kind)))
	for line := range strings.SplitSeq(m.Text, "\n") {
		b.WriteString("│   " + clean(line) + "\n")
	}
	b.WriteString("└──\n")

	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := io.WriteString(l.out, b.String()); err != nil {
		return &message.SendError{Reason: "write to terminal"}
	}
	if l.received != nil {
		l.received(m)
	}
	return nil
}

// clean removes control and bidirectional characters: a message contains names that
// users chose, and those must not control the terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
}
