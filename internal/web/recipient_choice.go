package web

import (
	"context"
	"net/url"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// The batches and players that a form lists. A player that is not among them has a link to
// the form on its page.
const (
	batchesToChoose = 500
	playersToChoose = 200
)

// RecipientChoice has the options under "For" in the forms of fees and messages. The field "for"
// holds player:<id> or batch:<id>.
type RecipientChoice struct {
	Batches []team.BatchName
	Players []approval.PlayerName
	// Selected is the player that the field names, zero if there is none.
	Selected approval.PlayerName
}

// SetRecipient sets the field "for" to the player or batch that the query names.
func SetRecipient(values url.Values, r *Request) {
	for _, kind := range []string{"player", "batch"} {
		if id := r.Value(kind); endpoint.IsID(id) {
			values.Set("for", kind+":"+id)
			return
		}
	}
}

// RecipientChoice loads what the form f lists.
func (p *Pages) RecipientChoice(ctx context.Context, by actor.Actor, f *Form) (c RecipientChoice, err error) {
	if c.Batches, err = p.BatchNames(ctx, by, batchesToChoose); err != nil {
		return c, err
	}
	if c.Players, err = p.Approvals.PlayerNames(ctx, by, playersToChoose); err != nil {
		return c, err
	}
	id, ok := strings.CutPrefix(f.Value("for"), "player:")
	if !ok || !endpoint.IsID(id) {
		return c, nil
	}
	selected, err := p.Approvals.Player(ctx, by, id)
	if fault.IsMissing(err) {
		return c, nil
	}
	if err == nil {
		c.Selected = approval.PlayerName{ID: selected.ID, Name: selected.Student.FullName}
	}
	return c, err
}
