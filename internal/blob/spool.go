package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/touchline/touchline/internal/fault"
)

// ErrTooLarge says that more was written to a Spool than it may hold.
var ErrTooLarge = errors.New("blob: more than may be uploaded")

// Spool is a temporary file for one upload: written once, front to back, then
// read and sought as often as wanted. What it holds is on disk, not in memory. It
// belongs to one goroutine, and Close removes it; where the platform lets us, it
// has no name from the start, so that a crash leaves nothing.
type Spool struct {
	file  *os.File
	limit int64
	size  int64
	sum   hash.Hash
	named bool
	// read is where reading goes on; -1 until reading began.
	reading bool
}

// NewSpool makes a Spool of at most limit bytes in the folder dir, which is made
// where there is none. A disk without room is fault.Down, here and in Write.
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

// Write adds p. It is ErrTooLarge as soon as there is more than the limit; what
// is written after the first Read or Seek is refused.
func (s *Spool) Write(p []byte) (int, error) {
	if s.reading {
		return 0, errors.New("blob: the spool is being read")
	}
	if int64(len(p)) > s.limit-s.size {
		return 0, ErrTooLarge
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	s.sum.Write(p[:n])
	if err != nil {
		return n, fault.Down(fmt.Errorf("spool an upload: %w", err))
	}
	return n, nil
}

// Read reads on from the start or from where Seek went.
func (s *Spool) Read(p []byte) (int, error) {
	if !s.reading {
		if _, err := s.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
	}
	n, err := s.file.Read(p)
	if err != nil && err != io.EOF {
		err = fault.Down(fmt.Errorf("read a spool: %w", err))
	}
	return n, err
}

// ReadAt implements io.ReaderAt, apart from where Read is.
func (s *Spool) ReadAt(p []byte, at int64) (int, error) {
	n, err := s.file.ReadAt(p, at)
	if err != nil && err != io.EOF {
		err = fault.Down(fmt.Errorf("read a spool: %w", err))
	}
	return n, err
}

// Seek implements io.Seeker.
func (s *Spool) Seek(offset int64, whence int) (int64, error) {
	s.reading = true
	n, err := s.file.Seek(offset, whence)
	if err != nil {
		return n, fmt.Errorf("seek in a spool: %w", err)
	}
	return n, nil
}

// Size is how many bytes were written.
func (s *Spool) Size() int64 { return s.size }

// SHA256 is the hash of what was written, in lower-case hex.
func (s *Spool) SHA256() string { return hex.EncodeToString(s.sum.Sum(nil)) }

// Close removes the file. It may be called again.
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
