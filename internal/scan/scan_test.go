package scan_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/scan"
)

// eicar is the harmless file that every scanner finds, put together here so that
// none finds this one.
var eicar = `X5O!P%@AP[4\PZX54(P^)7CC)7}$` + `EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`

// clamd is a stand-in that speaks clamd's protocol. It takes limit bytes.
type clamd struct {
	testing.TB
	limit int
	// say, where set, is its answer to everything.
	say func(net.Conn)
}

// listen returns the address at which it listens until the test ends.
func (c *clamd) listen(network, address string) string {
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

func (c *clamd) serve(conn net.Conn) {
	defer conn.Close()
	command := make([]byte, len("zINSTREAM\x00"))
	if _, err := io.ReadFull(conn, command); err != nil || string(command) != "zINSTREAM\x00" {
		_, _ = io.WriteString(conn, "UNKNOWN COMMAND\x00")
		return
	}
	if c.say != nil {
		c.say(conn)
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
		if all.Len()+int(n) > c.limit {
			_, _ = io.WriteString(conn, "INSTREAM size limit exceeded. ERROR\x00")
			return
		}
		if _, err := io.CopyN(&all, conn, int64(n)); err != nil {
			return
		}
	}
	if bytes.Contains(all.Bytes(), []byte(eicar)) {
		_, _ = io.WriteString(conn, "stream: Win.Test.EICAR_HDB-1 FOUND\x00")
		return
	}
	_, _ = io.WriteString(conn, "stream: OK\x00")
}

var ctx = context.Background()

// TestScan: clean and infected, over both kinds of socket.
func TestScan(t *testing.T) {
	t.Parallel()
	fake := &clamd{TB: t, limit: 1 << 20}
	for _, address := range []string{fake.listen("tcp", "127.0.0.1:0"), fake.listen("unix", filepath.Join(t.TempDir(), "s"))} {
		try(t, address, 1<<20)
	}
}

// TestRealClamd: the same with a real one, where TOUCHLINE_TEST_CLAMAV tells where
// it listens.
func TestRealClamd(t *testing.T) {
	address := os.Getenv("TOUCHLINE_TEST_CLAMAV")
	if address == "" {
		address = (&clamd{TB: t, limit: 1 << 20}).listen("tcp", "127.0.0.1:0")
	}
	try(t, address, 1<<20)
}

func try(t *testing.T, address string, limit int) {
	t.Helper()
	scanner, err := scan.New(address)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"empty": "", "short": "hello", "pieces": strings.Repeat("0123456789", limit/10)} {
		if v, err := scanner.Scan(ctx, strings.NewReader(file)); err != nil || v.Infected != "" {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	if v, err := scanner.Scan(ctx, strings.NewReader(eicar)); err != nil || !strings.Contains(strings.ToUpper(v.Infected), "EICAR") {
		t.Errorf("infected: %+v, %v", v, err)
	}
}

// TestAway: nothing that goes wrong makes a file clean.
func TestAway(t *testing.T) {
	t.Parallel()
	const file = "some bytes"
	say := func(answer string) func(net.Conn) {
		return func(conn net.Conn) { _, _ = io.WriteString(conn, answer) }
	}
	for name, said := range map[string]func(net.Conn){
		"nothing":        say(""),
		"garbage":        say("\xff\xfe\x00"),
		"half":           say("stream: O"),
		"endless":        func(conn net.Conn) { _, _ = conn.Write(bytes.Repeat([]byte("stream: OK"), 10_000)) },
		"an error":       say("stream: Can't allocate memory ERROR\x00"),
		"too large":      say("INSTREAM size limit exceeded. ERROR\x00"),
		"no name":        say("stream:  FOUND\x00"),
		"another's find": say("fd[10]: Win.Test FOUND\x00"),
		"OK to another":  say("OK\x00"),
		"OK and more":    say("stream: OK, or not\x00"),
		"silence":        func(net.Conn) { time.Sleep(time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scanner, err := scan.New((&clamd{TB: t, say: said}).listen("tcp", "127.0.0.1:0"))
			if err != nil {
				t.Fatal(err)
			}
			v, err := scanner.Within(200*time.Millisecond).Scan(ctx, strings.NewReader(file))
			if fault.KindOf(err) != fault.Unavailable || v.Infected != "" {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
	t.Run("large", func(t *testing.T) {
		scanner, _ := scan.New((&clamd{TB: t, limit: 100_000}).listen("tcp", "127.0.0.1:0"))
		_, err := scanner.Scan(ctx, io.LimitReader(zeros{}, 10<<20))
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("nobody listens", func(t *testing.T) {
		for _, address := range []string{"tcp:127.0.0.1:1", "unix:" + filepath.Join(t.TempDir(), "s")} {
			scanner, _ := scan.New(address)
			if _, err := scanner.Scan(ctx, strings.NewReader(file)); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("%s: %v", address, err)
			}
		}
	})
	t.Run("the file cannot be read", func(t *testing.T) {
		scanner, _ := scan.New((&clamd{TB: t, limit: 100_000}).listen("tcp", "127.0.0.1:0"))
		broken := errors.New("disk")
		if _, err := scanner.Scan(ctx, iotest.ErrReader(broken)); !errors.Is(err, broken) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("the caller leaves", func(t *testing.T) {
		scanner, _ := scan.New((&clamd{TB: t, say: func(net.Conn) { time.Sleep(time.Second) }}).listen("tcp", "127.0.0.1:0"))
		left, cancel := context.WithCancel(ctx)
		time.AfterFunc(50*time.Millisecond, cancel)
		start := time.Now()
		if _, err := scanner.Scan(left, strings.NewReader(file)); !errors.Is(err, context.Canceled) || time.Since(start) > 500*time.Millisecond {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
	for _, address := range []string{"", "off", "unix:", "tcp:", "udp:x"} {
		if _, err := scan.New(address); err == nil {
			t.Errorf("%q is no scanner", address)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
