package demo

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Terminal is where the service prints messages (SMS=log). It keeps the codes for Build,
// and prints nothing until Show is called.
type Terminal struct {
	mu    sync.Mutex
	codes map[string][]string // by the digits of the number
	out   io.Writer
}

var (
	printedNumber = regexp.MustCompile(`to \+([0-9 -]+) \(otp\)`)
	printedCode   = regexp.MustCompile(`\b\d{6}\b`)
)

// Write reads one message that the service prints.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out != nil {
		return t.out.Write(p)
	}
	if m := printedNumber.FindSubmatchIndex(p); m != nil {
		number := digits(string(p[m[2]:m[3]]))
		if t.codes == nil {
			t.codes = map[string][]string{}
		}
		t.codes[number] = append(t.codes[number], string(printedCode.Find(p[m[1]:])))
	}
	return len(p), nil
}

// Show prints later messages to out.
func (t *Terminal) Show(out io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out = out
}

// sent returns the codes that were sent to number.
func (t *Terminal) sent(number string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.codes[digits(number)]
}

// code waits for the code that is sent to number after the first skip ones.
func (t *Terminal) code(ctx context.Context, number string, skip int) (string, error) {
	for {
		if codes := t.sent(number); len(codes) > skip {
			return codes[skip], nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("wait for the code to %s: %w", number, ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}
