package bodies_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/touchline/touchline/internal/platform/bodies"
	"github.com/touchline/touchline/internal/platform/fault"
)

const kib = 1 << 10

func TestRead(t *testing.T) {
	t.Parallel()
	text := func(n int) io.Reader { return strings.NewReader(strings.Repeat("a", n)) }
	for _, tt := range []struct {
		name     string
		body     io.Reader
		declared int64
		code     string
	}{
		{"at the limit", text(1024), 1024, ""},
		{"at the limit, byte by byte", iotest.OneByteReader(text(1024)), 1024, ""},
		{"at the limit, without length", text(1024), -1, ""},
		{"above the limit", text(1025), 1025, "payload_too_large"},
		{"above the limit, without length", text(1025), -1, "payload_too_large"},
		{"ends early", iotest.ErrReader(io.ErrUnexpectedEOF), 10, "malformed_request"},
		{"fails", iotest.ErrReader(io.ErrClosedPipe), 10, "malformed_request"},
	} {
		body, err := new(bodies.Memory).Read(bodies.Holder{}, tt.body, tt.declared, 1024)
		if fault.CodeOf(err) != tt.code || (err == nil) != (len(body.Bytes) == 1024) && tt.code != "payload_too_large" {
			t.Errorf("%s: got %d bytes, %v, want the code %q", tt.name, len(body.Bytes), err, tt.code)
		}
		body.Release()
	}
}

// hold reads bodies of 64 KiB of a holder until one is refused, and returns them.
func hold(t *testing.T, m *bodies.Memory, holder bodies.Holder) (held []*bodies.Body) {
	t.Helper()
	for range 10_000 {
		body, err := m.Read(holder, strings.NewReader(strings.Repeat("x", 64*kib)), 64*kib, 64*kib)
		if err != nil {
			if body.Release(); fault.CodeOf(err) != "overloaded" {
				t.Fatal(err)
			}
			return held
		}
		held = append(held, body)
	}
	t.Fatal("no body was refused")
	return nil
}

// TestMemoryIsBounded: large bodies of one holder, of strangers and of everyone have limits, and
// short bodies are always accepted.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := new(bodies.Memory)
	var all []*bodies.Body
	strangers := 0
	for i := range 20 {
		held := hold(t, m, bodies.Holder{Address: fmt.Sprint(i)})
		if strangers += len(held); len(held) > 6<<20/(56*kib) {
			t.Errorf("one address holds %d bodies", len(held))
		}
		all = append(all, held...)
	}
	if limit := 24 << 20 / (56 * kib); strangers > limit || strangers < limit-1 {
		t.Errorf("strangers hold %d bodies of 64 KiB, want %d", strangers, limit)
	}
	accounts := 0
	for i := range 20 {
		held := hold(t, m, bodies.Holder{AccountID: fmt.Sprint(i), Address: "1"})
		accounts += len(held)
		all = append(all, held...)
	}
	if limit := 24 << 20 / (56 * kib); accounts < limit-1 || accounts > limit+1 {
		t.Errorf("accounts hold %d bodies of 64 KiB beside the bodies of strangers, want %d", accounts, limit)
	}
	short, err := m.Read(bodies.Holder{Address: "1"}, strings.NewReader(strings.Repeat("x", 8*kib-1)), 8*kib-1, 64*kib)
	if err != nil {
		t.Errorf("a short body: %v", err)
	}
	for _, body := range append(all, short) {
		body.Release()
		body.Release()
	}
	if held := hold(t, m, bodies.Holder{Address: "1"}); len(held) < 100 {
		t.Errorf("one address holds %d bodies after the others, want at least 100", len(held))
	}
}

// TestSilentBodiesHoldLittle: a client that announces much and sends little holds little.
func TestSilentBodiesHoldLittle(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m := new(bodies.Memory)
	const clients = 2000
	blocked, unblock, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	for i := range clients {
		go func() {
			silent := io.MultiReader(strings.NewReader("x"), readerFunc(func([]byte) (int, error) {
				blocked <- struct{}{}
				<-unblock
				return 0, io.EOF
			}))
			body, _ := m.Read(bodies.Holder{Address: fmt.Sprint(i)}, silent, 64*kib, 64*kib)
			body.Release()
			done <- struct{}{}
		}()
	}
	for range clients {
		<-blocked
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > clients*2*kib {
		t.Errorf("%d silent bodies hold %d KiB", clients, held>>10)
	}
	close(unblock)
	for range clients {
		<-done
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
