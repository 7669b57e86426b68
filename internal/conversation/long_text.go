package conversation

import (
	"strings"

	"github.com/touchline/touchline/internal/message"
)

// LongText is what makes a message longer than its letters need.
type LongText struct {
	// Characters are those that take more room; none if the message takes as many SMS without them.
	Characters []message.LongCharacter
	// Text has replacements in their place, and Segments is how many SMS it takes. Text is "" if that saves none.
	Text     string
	Segments int
}

// maxLongCharacters is how many characters a text may have that take more room and have no replacement. A text with more
// is in another script.
const maxLongCharacters = 5

// Long returns what makes the message longer than its letters need. Only messages that can leave by SMS count.
func (p *Plan) Long() LongText {
	var long LongText
	var without string
	long.Characters, long.Text, without = message.LongCharacters(p.draft.Text)
	fixed := 0
	for _, c := range long.Characters {
		if !c.Replaceable {
			fixed++
		}
	}
	written, least := 0, 0
	for _, r := range p.Recipients {
		for _, s := range r.Sends {
			if s.Reason == "" && s.Channel != InApp && !s.Stays {
				written += s.Segments
				long.Segments += p.segmentsOf(r, s, long.Text)
				least += p.segmentsOf(r, s, without)
			}
		}
	}
	if least >= written || fixed > maxLongCharacters {
		return LongText{}
	}
	if long.Segments >= written {
		long.Text, long.Segments = "", 0
	}
	return long
}

// segmentsOf returns how many segments a message takes with another text.
func (p *Plan) segmentsOf(r Recipient, s Send, text string) int {
	if text == p.draft.Text || strings.TrimSpace(text) == "" {
		return s.Segments
	}
	return p.segments(outgoing(p.coachName, text, addressee{EverApproved: !s.Restricted, Copy: r.Copy, StudentName: r.StudentName, Language: s.Language}))
}
