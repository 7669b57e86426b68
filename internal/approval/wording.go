package approval

import (
	"strings"
)

// Wording is what a party read or heard before it answered. Its fields are empty if that is not known.
type Wording struct {
	// Language is the language of the question.
	Language string
	// TextHash is the SHA-256 of the text of the question, NoticeHash that of the notice to families in
	// Language, both in hexadecimal digits.
	TextHash, NoticeHash string
	// Version is the version of the request that was shown; 0 if that is not known.
	Version int64
	// CoachName, CoachPicture (see Player), StudentName and Batch, the names of the batches, are what was shown.
	CoachName, CoachPicture, StudentName, Batch string
}

// OtherVersion is the version of a page that showed names that are not those of now.
const OtherVersion = -1

// Known reports whether w has what was shown.
func (w Wording) Known() bool { return w.StudentName != "" }

// withShown returns w with what p shows now. If the party saw another version of its question, only the language of
// w is right.
func (p *Player) withShown(party *Party, w Wording) Wording {
	switch r := party.Question(); {
	case r != nil && !r.Shows(w.Version), w.Version == OtherVersion:
		return Wording{Language: w.Language}
	case r != nil:
		w.Version = r.Version
	default:
		w.Version = 0
	}
	var batches []string
	for _, b := range p.Batches {
		batches = append(batches, b.Name)
	}
	w.CoachName, w.CoachPicture, w.StudentName, w.Batch = p.CoachName, p.CoachPicture, p.Student.FullName, strings.Join(batches, ", ")
	return w
}
