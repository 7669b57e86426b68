package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"sync"

	"github.com/touchline/touchline/internal/coach"
)

// fakeFiles is a file store that records the size of each key.
type fakeFiles struct {
	mu    sync.Mutex
	sizes map[string]int64
}

func (m *fakeFiles) Put(_ context.Context, key string, _ io.ReadSeeker, size int64, _ string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sizes[key] = size
	return nil
}

func (m *fakeFiles) Open(context.Context, string) (io.ReadSeekCloser, int64, error) {
	return nil, 0, errors.New("not read here")
}

func (m *fakeFiles) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sizes, key)
	return nil
}

// fakeFile is an upload of zeros.
type fakeFile struct {
	*bytes.Reader
	sum string
}

func newFakeFile(size int) fakeFile {
	b := make([]byte, size)
	sum := sha256.Sum256(b)
	return fakeFile{bytes.NewReader(b), hex.EncodeToString(sum[:])}
}

func (p fakeFile) SHA256() string { return p.sum }

// fakeProcessor takes files of odd size for pictures and makes three sizes of them.
type fakeProcessor struct{}

func (fakeProcessor) Type(file coach.File) (string, error) {
	if file.Size()%2 == 1 {
		return coach.JPEG, nil
	}
	return coach.PDF, nil
}

func (fakeProcessor) Scan(context.Context, coach.File) error { return nil }

func (fakeProcessor) Resize(_ context.Context, file coach.File, sizes bool) ([]coach.Rendition, error) {
	rendition := func(name string, size int) coach.Rendition {
		return coach.Rendition{File: newFakeFile(size), Closer: io.NopCloser(nil), Name: name, MediaType: coach.JPEG, Width: 2, Height: 1}
	}
	if !sizes {
		return []coach.Rendition{rendition("", int(file.Size()))}, nil
	}
	return []coach.Rendition{rendition("large", int(file.Size())), rendition("medium", 2), rendition("small", 1)}, nil
}
