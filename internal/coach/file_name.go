package coach

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The types of files that documents have, by their content.
const (
	PDF  = "application/pdf"
	JPEG = "image/jpeg"
	PNG  = "image/png"
	WebP = "image/webp"
)

// extensions are the endings of each type, the usual one first.
var extensions = map[string][]string{
	PDF:  {".pdf"},
	JPEG: {".jpg", ".jpeg", ".jpe", ".jfif"},
	PNG:  {".png"},
	WebP: {".webp"},
}

// FileName makes a name that a stranger sent harmless: no folders, no characters
// that control, turn round or mean something to a shell or a file system, at most
// MaxFileName bytes, and an extension that fits the type. It is only ever shown.
func FileName(sent, mediaType string) string {
	sent = strings.ToValidUTF8(sent, "")
	sent = sent[strings.LastIndexAny(sent, `/\`)+1:]
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) && r != '\n' && r != '\r':
			return ' '
		// What cannot be seen: controls, marks of direction, private and unassigned ones.
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
		name = strings.TrimSuffix(name, path.Ext(name)) // report.pdf.exe was a report.pdf
	}
	if fits() {
		extension = strings.ToLower(path.Ext(name))
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	name = strings.Trim(name, ". ")
	if name == "" {
		name = "document"
	}
	return truncate(name, MaxFileName-len(extension)) + extension
}

// isEnding says whether an extension looks like one of a file, not like a part of a sentence.
func isFileExtension(extension string) bool {
	return len(extension) >= 2 && len(extension) <= 6 && !strings.ContainsFunc(extension[1:], func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) && strings.ContainsFunc(extension, unicode.IsLetter)
}

// clip cuts s to at most n bytes, between characters.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], ". ")
}

// titleOf is the title of a document whose coach gave it none.
func defaultTitle(fileName string) string {
	title := []rune(strings.TrimSpace(strings.TrimSuffix(fileName, path.Ext(fileName))))
	if len(title) > MaxTitle {
		title = title[:MaxTitle]
	}
	return strings.TrimSpace(string(title))
}
