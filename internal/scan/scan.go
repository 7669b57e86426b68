// Package scan asks a virus scanner, ClamAV's clamd, about a file. What becomes of
// an infected one is told by those who ask.
package scan

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"
)

// Clamd is a scanner that listens on a socket. Its zero value is of no use; see New.
type Clamd struct {
	network, address string
	// silence is how long the scanner may take for a single step.
	silence time.Duration
}

// Verdict of a scanner.
type Verdict struct {
	// Infected is the name of what was found, "" where the file is clean.
	Infected string
}

// New returns the scanner at address: unix:<path> or tcp:<host>:<port>. It does
// not connect yet.
func New(address string) (*Clamd, error) {
	network, rest, _ := strings.Cut(address, ":")
	if network != "unix" && network != "tcp" || rest == "" {
		return nil, errors.New("a scanner is unix:<path> or tcp:<host>:<port>")
	}
	return &Clamd{network, rest, 30 * time.Second}, nil
}

// Scan sends what r holds, in pieces, and returns the verdict. A scanner that is
// away, too slow, answers what nobody understands, or does not take so large a file
// is a fault.Down: what was not scanned is not clean.
func (c *Clamd) Scan(ctx context.Context, r io.Reader) (Verdict, error) {
	return Verdict{}, errors.New("not yet")
}
