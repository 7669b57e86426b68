package player

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// WordingOf returns the Wording of a question in a language.
func (s *Service) WordingOf(language, text string) approval.Wording {
	sum := sha256.Sum256([]byte(text))
	w := approval.Wording{Language: language, TextHash: hex.EncodeToString(sum[:])}
	if s.NoticeHash != nil {
		w.NoticeHash = s.NoticeHash(language)
	}
	return w
}

// wordingFor returns w, or for a caller of the API the Wording of the notification with which the API
// asks: it does not know what an app showed. Notifications of the API are in the default language.
func (s *Service) wordingFor(by actor.Actor, p *approval.Player, w approval.Wording) approval.Wording {
	if w.Language != "" || by.Via != actor.ViaAPI {
		return w
	}
	drafts := message.Plan(p.NewEvent(event.Requested, p.SeenBy(by, by.Role)), s.DB.Settings().Brand)
	asked := drafts[len(drafts)-1]
	sent := s.WordingOf(language.English, asked.Title+"\n"+asked.Body)
	sent.Version = w.Version
	return sent
}
