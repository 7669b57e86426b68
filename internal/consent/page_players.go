package consent

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/team"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// players serves GET /coach/players: the parties for which the coach should act, then the roster,
// newest first, with a search by name or number and filters by status. show=needs is web.Pages.NeedsPage.
func (p pages) players(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if r.Value("show") == "needs" {
		return p.site.NeedsPage(ctx, r, by)
	}
	filter := web.PlayerFilter(r)
	list, err := p.Players(ctx, by, filter, approval.Page{Limit: web.PlayersPerPage + 1, After: approval.Keyset{ID: r.Value("after")}})
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "players", "players.title", by)
	filtered := filter != (approval.Filter{})
	var needs coach.Needs
	if !filtered && r.Value("after") == "" {
		if needs, err = p.site.Dashboards.Needs(ctx, by, coach.NeedQuery{Limit: web.NeedsShown}); err != nil {
			return web.Response{}, err
		}
	}
	query := playerQuery(r)
	next := ""
	if len(list) > web.PlayersPerPage {
		list = list[:web.PlayersPerPage]
		after := url.Values{"after": {list[web.PlayersPerPage-1].ID}}
		for name := range query {
			after.Set(name, query.Get(name))
		}
		if r.Value("select") != "" {
			after.Set("select", "codes")
		}
		next = "/coach/players?" + after.Encode()
	}
	batches, err := p.site.BatchNames(ctx, by, offeredBatches)
	if err != nil {
		return web.Response{}, err
	}
	plan, err := p.site.Subscriptions.Of(ctx, by.AccountID)
	if err != nil {
		return web.Response{}, err
	}
	v.Form = &web.Form{Values: r.Form}
	selecting := r.Value("select") != ""
	selected := url.Values{"select": {"codes"}}
	for name := range query {
		selected.Set(name, query.Get(name))
	}
	v.Data = map[string]any{
		"Chips": playerChips(v, query, batches), "Kept": keptFilters(query), "Select": selecting, "SelectPath": "/coach/players?" + selected.Encode(),
		"CanImport": plan.Tier.Has(coach.Import), "CanExport": plan.Tier.Has(coach.Export),
		"Players": list, "Next": next, "Filtered": filtered || r.Value("after") != "",
		"Needs": needs, "Export": "/coach/players/export?" + query.Encode(),
		"Done": v.TextOr("players.done."+r.Value("done"), ""),
	}
	return web.Page("players", v), nil
}

// playerQuery returns the fields of the request that filter the list of players.
func playerQuery(r *web.Request) url.Values {
	query := url.Values{}
	for _, name := range []string{"q", "guardian", "student", "batch"} {
		if value := r.Value(name); value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// offeredBatches is the number of batches that a form offers, newest first.
const offeredBatches = 100

// chippedBatches is the number of batches with a chip, newest first.
const chippedBatches = 10

// chip is a filter of the roster: a link that sets it, or ends it if it is the current one.
type chip struct {
	Text, Path string
	Current    bool
}

// field is a hidden field of a form.
type field struct{ Name, Value string }

// keptFilters returns the fields that keep the chips of the query while the coach searches.
func keptFilters(query url.Values) []field {
	var kept []field
	for _, name := range []string{"guardian", "student", "batch"} {
		if value := query.Get(name); value != "" {
			kept = append(kept, field{name, value})
		}
	}
	return kept
}

// playerChips returns the filters, the chosen ones first.
func playerChips(v *web.View, query url.Values, batches []team.BatchName) []chip {
	var current, others []chip
	add := func(name, value, text string) {
		c := chip{Text: text, Current: query.Get(name) == value}
		next := url.Values{}
		for key := range query {
			next.Set(key, query.Get(key))
		}
		if next.Set(name, value); c.Current {
			next.Del(name)
		}
		c.Path = "/coach/players"
		if len(next) > 0 {
			c.Path += "?" + next.Encode()
		}
		if c.Current {
			current = append(current, c)
		} else {
			others = append(others, c)
		}
	}
	for i, b := range batches {
		if i < chippedBatches || query.Get("batch") == b.ID {
			add("batch", b.ID, b.Name)
		}
	}
	for _, status := range []string{"pending", "approved", "rejected"} {
		for _, party := range approval.Parties {
			add(string(party), status, v.MustT("players."+string(party))+" "+v.MustT("players.status."+status))
		}
	}
	return append(current, others...)
}
