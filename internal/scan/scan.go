// Package scan asks a virus scanner, ClamAV's clamd, about a file. What becomes of
// an infected one is told by those who ask.
//
//	scanner, err := scan.New("unix:/run/clamav/clamd.ctl")
//	verdict, err := scanner.Scan(ctx, spool)
//	// err: a fault.Down, nothing is known; verdict.Infected: what was found, or ""
package scan

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

const (
	// piece is how much is sent at a time, in bytes.
	chunkSize = 32 << 10
	// maxAnswer bounds what clamd may say: a name and a few words.
	maxReply = 4 << 10
	// connectLimit bounds connecting, silence every single step after it.
	connectTimeout = 5 * time.Second
	idleTimeout      = 30 * time.Second
)

// Clamd is a scanner that listens on a socket; see New. It may be used by many
// goroutines at once: each file has a connection of its own.
type Clamd struct {
	network, address string
	idleTimeout          time.Duration
}

// Verdict of a scanner.
type Result struct {
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
	return &Clamd{network, rest, idleTimeout}, nil
}

// Within sets how long the scanner may be silent at a time, 30 s unless told.
func (c *Clamd) WithIdleTimeout(limit time.Duration) *Clamd {
	return &Clamd{c.network, c.address, limit}
}

// Scan sends what r holds, in pieces, and returns the verdict. A scanner that is
// away, too slow, answers what nobody understands, or takes no file so large is a
// fault.Down: what was not scanned is not clean. An error of r is returned as it is.
func (c *Clamd) Scan(ctx context.Context, r io.Reader) (Result, error) {
	answer, err := c.instream(ctx, r)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return Result{}, ctx.Err()
	case err != nil:
		if source, ok := errors.AsType[*sourceError](err); ok {
			return Result{}, source.err
		}
		return Result{}, fault.Down(fmt.Errorf("scan a file: %w", err))
	}
	return parseReply(answer)
}

// verdict reads clamd's answer: "stream: OK", "stream: <name> FOUND", or an error.
func parseReply(answer string) (Result, error) {
	said, isStream := strings.CutPrefix(answer, "stream: ")
	if isStream && said == "OK" {
		return Result{}, nil
	}
	if name, found := strings.CutSuffix(said, " FOUND"); isStream && found && name != "" {
		return Result{Infected: name}, nil
	}
	return Result{}, fault.Down(fmt.Errorf("scan a file: the scanner answered %q", answer))
}

// ask is one INSTREAM: pieces with their lengths in front, then an empty one. clamd
// answers early, and hangs up, when it wants no more.
func (c *Clamd) instream(ctx context.Context, r io.Reader) (string, error) {
	dialer := net.Dialer{Timeout: min(connectTimeout, c.idleTimeout)}
	conn, err := dialer.DialContext(ctx, c.network, c.address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := c.send(ctx, conn, r); err != nil {
		if _, ok := errors.AsType[*sourceError](err); ok || ctx.Err() != nil {
			return "", err
		}
		// Perhaps it said why it hung up.
		if answer, reading := c.readReply(ctx, conn); reading == nil && answer != "" {
			return answer, nil
		}
		return "", err
	}
	return c.readReply(ctx, conn)
}

// sourceError says that what was to be scanned could not be read.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }

func (c *Clamd) send(ctx context.Context, conn net.Conn, r io.Reader) error {
	if err := c.write(ctx, conn, []byte("zINSTREAM\x00")); err != nil {
		return err
	}
	buf := make([]byte, 4+chunkSize)
	for {
		n, reading := io.ReadFull(r, buf[4:])
		if reading != nil && reading != io.EOF && reading != io.ErrUnexpectedEOF {
			return &sourceError{reading}
		}
		if n > 0 {
			binary.BigEndian.PutUint32(buf, uint32(n))
			if err := c.write(ctx, conn, buf[:4+n]); err != nil {
				return err
			}
		}
		if reading != nil {
			return c.write(ctx, conn, make([]byte, 4))
		}
	}
}

func (c *Clamd) write(ctx context.Context, conn net.Conn, p []byte) error {
	if err := c.extendDeadline(ctx, conn); err != nil {
		return err
	}
	_, err := conn.Write(p)
	return err
}

// more allows the next step its time.
func (c *Clamd) extendDeadline(ctx context.Context, conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(c.idleTimeout)); err != nil {
		return err
	}
	return ctx.Err() // it may have ended just before, and its deadline been undone
}

// read returns the answer, which ends with a NUL, or with a newline where clamd
// speaks before it knows how it was asked.
func (c *Clamd) readReply(ctx context.Context, conn net.Conn) (string, error) {
	if err := c.extendDeadline(ctx, conn); err != nil {
		return "", err
	}
	var answer []byte
	buf := make([]byte, 512)
	for len(answer) < maxReply {
		n, err := conn.Read(buf)
		answer = append(answer, buf[:n]...)
		if end := bytes.IndexAny(answer, "\x00\n"); end >= 0 {
			return string(answer[:end]), nil
		}
		if err != nil {
			return "", fmt.Errorf("the answer breaks off: %w", err)
		}
	}
	return "", errors.New("the answer has no end")
}
