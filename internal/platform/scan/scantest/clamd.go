// Package scantest provides a fake clamd for tests.
package scantest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
)

// Eicar is the standard antivirus test file. It is split here so that scanners do
// not flag this source file.
var Eicar = `X5O!P%@AP[4\PZX54(P^)7CC)7}$` + `EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`

// Clamd is a fake clamd that reports Eicar as the only virus.
type Clamd struct {
	testing.TB
	// Limit is the largest accepted file, in bytes.
	Limit int
	// Reply, if set, handles every connection after the command.
	Reply func(net.Conn)
}

// Listen starts the fake until the test ends and returns its address in the form of
// the setting CLAMAV.
func (c *Clamd) Listen(network, address string) string {
	c.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(conn)
		}
	}()
	return network + ":" + l.Addr().String()
}

func (c *Clamd) serve(conn net.Conn) {
	defer conn.Close()
	command := make([]byte, len("zINSTREAM\x00"))
	if _, err := io.ReadFull(conn, command); err != nil || string(command) != "zINSTREAM\x00" {
		_, _ = io.WriteString(conn, "UNKNOWN COMMAND\x00")
		return
	}
	if c.Reply != nil {
		c.Reply(conn)
		return
	}
	var all bytes.Buffer
	for {
		var n uint32
		if err := binary.Read(conn, binary.BigEndian, &n); err != nil {
			return
		}
		if n == 0 {
			break
		}
		if n > 64<<10 {
			c.Errorf("chunk of %d bytes, want at most 64 KiB", n)
		}
		if all.Len()+int(n) > c.Limit {
			_, _ = io.WriteString(conn, "INSTREAM size limit exceeded. ERROR\x00")
			return
		}
		if _, err := io.CopyN(&all, conn, int64(n)); err != nil {
			return
		}
	}
	if bytes.Contains(all.Bytes(), []byte(Eicar)) {
		_, _ = io.WriteString(conn, "stream: Win.Test.EICAR_HDB-1 FOUND\x00")
		return
	}
	_, _ = io.WriteString(conn, "stream: OK\x00")
}
