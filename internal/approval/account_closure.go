package approval

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// ClosureEffect is the effect of the closure of a coach's account on one other account.
type ClosureEffect struct {
	AccountID string
	// Event notifies the account; nil if it is not notified.
	Event *event.Event
}

// AccountClosure returns the effect of a coach's account closure on every other
// account, ordered by account id:
//
//   - An account that approved gets one notification, which names all its students.
//   - An account that was only asked gets none, because its number may be wrong.
//   - An account that disputed a request gets none; disputes end with the account.
func AccountClosure(coachID, coachName string, players []*Player, disputants []string) []ClosureEffect {
	var effects []ClosureEffect
	for _, p := range players {
		for _, a := range p.Parties {
			if a.AccountID == "" {
				continue
			}
			effect := ClosureEffect{AccountID: a.AccountID}
			guardian := a.Name
			if a.Role != actor.Guardian {
				guardian = p.Party(actor.Guardian).Name
			}
			if a.Consent.State == Approved {
				effect.Event = &event.Event{
					Type: event.CoachLeft, Party: a.Role, PartyID: a.AccountID,
					CoachID: coachID, CoachName: coachName,
					PlayerID: p.ID, StudentName: p.Student.FullName, GuardianName: guardian,
				}
			}
			effects = append(effects, effect)
		}
	}
	for _, id := range disputants {
		effects = append(effects, ClosureEffect{AccountID: id})
	}
	slices.SortStableFunc(effects, func(a, b ClosureEffect) int { return strings.Compare(a.AccountID, b.AccountID) })
	return mergeByAccount(effects)
}

// mergeByAccount merges the sorted effects on the same account into one.
func mergeByAccount(effects []ClosureEffect) []ClosureEffect {
	var merged []ClosureEffect
	for _, e := range effects {
		last := len(merged) - 1
		switch {
		case last < 0 || merged[last].AccountID != e.AccountID:
			merged = append(merged, e)
		case merged[last].Event == nil:
			merged[last].Event = e.Event
		case e.Event != nil:
			merged[last].Event.OtherStudents = append(merged[last].Event.OtherStudents, e.Event.StudentName)
		}
	}
	return merged
}
