package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"sync"

	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/picture"
	"github.com/touchline/touchline/internal/platform/upload"
)

// fakeFiles is a file store that records the size of each key.
type fakeFiles struct {
	blob.Store
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

func (fakeProcessor) Type(file upload.File) (string, error) {
	if file.Size()%2 == 1 {
		return picture.JPEG, nil
	}
	return picture.PDF, nil
}

func (fakeProcessor) Scan(context.Context, upload.File) error { return nil }

func (fakeProcessor) Resize(_ context.Context, file upload.File, sizes bool) ([]document.Rendition, error) {
	rendition := func(name string, size int) document.Rendition {
		return document.Rendition{File: newFakeFile(size), Closer: io.NopCloser(nil), Name: name, MediaType: picture.JPEG, Width: 2, Height: 1}
	}
	if !sizes {
		return []document.Rendition{rendition("", int(file.Size()))}, nil
	}
	return []document.Rendition{rendition("large", int(file.Size())), rendition("medium", 2), rendition("small", 1)}, nil
}
