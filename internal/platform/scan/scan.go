// Package scan asks ClamAV's clamd whether a file is infected. The caller decides
// what to do with an infected file.
//
//	scanner, err := scan.New("unix:/run/clamav/clamd.ctl")
//	result, err := scanner.Scan(ctx, spool)
//	// err is a fault.Down if the file could not be scanned
//	// result.Infected names the virus, or is "" if the file is clean
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

	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// chunkSize is the number of bytes sent in one INSTREAM chunk.
	chunkSize = 32 << 10
	// maxReply bounds clamd's reply, in bytes.
	maxReply = 4 << 10
	// connectTimeout bounds connecting; idleTimeout bounds each later read or write.
	connectTimeout = 5 * time.Second
	idleTimeout    = 30 * time.Second
)

// Clamd is a client of one clamd; see New. It is safe for concurrent use: each scan
// opens its own connection.
type Clamd struct {
	network, address string
	idleTimeout      time.Duration
}

// Result is the outcome of one scan.
type Result struct {
	// Infected is the virus name that clamd reported, "" if the file is clean.
	Infected string
}

// New returns a client of the clamd at address, unix:<path> or tcp:<host>:<port>.
// It does not connect.
func New(address string) (*Clamd, error) {
	network, rest, _ := strings.Cut(address, ":")
	if network != "unix" && network != "tcp" || rest == "" {
		return nil, errors.New("scanner address must be unix:<path> or tcp:<host>:<port>")
	}
	return &Clamd{network, rest, idleTimeout}, nil
}

// Scan sends the content of r to clamd and returns the result. It returns a
// fault.Down if clamd is unreachable, too slow, sends an unknown reply or refuses
// the size: a file that was not scanned does not count as clean. It returns an
// error of r unchanged.
func (c *Clamd) Scan(ctx context.Context, r io.Reader) (Result, error) {
	reply, err := c.instream(ctx, r)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return Result{}, ctx.Err()
	case err != nil:
		if source, ok := errors.AsType[*sourceError](err); ok {
			return Result{}, source.err
		}
		return Result{}, fault.Down(fmt.Errorf("scan a file: %w", err))
	}
	return parseReply(reply)
}

// replyClean is clamd's reply for a clean file.
const replyClean = "stream: OK"

// parseReply reads clamd's reply: "stream: OK", "stream: <name> FOUND" or an error.
func parseReply(reply string) (Result, error) {
	if reply == replyClean {
		return Result{}, nil
	}
	text, isStream := strings.CutPrefix(reply, "stream: ")
	if name, found := strings.CutSuffix(text, " FOUND"); isStream && found && name != "" {
		return Result{Infected: name}, nil
	}
	return Result{}, fault.Down(fmt.Errorf("scan a file: unexpected reply %q", reply))
}

// instream runs one INSTREAM command: chunks prefixed with their length, then an
// empty chunk. clamd may reply and close the connection before it has read everything.
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
		// clamd may have sent the reason, or a virus name, before it closed the connection. It has
		// not read the whole file, so it cannot be clean.
		if reply, reading := c.readReply(ctx, conn); reading == nil && reply != "" && reply != replyClean {
			return reply, nil
		}
		return "", err
	}
	return c.readReply(ctx, conn)
}

// sourceError marks an error of the file to scan, as opposed to one of clamd.
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

// extendDeadline gives the next read or write its own timeout.
func (c *Clamd) extendDeadline(ctx context.Context, conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(c.idleTimeout)); err != nil {
		return err
	}
	return ctx.Err() // ctx may have ended before SetDeadline, which then replaced its deadline
}

// readReply reads up to a NUL, or up to a newline: clamd ends an error with a
// newline if it has not yet read the command.
func (c *Clamd) readReply(ctx context.Context, conn net.Conn) (string, error) {
	if err := c.extendDeadline(ctx, conn); err != nil {
		return "", err
	}
	var reply []byte
	buf := make([]byte, 512)
	for len(reply) < maxReply {
		n, err := conn.Read(buf)
		reply = append(reply, buf[:n]...)
		if end := bytes.IndexAny(reply, "\x00\n"); end >= 0 {
			return string(reply[:end]), nil
		}
		if err != nil {
			return "", fmt.Errorf("reply ends early: %w", err)
		}
	}
	return "", errors.New("reply is too long")
}
