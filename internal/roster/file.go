package roster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// File is a file as a coach sent it, such as a spool.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

var (
	bomUTF8    = []byte("\xef\xbb\xbf")
	bomUTF16BE = []byte("\xfe\xff")
	bomUTF16LE = []byte("\xff\xfe")
)

// otherFormats are the first bytes of files that people save instead of CSV.
var otherFormats = [][]byte{
	[]byte("PK\x03\x04"),          // .xlsx, .ods
	[]byte("\xd0\xcf\x11\xe0"),    // .xls
	[]byte("%PDF"),                // .pdf
	[]byte("\x89PNG"),             // pictures of a list
	[]byte("\xff\xd8\xff"),        //
	[]byte("{\\rtf"), []byte("<"), // texts and pages
}

// source is a file whose encoding is known. Its text is read as a stream, as often as needed.
type source struct {
	file     io.ReaderAt
	start    int64 // after the byte order mark
	size     int64
	encoding encoding.Encoding // nil for UTF-8
	// guessed reports that the file says no encoding and is not UTF-8, so that it is read as
	// Windows-1252.
	guessed bool
	sha256  string
}

// errNoText is the error of a text that has a character of no text.
var errNoText = errors.New("a text with the character 0")

func errNotCSV() error {
	return fileFault("not_csv", "This file is not CSV. Open it in your spreadsheet program and save it as CSV UTF-8.")
}

// open finds the encoding of a file. It reads the file once, a part at a time.
func open(file io.ReaderAt, size int64) (source, error) {
	s := source{file: file, size: size}
	sum, utf8Text, zero, first := sha256.New(), new(utf8Check), false, make([]byte, 0, 8)
	buffer := make([]byte, 32<<10)
	for r := io.NewSectionReader(file, 0, size); ; {
		n, err := r.Read(buffer)
		part := buffer[:n]
		first = append(first, part[:min(n, cap(first)-len(first))]...)
		sum.Write(part)
		utf8Text.write(part)
		zero = zero || bytes.IndexByte(part, 0) >= 0
		if err == io.EOF {
			break
		}
		if err != nil {
			return s, fmt.Errorf("read the file: %w", err)
		}
	}
	s.sha256 = hex.EncodeToString(sum.Sum(nil))
	for _, other := range otherFormats {
		if bytes.HasPrefix(first, other) {
			return s, errNotCSV()
		}
	}
	switch {
	case bytes.HasPrefix(first, bomUTF16BE), bytes.HasPrefix(first, bomUTF16LE):
		s.encoding = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case zero:
		return s, errNotCSV()
	case bytes.HasPrefix(first, bomUTF8):
		s.start, s.encoding = int64(len(bomUTF8)), unicode.UTF8 // replaces each byte that is not UTF-8
	case !utf8Text.valid():
		s.encoding, s.guessed = charmap.Windows1252, true
	}
	return s, nil
}

// text returns the text of the file, with a line feed at the end of each line. A character that
// does not exist in the encoding becomes U+FFFD.
func (s source) text() io.Reader {
	var text io.Reader = io.NewSectionReader(s.file, s.start, s.size-s.start)
	if s.encoding != nil {
		text = transform.NewReader(text, s.encoding.NewDecoder())
	}
	return transform.NewReader(text, new(lineBreaks))
}

// utf8Check checks a text in parts.
type utf8Check struct {
	invalid bool
	rest    []byte // the begin of a character at the end of the last part
}

func (c *utf8Check) write(part []byte) {
	if c.invalid {
		return
	}
	text := append(c.rest, part...)
	end := len(text)
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				end = i
			}
			break
		}
	}
	c.invalid = !utf8.Valid(text[:end])
	c.rest = bytes.Clone(text[end:])
}

func (c *utf8Check) valid() bool { return !c.invalid && len(c.rest) == 0 }

// lineBreaks replaces CR LF and CR by LF, and refuses the character 0: UTF-32 begins like UTF-16.
type lineBreaks struct{ afterCR bool }

// Reset implements transform.Transformer.
func (t *lineBreaks) Reset() { t.afterCR = false }

// Transform implements transform.Transformer.
func (t *lineBreaks) Transform(dst, src []byte, _ bool) (nDst, nSrc int, err error) {
	for ; nSrc < len(src); nSrc++ {
		c := src[nSrc]
		if c == '\n' && t.afterCR {
			t.afterCR = false
			continue
		}
		if c == 0 {
			return nDst, nSrc, errNoText
		}
		if nDst == len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		t.afterCR = c == '\r'
		if t.afterCR {
			c = '\n'
		}
		dst[nDst] = c
		nDst++
	}
	return nDst, nSrc, nil
}

// NewFile returns a file that is in memory.
func NewFile(data []byte) File { return memoryFile{bytes.NewReader(data)} }

type memoryFile struct{ *bytes.Reader }

// Close implements File.
func (memoryFile) Close() error { return nil }
