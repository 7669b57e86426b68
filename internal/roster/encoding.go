package roster

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

var (
	bomUTF8    = []byte("\xef\xbb\xbf")
	bomUTF16BE = []byte("\xfe\xff")
	bomUTF16LE = []byte("\xff\xfe")
)

// decode returns the text of a file. guessed reports that the file says no encoding and
// is not UTF-8, so that it was read as Windows-1252. A character that does not exist in
// the encoding becomes U+FFFD.
func decode(data []byte) (text string, guessed bool, err error) {
	var from encoding.Encoding
	switch {
	case bytes.HasPrefix(data, bomUTF8):
		data = data[len(bomUTF8):]
		from = unicode.UTF8
	case bytes.HasPrefix(data, bomUTF16BE), bytes.HasPrefix(data, bomUTF16LE):
		from = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case utf8.Valid(data):
		return string(data), false, nil
	default:
		guessed, from = true, charmap.Windows1252
	}
	decoded, err := from.NewDecoder().Bytes(data)
	return string(decoded), guessed, err
}

// otherFormats are the first bytes of files that people save instead of CSV.
var otherFormats = [][]byte{
	[]byte("PK\x03\x04"),          // .xlsx, .ods
	[]byte("\xd0\xcf\x11\xe0"),    // .xls
	[]byte("%PDF"),                // .pdf
	[]byte("\x89PNG"),             // pictures of a list
	[]byte("\xff\xd8\xff"),        //
	[]byte("{\\rtf"), []byte("<"), // texts and pages
}

// isOtherFormat reports whether data is not a text of cells.
func isOtherFormat(data []byte) bool {
	for _, start := range otherFormats {
		if bytes.HasPrefix(data, start) {
			return true
		}
	}
	utf16 := bytes.HasPrefix(data, bomUTF16BE) || bytes.HasPrefix(data, bomUTF16LE)
	return !utf16 && bytes.IndexByte(data, 0) >= 0
}
