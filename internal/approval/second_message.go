package approval

import (
	"github.com/touchline/touchline/internal/platform/actor"
)

// Repeats reports whether a second message follows the decision of a record.
func (r Rules) Repeats(p *Player, h *Record) bool {
	return r.SecondMessage > 0 && h != nil && h.Action == Approve && h.Party == actor.Guardian && r.NeedsGuardian(p.Student.DateOfBirth, h.At)
}

// noteTextPlus makes the second message the method of a yes that has no other proof.
func (r Rules) noteTextPlus(p *Player, h *Record) {
	if r.Repeats(p, h) && h.Proof.Method == "" {
		h.Proof = AdultProof{Method: TextPlus, Provider: "second_message", NameFit: "unknown", At: h.At}
	}
}
