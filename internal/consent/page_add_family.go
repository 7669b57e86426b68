package consent

import (
	"context"
	"net/url"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// offeredFamilies limits the families that the form of a new player offers: 100 take 3 KB of a page, compressed. The page of
// a player leads to the form with its family for the rest.
const offeredFamilies = 100

// familyChoice is a player whose guardians a new player can have, too.
type familyChoice struct{ ID, Child, Guardian string }

// families returns the first players with guardians in alphabetical order, one of each first guardian.
func (p pages) families(ctx context.Context, by actor.Actor) ([]familyChoice, error) {
	players, err := p.PlayersByName(ctx, by, approval.Filter{}, approval.NamePage{Limit: offeredFamilies})
	if err != nil {
		return nil, err
	}
	var choices []familyChoice
	for _, player := range players {
		if g := player.Guardian(); g != nil {
			choices = append(choices, familyChoice{player.ID, player.Student.FullName, g.Name})
		}
	}
	return choices, nil
}

// sameGuardians sets the guardians of another player of the coach in the body of a new one.
func (p pages) sameGuardians(ctx context.Context, by actor.Actor, id string, body map[string]any) error {
	sibling, err := p.Player(ctx, by, id)
	if err != nil {
		return err
	}
	var guardians []any
	for _, g := range sibling.Guardians() {
		member := map[string]any{"name": g.Name, "relationship": g.Relationship, "mobile_number": string(g.Number)}
		web.SetGiven(member, "email", g.Email)
		web.SetGiven(member, "language", g.Language)
		guardians = append(guardians, member)
	}
	if len(guardians) > 0 {
		body["guardians"] = guardians
	}
	if len(guardians) > 1 {
		body["guardian_rule"] = string(sibling.Rule)
	}
	return nil
}

// lastPlayer returns the player with this id, or without one the newest player of the coach, or nil.
func (p pages) lastPlayer(ctx context.Context, by actor.Actor, id string) (*approval.Player, error) {
	if id := web.IDOrNone(id); id != "" {
		player, err := p.Player(ctx, by, id)
		if fault.KindOf(err) == fault.NotFound {
			return nil, nil
		}
		return player, err
	}
	newest, err := p.Players(ctx, by, approval.Filter{}, approval.Page{Limit: 1})
	if err != nil || len(newest) == 0 {
		return nil, err
	}
	return newest[0], nil
}

// setDefaults sets the batches and languages of the player who was added last.
func setDefaults(values url.Values, last *approval.Player) {
	if last == nil {
		return
	}
	for _, b := range last.Batches {
		values.Add("batch", b.ID)
	}
	values.Set("student_language", last.Party(actor.Student).Language)
	if g := last.Guardian(); g != nil {
		values.Set("guardian_language", g.Language)
	}
}

// moreFields are the fields that the form folds away.
var moreFields = []string{
	"student_number", "medical", "student_language", "relationship", "guardian_email", "guardian_language", "guardian_rule", "batches", "basis", "basis_note",
}

// hasMore reports whether the folded fields have something to see: a fault, or what the coach wrote.
func hasMore(f *web.Form) bool {
	for _, suffix := range guardianSuffixes[1:] {
		if slices.ContainsFunc(guardianFields, func(field editField) bool {
			return f.Fault(field.Field+suffix) != "" || f.Value(field.Field+suffix) != ""
		}) {
			return true
		}
	}
	return slices.ContainsFunc(moreFields, func(name string) bool { return f.Fault(name) != "" }) ||
		slices.ContainsFunc([]string{"student_number", "medical", "relationship", "guardian_email"}, func(name string) bool { return f.Value(name) != "" })
}
