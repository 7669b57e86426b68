// Package bodies bounds the memory that bodies of requests take, for the API and for pages.
// Files are spooled to disk instead; see package upload.
package bodies

import (
	"errors"
	"io"
	"sync"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
)

const (
	// freeBytes of each body are not counted: nearly every body is shorter, and so is accepted
	// whatever other clients send. 6,000 connections can hold 48 MiB of them.
	freeBytes = 8 << 10
	// maxBytes limits the rest of all bodies in memory, and maxHolder the rest of one holder's.
	// Callers without an account have at most half.
	maxBytes  = 48 << 20
	maxHolder = maxBytes / 8
	// firstBuffer is the memory of a body of which nothing has arrived.
	firstBuffer = 512
)

// Memory counts the memory of bodies. It is safe for concurrent use. A nil Memory has no limit.
type Memory struct {
	mu       sync.Mutex
	all      int
	strange  int // of callers without an account
	byHolder map[Holder]int
}

// Holder is the caller whose body is in memory.
type Holder struct {
	// AccountID is the id of the account, or "".
	AccountID string
	// Address is the client's network; it counts if AccountID is "".
	Address string
}

// Body is a body in memory.
type Body struct {
	Bytes []byte

	memory  *Memory
	holder  Holder
	counted int
}

// Read reads a body of at most limit bytes. declared is its Content-Length, or -1. Memory is
// taken as the bytes arrive, so that a client that announces much and sends little holds
// little. The caller must call Release when the bytes are no longer needed, also after an
// error: payload_too_large, malformed_request, or overloaded if no memory is left. After an
// error the rest of the body is unread.
func (m *Memory) Read(holder Holder, source io.Reader, declared, limit int64) (*Body, error) {
	if holder.AccountID != "" {
		holder.Address = ""
	}
	b := &Body{memory: m, holder: holder}
	if declared > limit {
		return b, errTooLarge(limit)
	}
	most := int(limit) + 1 // one byte more than the limit, to learn whether the body is longer
	if declared >= 0 {
		most = int(declared) + 1 // and here to read its end
	}
	b.Bytes = make([]byte, 0, min(firstBuffer, most))
	for {
		if len(b.Bytes) == cap(b.Bytes) {
			if err := b.grow(min(2*cap(b.Bytes), max(most, cap(b.Bytes)+1))); err != nil {
				return b, err
			}
		}
		n, err := source.Read(b.Bytes[len(b.Bytes):cap(b.Bytes)])
		b.Bytes = b.Bytes[:len(b.Bytes)+n]
		switch {
		case int64(len(b.Bytes)) > limit:
			return b, errTooLarge(limit)
		case err == io.EOF:
			return b, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return b, wire.Malformed("The body ends before it is complete.")
		case err != nil:
			return b, wire.Malformed("The body cannot be read.").Because(err)
		}
	}
}

// grow gives the body a buffer of size bytes.
func (b *Body) grow(size int) error {
	if counted := size - freeBytes; counted > b.counted {
		if !b.memory.take(b.holder, counted-b.counted) {
			return fault.Overloaded("Too many large requests are being handled. Send it again.")
		}
		b.counted = counted
	}
	b.Bytes = append(make([]byte, 0, size), b.Bytes...)
	return nil
}

// Release returns the memory. It may be called twice.
func (b *Body) Release() {
	if b.counted > 0 {
		b.memory.release(b.holder, b.counted)
	}
	b.Bytes, b.counted = nil, 0
}

// take counts n more bytes of a holder. It returns false if they are more than a limit.
func (m *Memory) take(holder Holder, n int) bool {
	if m == nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	stranger := holder.AccountID == ""
	if m.all+n > maxBytes || m.byHolder[holder]+n > maxHolder || stranger && m.strange+n > maxBytes/2 {
		return false
	}
	if m.byHolder == nil {
		m.byHolder = map[Holder]int{}
	}
	m.all += n
	m.byHolder[holder] += n
	if stranger {
		m.strange += n
	}
	return true
}

func (m *Memory) release(holder Holder, n int) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all -= n
	if m.byHolder[holder] -= n; m.byHolder[holder] == 0 {
		delete(m.byHolder, holder)
	}
	if holder.AccountID == "" {
		m.strange -= n
	}
}

func errTooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "payload_too_large", "A body may have at most %d KiB.", limit>>10)
}
