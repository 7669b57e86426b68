package document

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/picture"
)

// extensions are the file name extensions of each type, the usual one first.
var extensions = map[string][]string{
	picture.PDF:  {".pdf"},
	picture.JPEG: {".jpg", ".jpeg", ".jpe", ".jfif"},
	picture.PNG:  {".png"},
	picture.WebP: {".webp"},
}

// FileName makes a client's file name safe to display: no folders, no control or
// direction characters, no characters with a meaning to a shell or file system, at
// most maxFileName bytes, and an extension that matches the type.
func FileName(sent, mediaType string) string {
	sent = strings.ToValidUTF8(sent, "")
	sent = sent[strings.LastIndexAny(sent, `/\`)+1:]
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) && r != '\n' && r != '\r':
			return ' '
		// Invisible: control, direction, private and unassigned characters.
		case !unicode.IsGraphic(r):
			return -1
		case strings.ContainsRune(`:*?"<>|%`, r):
			return '_'
		}
		return r
	}, sent)
	ending := extensions[mediaType]
	if len(ending) == 0 {
		ending = []string{""}
	}
	extension := ending[0]
	fits := func() bool { return slices.Contains(ending, strings.ToLower(path.Ext(name))) }
	if !fits() && isFileExtension(path.Ext(name)) {
		name = strings.TrimSuffix(name, path.Ext(name)) // report.pdf.exe becomes report.pdf
	}
	if fits() {
		extension = strings.ToLower(path.Ext(name))
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	name = strings.Trim(name, ". ")
	if name == "" {
		name = "document"
	}
	return truncate(name, maxFileName-len(extension)) + extension
}

// isFileExtension reports whether s looks like an extension and not like the end of
// a sentence.
func isFileExtension(s string) bool {
	return len(s) >= 2 && len(s) <= 6 && !strings.ContainsFunc(s[1:], func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) && strings.ContainsFunc(s, unicode.IsLetter)
}

// truncate cuts s to at most n bytes at a character boundary.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], ". ")
}

// defaultTitle derives the title of a document without one from its file name.
func defaultTitle(fileName string) string {
	title := []rune(strings.TrimSpace(strings.TrimSuffix(fileName, path.Ext(fileName))))
	if len(title) > maxTitle {
		title = title[:maxTitle]
	}
	return strings.TrimSpace(string(title))
}
