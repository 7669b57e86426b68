// Package scantest stands in for a virus scanner in tests: no real one is at hand
// everywhere.
package scantest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
)

// Eicar is the harmless file that every scanner finds, put together here so that
// none finds this one.
var Eicar = `X5O!P%@AP[4\PZX54(P^)7CC)7}$` + `EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`

// Clamd is a stand-in that speaks clamd's protocol and finds Eicar alone.
type Clamd struct {
	testing.TB
	// Limit is how many bytes it takes.
	Limit int
	// Say, where set, is its answer to everything.
	Say func(net.Conn)
}

// Listen returns the address, as the setting CLAMAV wants it, at which it listens
// until the test ends.
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
	if c.Say != nil {
		c.Say(conn)
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
			c.Errorf("a piece of %d bytes", n)
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
