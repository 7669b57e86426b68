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

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/scan"
	"github.com/touchline/touchline/internal/platform/scan/scantest"
)

var ctx = context.Background()

// TestScan: clean files are accepted and a virus is found, by the fake over TCP and over a Unix
// socket, and by the clamd at TOUCHLINE_TEST_CLAMAV if that is set.
func TestScan(t *testing.T) {
	t.Parallel()
	fake := &scantest.Clamd{TB: t, Limit: 1 << 20}
	addresses := []string{fake.Listen("tcp", "127.0.0.1:0"), fake.Listen("unix", filepath.Join(t.TempDir(), "s"))}
	if clamd := os.Getenv("TOUCHLINE_TEST_CLAMAV"); clamd != "" {
		addresses = append(addresses, clamd)
	}
	for _, address := range addresses {
		testCleanAndInfected(t, address, 1<<20)
	}
}

func testCleanAndInfected(t *testing.T, address string, limit int) {
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

func TestScanFailureIsUnavailable(t *testing.T) {
	t.Parallel()
	const file = "some bytes"
	reply := func(text string) func(net.Conn) {
		return func(conn net.Conn) { _, _ = io.WriteString(conn, text) }
	}
	for name, handle := range map[string]func(net.Conn){
		"empty reply":                     reply(""),
		"garbage":                         reply("\xff\xfe\x00"),
		"truncated":                       reply("stream: O"),
		"endless reply":                   func(conn net.Conn) { _, _ = conn.Write(bytes.Repeat([]byte("stream: OK"), 10_000)) },
		"clamd error":                     reply("stream: Can't allocate memory ERROR\x00"),
		"too large":                       reply("INSTREAM size limit exceeded. ERROR\x00"),
		"FOUND without a name":            reply("stream:  FOUND\x00"),
		"reply to another command, FOUND": reply("fd[10]: Win.Test FOUND\x00"),
		"reply to another command, OK":    reply("OK\x00"),
		"OK with trailing text":           reply("stream: OK, or not\x00"),
		"silence":                         func(net.Conn) { time.Sleep(time.Second) }, // longer than the scanner waits
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scanner, err := scan.New((&scantest.Clamd{TB: t, Reply: handle}).Listen("tcp", "127.0.0.1:0"))
			if err != nil {
				t.Fatal(err)
			}
			v, err := scanner.WithIdleTimeout(200*time.Millisecond).Scan(ctx, strings.NewReader(file))
			if fault.KindOf(err) != fault.Unavailable || v.Infected != "" {
				t.Errorf("got %+v, %v; want unavailable", v, err)
			}
		})
	}
	t.Run("file above the size limit", func(t *testing.T) {
		scanner, _ := scan.New((&scantest.Clamd{TB: t, Limit: 100_000}).Listen("tcp", "127.0.0.1:0"))
		_, err := scanner.Scan(ctx, io.LimitReader(zeros{}, 10<<20))
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("OK before the end of the file", func(t *testing.T) {
		early := func(conn net.Conn) {
			_, _ = io.WriteString(conn, "stream: OK\x00")
			_ = conn.(*net.TCPConn).CloseRead()
		}
		scanner, _ := scan.New((&scantest.Clamd{TB: t, Reply: early}).Listen("tcp", "127.0.0.1:0"))
		if v, err := scanner.Scan(ctx, io.LimitReader(zeros{}, 100<<20)); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("got %+v, %v; want unavailable", v, err)
		}
	})
	t.Run("connection refused", func(t *testing.T) {
		for _, address := range []string{"tcp:127.0.0.1:1", "unix:" + filepath.Join(t.TempDir(), "s")} {
			scanner, _ := scan.New(address)
			if _, err := scanner.Scan(ctx, strings.NewReader(file)); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("%s: %v", address, err)
			}
		}
	})
	t.Run("file read error", func(t *testing.T) {
		scanner, _ := scan.New((&scantest.Clamd{TB: t, Limit: 100_000}).Listen("tcp", "127.0.0.1:0"))
		broken := errors.New("disk")
		if _, err := scanner.Scan(ctx, iotest.ErrReader(broken)); !errors.Is(err, broken) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("caller cancels", func(t *testing.T) {
		scanner, _ := scan.New((&scantest.Clamd{TB: t, Reply: func(net.Conn) { <-t.Context().Done() }}).Listen("tcp", "127.0.0.1:0"))
		cancelled, cancel := context.WithCancel(ctx)
		time.AfterFunc(50*time.Millisecond, cancel)
		if _, err := scanner.Scan(cancelled, strings.NewReader(file)); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v, want context.Canceled", err)
		}
	})
	for _, address := range []string{"", "off", "unix:", "tcp:", "udp:x"} {
		if _, err := scan.New(address); err == nil {
			t.Errorf("New(%q) succeeded, want an error", address)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
