package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
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

// withShown returns w with what p shows now. If the party saw another version of its open request, only the language of w
// is right.
func (p *Player) withShown(party *Party, w Wording) Wording {
	switch r := party.OpenRequest(); {
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

// WordingOf returns the Wording of a question in a language.
func (s *Service) WordingOf(language, text string) Wording {
	sum := sha256.Sum256([]byte(text))
	w := Wording{Language: language, TextHash: hex.EncodeToString(sum[:])}
	if s.NoticeHash != nil {
		w.NoticeHash = s.NoticeHash(language)
	}
	return w
}

// wordingFor returns w, or for a caller of the API the Wording of the notification with which the API
// asks: it does not know what an app showed. Notifications of the API are in the default language.
func (s *Service) wordingFor(by actor.Actor, p *Player, w Wording) Wording {
	if w.Language != "" || by.Via != actor.ViaAPI {
		return w
	}
	drafts := message.Plan(p.newEvent(event.Requested, p.SeenBy(by, by.Role)), s.DB.Settings().Brand)
	asked := drafts[len(drafts)-1]
	sent := s.WordingOf(language.English, asked.Title+"\n"+asked.Body)
	sent.Version = w.Version
	return sent
}
