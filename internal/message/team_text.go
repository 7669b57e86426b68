package message

import (
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
		text = WithoutLinks(withoutEmphasis(text))
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

// ChatParts returns how many WhatsApp templates a coach's message takes.
func ChatParts(m TeamMessage) int {
	return len(teamWhatsApp(Message{Kind: Team, Team: m, Language: m.Language}))
}
