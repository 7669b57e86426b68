package approval

import (
	"crypto/sha256"
	"encoding/hex"

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
	if w != (Wording{}) || by.Via != actor.ViaAPI {
		return w
	}
	drafts := message.Plan(p.newEvent(event.Requested, by.Role), s.DB.Settings().Brand)
	asked := drafts[len(drafts)-1]
	return s.WordingOf(message.Languages[0], asked.Title+"\n"+asked.Body)
}
