package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/touchline/touchline/internal/platform/fault"
)

// ErrTooLarge means that a write would exceed the limit of a Spool.
var ErrTooLarge = errors.New("blob: upload is too large")

// Spool is a temporary file for one upload: written once from front to back, then
// read and sought as often as needed. Its content is on disk, not in memory. It is
// for one goroutine; Close removes it. Where the platform allows, the file is
// unlinked at once, so that a crash leaves nothing.
type Spool struct {
	file  *os.File
	limit int64
	size  int64
	sum   hash.Hash
	named bool
	// reading is true after the first Read or Seek; Write then fails.
	reading bool
}

// NewSpool creates a Spool of at most limit bytes in the folder dir, which it
// creates if missing. A full disk is fault.Down, here and in Write.
func NewSpool(dir string, limit int64) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.Down(err)
	}
	file, err := os.CreateTemp(dir, "spool-") // mode 0600
	if err != nil {
		return nil, fault.Down(err)
	}
	return &Spool{file: file, limit: limit, sum: sha256.New(), named: os.Remove(file.Name()) != nil}, nil
}

// Write appends p. It returns ErrTooLarge past the limit and an error after the
// first Read or Seek.
func (s *Spool) Write(p []byte) (int, error) {
	if s.reading {
		return 0, errors.New("blob: write to a spool after reading began")
	}
	if int64(len(p)) > s.limit-s.size {
		return 0, ErrTooLarge
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	s.sum.Write(p[:n])
	if err != nil {
		return n, fault.Down(fmt.Errorf("write spool: %w", err))
	}
	return n, nil
}

// Read continues at the start or at the offset of the last Seek.
func (s *Spool) Read(p []byte) (int, error) {
	if !s.reading {
		if _, err := s.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
	}
	n, err := s.file.Read(p)
	if err != nil && err != io.EOF {
		err = fault.Down(fmt.Errorf("read spool: %w", err))
	}
	return n, err
}

// ReadAt implements io.ReaderAt. It does not change the offset of Read.
func (s *Spool) ReadAt(p []byte, at int64) (int, error) {
	n, err := s.file.ReadAt(p, at)
	if err != nil && err != io.EOF {
		err = fault.Down(fmt.Errorf("read spool: %w", err))
	}
	return n, err
}

// Seek implements io.Seeker.
func (s *Spool) Seek(offset int64, whence int) (int64, error) {
	s.reading = true
	n, err := s.file.Seek(offset, whence)
	if err != nil {
		return n, fmt.Errorf("seek spool: %w", err)
	}
	return n, nil
}

// Size returns the number of bytes written.
func (s *Spool) Size() int64 { return s.size }

// SHA256 returns the hash of the content in lower-case hex.
func (s *Spool) SHA256() string { return hex.EncodeToString(s.sum.Sum(nil)) }

// Close removes the file. A second call does nothing.
func (s *Spool) Close() error {
	err := s.file.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
