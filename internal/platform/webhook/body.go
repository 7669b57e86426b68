package webhook

import (
	"strings"
	"unicode/utf8"
)

// MaxBody is the maximum number of characters of a response body that Send returns.
const MaxBody = 1024

// text returns the first MaxBody characters of a body as valid UTF-8 without NUL, which PostgreSQL
// does not store. cut says that body does not have all of the response.
func text(body []byte, cut bool) string {
	if cut { // it may end within a character
		for n := 1; n < utf8.UTFMax && n <= len(body); n++ {
			if last := body[len(body)-n:]; utf8.RuneStart(last[0]) {
				if !utf8.FullRune(last) {
					body = body[:len(body)-n]
				}
				break
			}
		}
	}
	s := strings.ToValidUTF8(strings.ReplaceAll(string(body), "\x00", "\uFFFD"), "\uFFFD")
	count := 0
	for i := range s {
		if count == MaxBody {
			return s[:i]
		}
		count++
	}
	return s
}
