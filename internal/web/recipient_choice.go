package web

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// The batches and players that a form lists. A player that is not among them has a link to
// the form on its page.
const (
	batchesToChoose = 500
	playersToChoose = 200
)

// RecipientChoice has the options under "For" in the forms of fees and messages. The field "for"
// holds player:<id>, batch:<id> or, in the form of a message, players:<id>,<id>.
type RecipientChoice struct {
	Batches []team.BatchName
	Players []approval.PlayerName
	// Selected is the player that the field names, zero if there is none.
	Selected approval.PlayerName
	// Several are the players that the field names, if it names several.
	Several []approval.PlayerName
}

// playersPrefix begins the field "for" that names several players.
const playersPrefix = "players:"

// maxRecipients is how many players the field names at most.
const maxRecipients = 1000

// playersField returns the field "for" that names players.
func playersField(ids []string) string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	return playersPrefix + strings.Join(ids, ",")
}

// Recipients returns the ids of the players that the field "for" names: one, or several.
func Recipients(field string) []string {
	list, several := strings.CutPrefix(field, playersPrefix)
	id, one := strings.CutPrefix(field, "player:")
	switch {
	case one && endpoint.IsID(id):
		return []string{id}
	case !several:
		return nil
	}
	ids := strings.Split(list, ",")
	if len(ids) > maxRecipients || slices.ContainsFunc(ids, func(id string) bool { return !endpoint.IsID(id) }) {
		return nil
	}
	return ids
}

// SetRecipient sets the field "for" to the players or the batch that the query names.
func SetRecipient(values url.Values, r *Request) {
	if ids := r.Form["player"]; len(ids) > 1 && len(Recipients(playersField(ids))) > 0 {
		values.Set("for", playersField(ids))
		return
	}
	for _, kind := range []string{"player", "batch"} {
		if id := r.Value(kind); endpoint.IsID(id) {
			values.Set("for", kind+":"+id)
			return
		}
	}
}

// RecipientChoice loads what the form f lists.
func (p *Pages) RecipientChoice(ctx context.Context, by actor.Actor, f *Form) (c RecipientChoice, err error) {
	if c.Batches, err = store.BatchNames(ctx, p.Approvals.DB, by.AccountID, batchesToChoose); err != nil {
		return c, err
	}
	if c.Players, err = p.Approvals.PlayerNames(ctx, by, playersToChoose); err != nil {
		return c, err
	}
	ids := Recipients(f.Value("for"))
	if len(ids) == 0 {
		return c, nil
	}
	names, err := p.Approvals.NamesOf(ctx, by, ids)
	switch {
	case err != nil:
		return c, err
	case strings.HasPrefix(f.Value("for"), playersPrefix):
		c.Several = names
	case len(names) == 1:
		c.Selected = names[0]
	}
	return c, nil
}
