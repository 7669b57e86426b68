package sms

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
)

// Log prints messages to a terminal instead of sending them. It is for
// development, and the one place in the service where numbers and codes are shown.
type Log struct {
	mu  sync.Mutex
	out io.Writer
}

// NewLog returns a Log that prints to out.
func NewLog(out io.Writer) *Log { return &Log{out: out} }

// Send prints m in one write, so that messages do not mix.
func (l *Log) Send(ctx context.Context, m Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("\n┌── SMS, NOT SENT: for development alone; whoever sees this can sign in ──\n")
	fmt.Fprintf(&b, "│ to %s (%s)\n│\n", clean(m.To.Format()), clean(string(m.Kind)))
	for line := range strings.SplitSeq(m.Text, "\n") {
		b.WriteString("│   " + clean(line) + "\n")
	}
	b.WriteString("└──\n")

	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := io.WriteString(l.out, b.String()); err != nil {
		return &Failure{Reason: "the terminal cannot be written to"}
	}
	return nil
}

// clean drops what would command the terminal or turn its text around: a message
// holds names that strangers chose.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, s)
}
