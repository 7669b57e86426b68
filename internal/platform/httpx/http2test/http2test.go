// Package http2test is an HTTP/2 client that chooses how much the server may send.
package http2test

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// AnyCertificate are the settings of TLS of a client that trusts every certificate: it calls a server on this machine.
var AnyCertificate = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // as the comment says

// Conn is the HTTP/2 connection of a client that chooses how much the server may send of each response.
type Conn struct {
	// MaxStreams is how many streams the server allows, 0 before it has said so.
	MaxStreams uint32

	conn    *tls.Conn
	mu      sync.Mutex // of writes
	framer  *http2.Framer
	block   bytes.Buffer
	encoder *hpack.Encoder
	next    uint32
}

// Event is what a server does to a stream.
type Event struct {
	Stream uint32
	// Status is set if the event is the header of the response.
	Status int
	Data   int // bytes of the body
	// Ended says that the server has sent everything, Reset that it has given up the stream.
	Ended, Reset bool
}

// New begins HTTP/2 over TLS on conn, whatever the certificate. The server may send window bytes of each response.
func New(ctx context.Context, conn net.Conn, window uint32) (*Conn, error) {
	config := AnyCertificate.Clone()
	config.NextProtos = []string{"h2"}
	encrypted := tls.Client(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	c := &Conn{conn: encrypted, framer: http2.NewFramer(encrypted, encrypted), next: 1}
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.encoder = hpack.NewEncoder(&c.block)
	if _, err := encrypted.Write([]byte(http2.ClientPreface)); err != nil {
		return nil, err
	}
	return c, c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
}

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Get opens a stream with GET and these header fields, names and values in turn.
func (c *Conn) Get(path string, fields ...string) (stream uint32, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.block.Reset()
	all := append([]string{":method", "GET", ":scheme", "https", ":authority", "t", ":path", path}, fields...)
	for i := 0; i < len(all); i += 2 {
		if err := c.encoder.WriteField(hpack.HeaderField{Name: all[i], Value: all[i+1]}); err != nil {
			return 0, err
		}
	}
	stream = c.next
	c.next += 2
	return stream, c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.block.Bytes(), EndStream: true, EndHeaders: true})
}

// Next returns the next event of a stream. It acknowledges settings and pings.
func (c *Conn) Next() (Event, error) {
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return Event{}, err
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			status, _ := strconv.Atoi(f.PseudoValue("status"))
			return Event{Stream: f.StreamID, Status: status, Ended: f.StreamEnded()}, nil
		case *http2.DataFrame:
			return Event{Stream: f.StreamID, Data: len(f.Data()), Ended: f.StreamEnded()}, nil
		case *http2.RSTStreamFrame:
			return Event{Stream: f.StreamID, Reset: true}, nil
		case *http2.SettingsFrame:
			if n, ok := f.Value(http2.SettingMaxConcurrentStreams); ok {
				c.MaxStreams = n
			}
			if !f.IsAck() {
				err = c.write(c.framer.WriteSettingsAck)
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				data := f.Data
				err = c.write(func() error { return c.framer.WritePing(true, data) })
			}
		}
		if err != nil {
			return Event{}, err
		}
	}
}

func (c *Conn) write(frame func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return frame()
}
