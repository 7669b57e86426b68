package consent

import (
	"context"
	"maps"
	"net/url"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

// letteredFrom is the number of players from which the roster has letters to jump to, and headings of letters instead of batches.
const letteredFrom = 40

// players serves GET /coach/players: the parties for which the coach should act, then the roster in
// alphabetical order, with a search by name or number and filters by status. show=needs is the page of needs,
// select=1 has a box for each player, and all=1 ticks them.
func (p pages) players(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if r.Value("show") == "needs" {
		return p.needs(ctx, r, by)
	}
	filter, query, selecting := web.PlayerFilter(r), playerQuery(r), r.Value("select") != ""
	from := team.FirstLetter(r.Value("from"))
	page := approval.NamePage{Limit: web.PlayersPerPage, After: web.IDOrNone(r.Value("after")), From: from}
	if selecting {
		page.Limit = web.SelectedPlayers
	}
	list, err := p.PlayersByName(ctx, by, filter, approval.NamePage{After: page.After, From: page.From, Limit: page.Limit + 1})
	if err != nil {
		return web.Response{}, err
	}
	count, err := p.CountByName(ctx, by, filter)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "players", "players.title", by)
	filtered, whole := filter != (approval.Filter{}), page.After+from == ""
	var needs coach.Needs
	if !filtered && whole {
		if needs, err = p.Dashboards.Needs(ctx, by, coach.NeedQuery{Limit: coach.NeedsShown}); err != nil {
			return web.Response{}, err
		}
	}
	next := ""
	if len(list) > page.Limit {
		list = list[:page.Limit]
		next = rosterPath(query, "after", list[page.Limit-1].ID, "select", r.Value("select"))
	}
	batches, err := store.BatchNames(ctx, p.DB, by.AccountID, offeredBatches)
	if err != nil {
		return web.Response{}, err
	}
	plan, err := p.Subscriptions.Of(ctx, by.AccountID)
	if err != nil {
		return web.Response{}, err
	}
	var letters []chip
	if count.Total >= letteredFrom {
		for _, l := range count.Letters {
			letters = append(letters, chip{l, rosterPath(query, "from", l, "select", r.Value("select")), l == from})
		}
	}
	groups := []playerGroup{{Players: list}}
	switch {
	case letters != nil && filter.Search == "":
		groups = byLetter(list)
	case letters == nil && filter.BatchID == "" && filter.Search == "" && next == "" && len(batches) > 1:
		groups = byBatch(v, list, batches)
	}
	v.Form = &web.Form{Values: r.Form}
	v.Data = map[string]any{
		"Chips": playerChips(v, query, batches), "Kept": keptFilters(query), "Select": selecting, "All": r.Value("all") != "",
		"SelectPath": rosterPath(query, "select", "1"), "AllPath": rosterPath(query, "select", "1", "all", "1"),
		"CanExport": plan.Tier.Has(coach.Export), "Groups": groups, "Players": len(list), "Count": count.Total, "Letters": letters, "Next": next, "Filtered": filtered || !whole,
		"Needs": needs, "Export": "/coach/players/export?" + query.Encode(),
		"Done": v.TextOr("players.done."+r.Value("done"), ""),
	}
	return web.Page("players", v), nil
}

// namesShown is how many names a desktop shows beside a player: 2 KB of a page, compressed.
const namesShown = 100

// namesBeside returns the names to show beside a player: the first ones, or those from the letter of the player.
func (p pages) namesBeside(ctx context.Context, by actor.Actor, player *approval.Player) ([]approval.PlayerName, error) {
	names, err := p.PlayerNames(ctx, by, namesShown)
	if err != nil || len(names) < namesShown || slices.Contains(names, approval.PlayerName{ID: player.ID, Name: player.Student.FullName}) {
		return names, err
	}
	list, err := p.PlayersByName(ctx, by, approval.Filter{}, approval.NamePage{From: team.FirstLetter(player.Student.FullName), Limit: namesShown})
	names = names[:0]
	for _, other := range list {
		names = append(names, approval.PlayerName{ID: other.ID, Name: other.Student.FullName})
	}
	return names, err
}

// rosterPath returns the address of the roster with the fields of query and with more names and values, of which empty ones are left out.
func rosterPath(query url.Values, more ...string) string {
	next := maps.Clone(query)
	for i := 0; i < len(more); i += 2 {
		if more[i+1] != "" {
			next.Set(more[i], more[i+1])
		}
	}
	if len(next) == 0 {
		return "/coach/players"
	}
	return "/coach/players?" + next.Encode()
}

// playerGroup is a part of the roster with a heading: a batch or a letter, "" for none. Path selects the players of the batch.
type playerGroup struct {
	Heading, Path string
	Players       []*approval.Player
}

// byLetter groups players by the letters with which their names begin. Names that begin with none have no heading.
func byLetter(list []*approval.Player) []playerGroup {
	var groups []playerGroup
	for _, player := range list {
		letter := team.FirstLetter(player.Student.FullName)
		if len(groups) == 0 || groups[len(groups)-1].Heading != letter {
			groups = append(groups, playerGroup{Heading: letter})
		}
		last := &groups[len(groups)-1]
		last.Players = append(last.Players, player)
	}
	return groups
}

// byBatch groups players by batch. A player of several batches is under the smallest of them.
func byBatch(v *web.View, list []*approval.Player, batches []team.BatchName) []playerGroup {
	batches = slices.SortedFunc(slices.Values(batches), func(a, b team.BatchName) int { return team.CompareNames(a.Name, a.ID, b.Name, b.ID) })
	groups := make([]playerGroup, len(batches)+1)
	for i, b := range batches {
		groups[i] = playerGroup{Heading: b.Name, Path: rosterPath(url.Values{"batch": {b.ID}}, "select", "1", "all", "1")}
	}
	groups[len(batches)].Heading = v.MustT("players.no_batch")
	sizes := map[string]int{}
	for _, player := range list {
		for _, b := range player.Batches {
			sizes[b.ID]++
		}
	}
	for _, player := range list {
		at := len(batches)
		for i, b := range batches {
			in := slices.ContainsFunc(player.Batches, func(own approval.Batch) bool { return own.ID == b.ID })
			if in && (at == len(batches) || sizes[b.ID] < sizes[batches[at].ID]) {
				at = i
			}
		}
		groups[at].Players = append(groups[at].Players, player)
	}
	return slices.DeleteFunc(groups, func(g playerGroup) bool { return len(g.Players) == 0 })
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
		next := maps.Clone(query)
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
