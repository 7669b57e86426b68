package proof

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/touchline/touchline/internal/platform/fault"
)

// lastPublished returns the newest checkpoint that this process published, also before its start; nil if there is none.
func (s *Service) lastPublished() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.published != nil || s.File == "" {
		return s.published, nil
	}
	signed, err := os.ReadFile(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		signed, err = []byte{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the published checkpoint: %w", err)
	}
	s.published = signed
	return signed, nil
}

// CheckFile returns an error if File cannot be read or replaced. It writes and removes a file beside it.
func (s *Service) CheckFile() error {
	if s.File == "" {
		return nil
	}
	_, err := s.lastPublished()
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(filepath.Dir(s.File), filepath.Base(s.File)); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	return fault.Wrap(err, "check the file of LOG_CHECKPOINT")
}

// publish keeps a checkpoint outside of the database, after the commit. The next call of Number repeats it after an error.
func (s *Service) publish(signed []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(signed) == 0 || bytes.Equal(s.published, signed) {
		return nil
	}
	if len(s.published) > 0 && sizeOf(signed) < sizeOf(s.published) && nameOf(signed) == nameOf(s.published) {
		return nil // a concurrent call published a later one
	}
	if s.File != "" {
		if err := replaceFile(s.File, signed); err != nil {
			return fmt.Errorf("publish a checkpoint: %w", err)
		}
	}
	s.published = signed
	return nil
}

// replaceFile writes a file that readers see whole, the old or the new one.
func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
