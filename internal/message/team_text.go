package message

import (
	"regexp"
	"strings"
	"unicode"
)

// TeamMessage is a message of a coach to a guardian or student, with the values for its text.
type TeamMessage struct {
	CoachName string
	Text      string
	// StudentName is set for the copy that a guardian gets of a message to a student.
	StudentName string
	// Restricted removes links and numbers and says how to stop: the recipient never
	// approved.
	Restricted bool
	// StopURL is where the recipient can stop the messages of the coach.
	StopURL string
	// Language is the recipient's, for the words around Text; "" is the default.
	Language string
	// Replied is true if the recipient wrote by WhatsApp less than ChatWindow ago.
	Replied bool
}

// StopURL returns the page from which a person stops the messages of a coach. base is the
// address of the service.
func StopURL(base string) string { return base + "/me" }

// TeamText renders m for a channel that leaves the app. It begins with the name of the
// coach. It is empty if nothing visible is left of the text.
func TeamText(m TeamMessage) string {
	who, text := m.parts()
	if text == "" {
		return ""
	}
	text = who + ": " + text
	if m.Restricted {
		text += "\n" + textsIn(m.Language).byKey["team.stop"] + m.StopURL
	}
	return text
}

// parts returns the author and the text, which is empty if nothing visible is left of it.
func (m TeamMessage) parts() (who, text string) {
	text = strings.TrimSpace(strings.Map(visibleLine, m.Text))
	if m.Restricted {
		text = WithoutLinks(text)
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) {
		return "", ""
	}
	w := textsIn(m.Language)
	who = w.yourCoach(m.CoachName)
	if m.StudentName != "" {
		who = w.fill("team.to_student", map[string]string{"coach": who, "student": w.student(m.StudentName)})
	}
	return who, text
}

// visibleLine is visible, but keeps line breaks.
func visibleLine(r rune) rune {
	if r == '\n' {
		return r
	}
	return visible(r)
}

// dayOfMonth and month are parts of calendarDay.
const dayOfMonth, month = `(?:0?[1-9]|[12]\d|3[01])`, `(?:0?[1-9]|1[0-2])`

var (
	// numberRun matches digits and what people write between the digits of a phone number,
	// also joiners and marks, which show nothing or make a digit an emoji.
	numberRun = regexp.MustCompile(`\+?[(]?\p{Nd}(?:[\p{Nd}\pM\pZ()./\-–\x{200c}\x{200d}]*\p{Nd}\pM*)?`)
	// calendarDay matches a day, whose digits are not a phone number: 12.05.2026, 5/25/26, 2026-05-12.
	calendarDay = regexp.MustCompile(`\b(?:(?:` + dayOfMonth + `[./-]` + month + `|` + month + `[./-]` + dayOfMonth + `)[./-](?:19|20)?\d\d|(?:19|20)\d\d-` + month + `-` + dayOfMonth + `)\b`)
	// ipAddress matches an IPv4 address.
	ipAddress = regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}\b`)
)

// phoneDigits is the least number of digits that count as a phone number.
const phoneDigits = 7

// WithoutLinks removes from a text what a phone turns into a link, and phone numbers. Times,
// days and small numbers stay.
func WithoutLinks(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		var kept []string
		for _, word := range strings.Fields(line) {
			kept = append(kept, splitLink(word)...)
		}
		line = numberRun.ReplaceAllStringFunc(strings.Join(kept, " "), func(run string) string {
			if digits(calendarDay.ReplaceAllString(run, "")) >= phoneDigits {
				return " "
			}
			return run
		})
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// splitLink drops a URL, an IP address and an e-mail address, and splits a domain at its dots.
// Other words stay as they are.
func splitLink(word string) []string {
	lower := strings.ToLower(word)
	dotted := false
	runes := []rune(word)
	for i, r := range runes {
		// A part of a domain can also end with a mark, a joiner or a symbol.
		if isDot(r) && i > 0 && i+1 < len(runes) && !isDot(runes[i-1]) && unicode.IsLetter(runes[i+1]) {
			dotted = true
		}
	}
	switch {
	case strings.Contains(lower, "://"), strings.HasPrefix(lower, "www."), strings.ContainsAny(word, "@＠"), ipAddress.MatchString(word):
		return nil
	case !dotted:
		return []string{word}
	case strings.ContainsAny(word, `/\:?#／：`):
		return nil
	}
	return strings.FieldsFunc(word, isDot)
}
