package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"time"
)

// answerTimeout is how long an answer may take before the measurement is given up.
const answerTimeout = 30 * time.Second

// conn asks over one kept connection. It reads of HTTP/1.1 what is needed to find the end of an answer, and nothing more,
// because it runs on the cores that are being measured.
type conn struct {
	address string

	tcp  net.Conn
	r    *bufio.Reader
	out  bytes.Buffer
	body []byte

	// header is the one that was written last, and how: requests of one sender share theirs.
	header  http.Header
	written []byte
}

// do sends a request and returns the answer; the body is valid until the next call. A connection that the server closed
// between two requests is opened anew.
func (c *conn) do(req *http.Request) (status int, body []byte, err error) {
	if err := c.write(req); err != nil {
		return 0, nil, err
	}
	reused := c.tcp != nil
	status, keep, err := c.exchange()
	if reused && errors.Is(err, io.EOF) {
		c.close()
		status, keep, err = c.exchange()
	}
	if err != nil || !keep {
		c.close()
	}
	return status, c.body, err
}

func (c *conn) close() {
	if c.tcp != nil {
		c.tcp.Close()
		c.tcp = nil
	}
}

// write puts the request into c.out.
func (c *conn) write(req *http.Request) error {
	c.out.Reset()
	for _, part := range []string{req.Method, " ", req.URL.RequestURI(), " HTTP/1.1\r\nHost: ", c.address, "\r\n"} {
		c.out.WriteString(part)
	}
	if req.Header != nil {
		if err := c.writeHeader(req.Header); err != nil {
			return err
		}
	}
	if req.Body == nil || req.Body == http.NoBody {
		if req.Method == http.MethodPost || req.Method == http.MethodPut || req.Method == http.MethodPatch {
			c.out.WriteString("Content-Length: 0\r\n")
		}
		c.out.WriteString("\r\n")
		return nil
	}
	defer req.Body.Close()
	if req.ContentLength <= 0 {
		return errors.New("a request with a body has to say its length")
	}
	c.out.WriteString("Content-Length: ")
	c.out.Write(strconv.AppendInt(c.out.AvailableBuffer(), req.ContentLength, 10))
	c.out.WriteString("\r\n\r\n")
	_, err := io.Copy(&c.out, req.Body)
	return err
}

// writeHeader puts a header into c.out. One that comes again is not written anew, so nobody may change it meanwhile.
func (c *conn) writeHeader(h http.Header) error {
	if reflect.ValueOf(h).Pointer() != reflect.ValueOf(c.header).Pointer() {
		var text bytes.Buffer
		if err := h.Write(&text); err != nil {
			return err
		}
		c.header, c.written = h, text.Bytes()
	}
	c.out.Write(c.written)
	return nil
}

// exchange sends what write prepared and reads the answer. keep says whether the connection may be used again.
func (c *conn) exchange() (status int, keep bool, err error) {
	if c.tcp == nil {
		if c.tcp, err = net.DialTimeout("tcp", c.address, answerTimeout); err != nil {
			return 0, false, err
		}
		c.r = bufio.NewReader(c.tcp)
	}
	if err := c.tcp.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return 0, false, err
	}
	if _, err := c.tcp.Write(c.out.Bytes()); err != nil {
		return 0, false, err
	}
	return c.read()
}

func (c *conn) read() (status int, keep bool, err error) {
	line, err := c.line()
	if err != nil {
		return 0, false, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, false, fmt.Errorf("not a status line of HTTP/1.1: %.40q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, false, fmt.Errorf("status: %w", err)
	}

	keep = true
	length, chunked := -1, false
	for {
		if line, err = c.line(); err != nil {
			return 0, false, err
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch len(name) { // most headers are none of these, and cost no more than that
		case len("Content-Length"):
			if bytes.EqualFold(name, []byte("Content-Length")) {
				if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil || length < 0 {
					return 0, false, fmt.Errorf("content length %q", value)
				}
			}
		case len("Transfer-Encoding"):
			if bytes.EqualFold(name, []byte("Transfer-Encoding")) {
				chunked = bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked"))
			}
		case len("Connection"):
			if bytes.EqualFold(name, []byte("Connection")) {
				keep = !bytes.EqualFold(bytes.TrimSpace(value), []byte("close"))
			}
		}
	}

	c.body = c.body[:0]
	switch {
	case status == http.StatusNoContent || status == http.StatusNotModified:
	case chunked:
		err = c.readChunks()
	case length >= 0:
		err = c.readBody(length)
	default:
		return 0, false, errors.New("an answer that does not say where it ends")
	}
	return status, keep, err
}

// line is the next line without its end, valid until the next read.
func (c *conn) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

func (c *conn) readBody(n int) error {
	start := len(c.body)
	if need := start + n; cap(c.body) < need {
		c.body = append(make([]byte, 0, 2*need), c.body...)
	}
	c.body = c.body[:start+n]
	_, err := io.ReadFull(c.r, c.body[start:])
	return err
}

func (c *conn) readChunks() error {
	for {
		line, err := c.line()
		if err != nil {
			return err
		}
		size, err := strconv.ParseUint(string(line), 16, 31)
		if err != nil {
			return fmt.Errorf("chunk size: %w", err)
		}
		if err := c.readBody(int(size)); err != nil {
			return err
		}
		if _, err := c.line(); err != nil {
			return err
		}
		if size == 0 {
			return nil
		}
	}
}
