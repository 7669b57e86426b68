package mail

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxEncoded is how many bytes of text one encoded word holds: it has at most 75 characters (RFC 2047, section 2).
const maxEncoded = 45

// header returns the text of a header. Text that looks like an encoded word ("=?utf-8?q?evil=2Ecom?=") is encoded itself:
// a mail client would decode it (RFC 2047, section 5). Line breaks and other control characters become spaces. Every
// header with words of a person goes through it, or through phrase if an address follows.
func header(text string) string {
	text = oneLine(text)
	if !strings.Contains(text, "=?") {
		return text // go-mail encodes all but ASCII
	}
	var words []string
	for len(text) > 0 {
		end := min(maxEncoded, len(text))
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end--
		}
		words = append(words, "=?UTF-8?B?"+base64.StdEncoding.EncodeToString([]byte(text[:end]))+"?=")
		text = text[end:]
	}
	return strings.Join(words, " ")
}

// phrase returns a name before an address, in From. Mail clients decode an encoded word there also inside of quotation marks, so
// none is left.
func phrase(text string) string {
	return strings.NewReplacer("=?", "= ?", "?=", "? =").Replace(oneLine(text))
}

// oneLine replaces line breaks and other control characters by spaces.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}
