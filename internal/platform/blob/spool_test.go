package blob_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/fault"
)

func TestSpool(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "uploads")
	s, err := blob.NewSpool(dir, 100)
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("x"), 100)
	if n, err := s.Write(data); n != 100 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := s.Write([]byte("y")); !errors.Is(err, blob.ErrTooLarge) {
		t.Errorf("write past the limit: %v, want ErrTooLarge", err)
	}
	sum := sha256.Sum256(data)
	if s.Size() != 100 || s.SHA256() != hex.EncodeToString(sum[:]) {
		t.Errorf("got %d bytes with hash %s", s.Size(), s.SHA256())
	}
	for range 2 {
		if got, err := io.ReadAll(s); err != nil || !bytes.Equal(got, data) {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
		if _, err := s.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.ReadAt(make([]byte, 10), 95); n != 5 || err != io.EOF {
		t.Errorf("read %d bytes at 95, %v; want 5, EOF", n, err)
	}
	if _, err := s.Write(nil); err == nil {
		t.Error("write after read: got no error")
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files after Close: %v, %v", left, err)
	}
	if _, err := blob.NewSpool("/dev/null/x", 1); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("invalid folder: %v, want unavailable", err)
	}
}

func TestSpoolMemory(t *testing.T) {
	s, err := blob.NewSpool(t.TempDir(), 10<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	piece := make([]byte, 32<<10)
	if got := testing.AllocsPerRun(100, func() { _, _ = s.Write(piece) }); got > 1 {
		t.Errorf("%v allocations per write, want at most 1", got)
	}
}
