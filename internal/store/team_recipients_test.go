package store_test

import (
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/conversation"
)

// TestRecipientIsFormerGuardian changes the guardian after a message: its recipients must not have
// the name of the new guardian, who did not get it.
func TestRecipientIsFormerGuardian(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		a := p.add(c, "Asha Rao", number(2), "")
		m, err := p.messages(0).Send(bg, c, conversation.Draft{To: conversation.Target{All: true}, Audience: conversation.ToBoth, Text: "Training is at 5.", Channels: []conversation.Channel{conversation.SMS}})
		ok(p, err)
		p.expand()
		names := func(guardian string) {
			p.Helper()
			list, err := p.messages(0).Recipients(bg, c, m.ID, 0, 5)
			if err != nil || len(list) != 2 || list[0].Name != guardian || list[1].Name != "Asha Rao" {
				p.Errorf("got %+v, %v; want %q and the student", list, err, guardian)
			}
		}
		names(mother(number(2)).Name)
		_, err = p.Edit(bg, c, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Name: ptr("Other Guardian"), Number: ptr(number(3))}})
		ok(p, err)
		names("")
	})
}
