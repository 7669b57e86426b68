package scan_test

import (
	"bytes"
	"context"
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
	"github.com/touchline/touchline/internal/scan/scantest"
)

var ctx = context.Background()

// TestScan: clean and infected, over both kinds of socket.
func TestScan(t *testing.T) {
	t.Parallel()
	fake := &scantest.Clamd{TB: t, Limit: 1 << 20}
	for _, address := range []string{fake.Listen("tcp", "127.0.0.1:0"), fake.Listen("unix", filepath.Join(t.TempDir(), "s"))} {
		try(t, address, 1<<20)
	}
}

// TestRealClamd: the same with a real one, where TOUCHLINE_TEST_CLAMAV tells where
// it listens.
func TestRealClamd(t *testing.T) {
	address := os.Getenv("TOUCHLINE_TEST_CLAMAV")
	if address == "" {
		address = (&scantest.Clamd{TB: t, Limit: 1 << 20}).Listen("tcp", "127.0.0.1:0")
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
	if v, err := scanner.Scan(ctx, strings.NewReader(scantest.Eicar)); err != nil || !strings.Contains(strings.ToUpper(v.Infected), "EICAR") {
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
			scanner, err := scan.New((&scantest.Clamd{TB: t, Say: said}).Listen("tcp", "127.0.0.1:0"))
			if err != nil {
				t.Fatal(err)
			}
			v, err := scanner.WithIdleTimeout(200*time.Millisecond).Scan(ctx, strings.NewReader(file))
			if fault.KindOf(err) != fault.Unavailable || v.Infected != "" {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
	t.Run("large", func(t *testing.T) {
		scanner, _ := scan.New((&scantest.Clamd{TB: t, Limit: 100_000}).Listen("tcp", "127.0.0.1:0"))
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
		scanner, _ := scan.New((&scantest.Clamd{TB: t, Limit: 100_000}).Listen("tcp", "127.0.0.1:0"))
		broken := errors.New("disk")
		if _, err := scanner.Scan(ctx, iotest.ErrReader(broken)); !errors.Is(err, broken) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("the caller leaves", func(t *testing.T) {
		scanner, _ := scan.New((&scantest.Clamd{TB: t, Say: func(net.Conn) { time.Sleep(time.Second) }}).Listen("tcp", "127.0.0.1:0"))
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
