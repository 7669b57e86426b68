package batch

import (
	"context"
	"embed"
	"errors"
	"net/url"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// pages serves the pages about batches.
type pages struct {
	*Service
	site *web.Pages
}

// Pages returns the pages about batches for coaches. The page of one batch, and the schedule for families, are in screens.
func (s *Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	const batches, one = "/coach/batches", "/coach/batches/{batch_id}"
	return []web.Route{
		{Method: "GET", Pattern: batches, Handle: p.site.SignedIn(actor.Coach, p.batches)},
		{Method: "GET", Pattern: batches + "/add", Handle: p.site.SignedIn(actor.Coach, p.addBatchPage)},
		{Method: "POST", Pattern: batches + "/add", Handle: p.site.SignedIn(actor.Coach, p.addBatch)},
		{Method: "GET", Pattern: batches + "/join", Handle: p.site.SignedIn(actor.Coach, p.chooseBatch)},
		{Method: "GET", Pattern: one + "/edit", Handle: p.site.SignedIn(actor.Coach, p.editBatchPage)},
		{Method: "POST", Pattern: one + "/edit", Handle: p.site.SignedIn(actor.Coach, p.editBatch)},
		{Method: "GET", Pattern: one + "/archive", Handle: p.site.SignedIn(actor.Coach, p.archiveBatchPage)},
		{Method: "POST", Pattern: one + "/archive", Handle: p.site.SignedIn(actor.Coach, p.archiveBatch)},
		{Method: "GET", Pattern: one + "/players", Handle: p.site.SignedIn(actor.Coach, p.batchPlayersPage)},
		{Method: "POST", Pattern: one + "/players", Handle: p.site.SignedIn(actor.Coach, p.joinBatch)},
		{Method: "GET", Pattern: one + "/players/{player_id}/remove", Handle: p.site.SignedIn(actor.Coach, p.checkLeaveBatch)},
		{Method: "POST", Pattern: one + "/players/{player_id}/remove", Handle: p.site.SignedIn(actor.Coach, p.leaveBatch)},
		{Method: "POST", Pattern: one + "/players/{player_id}/restore", Handle: p.site.SignedIn(actor.Coach, p.rejoinBatch)},
	}
}

// pathOf returns the page of a batch for its coach.
func pathOf(id string) string { return "/coach/batches/" + id }

// batchesPerPage is the length of one page of batches.
const batchesPerPage = 50

// batches serves GET /coach/batches: the open batches, newest first, or with show=archived
// the others.
func (p pages) batches(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	archived := r.Value("show") == "archived"
	list, err := p.List(ctx, by, archived, r.Value("after"), batchesPerPage+1)
	if err != nil {
		return web.Response{}, err
	}
	next := ""
	if len(list) > batchesPerPage {
		list = list[:batchesPerPage]
		query := url.Values{"after": {list[batchesPerPage-1].ID}}
		if archived {
			query.Set("show", "archived")
		}
		next = "/coach/batches?" + query.Encode()
	}
	v := p.site.CoachView(r, "batches", "batches.title", by)
	v.Data = map[string]any{"Batches": list, "Archived": archived, "Next": next, "Done": v.TextOr("batches.done."+r.Value("done"), "")}
	return web.Page("batches", v), nil
}

// archiveBatchPage serves GET …/archive: the coach checks what an archive means.
func (p pages) archiveBatchPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	b, err := p.Batch(ctx, by, r.PathValue("batch_id"))
	if err != nil {
		return web.Response{}, err
	}
	if b.CheckOpen() != nil {
		return web.Redirect(pathOf(b.ID)), nil
	}
	v := p.site.CoachView(r, "batches", "batch.archive.title", by)
	v.TitleName = b.Name
	v.Data = b
	return web.Page("batch_archive", v), nil
}

// archiveBatch serves POST …/archive. The same form sent twice archives once.
func (p pages) archiveBatch(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.Archive(ctx, by, r.PathValue("batch_id")); err != nil && fault.CodeOf(err) != "batch_archived" {
		return web.Response{}, err
	}
	return web.Redirect("/coach/batches?done=archived"), nil
}

// batchPlayersPage serves GET …/players: the coach's players with a search, to select those
// who join the batch.
func (p pages) batchPlayersPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.batchPlayersForm(ctx, r, by, &web.Form{Values: r.Form})
}

func (p pages) batchPlayersForm(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	b, err := p.Batch(ctx, by, r.PathValue("batch_id"))
	if err != nil {
		return web.Response{}, err
	}
	filter := approval.Filter{Search: web.PlayerFilter(r).Search}
	players, err := p.Approvals.PlayersByName(ctx, by, filter, approval.NamePage{Limit: web.PlayersPerPage + 1, After: web.IDOrNone(r.Value("after"))})
	if err != nil {
		return web.Response{}, err
	}
	next := ""
	if len(players) > web.PlayersPerPage {
		players = players[:web.PlayersPerPage]
		next = pathOf(b.ID) + "/players?" + url.Values{"q": {r.Value("q")}, "after": {players[web.PlayersPerPage-1].ID}}.Encode()
	}
	joinable := slices.ContainsFunc(players, func(player *approval.Player) bool {
		return !slices.ContainsFunc(player.Batches, func(in approval.Batch) bool { return in.ID == b.ID })
	})
	v := p.site.CoachView(r, "batches", "batch.players.title", by)
	v.TitleName = b.Name
	v.Form, v.Path = f, pathOf(b.ID)+"/players"
	v.Data = map[string]any{"Batch": b, "Joinable": joinable, "All": r.Value("all") != "", "Players": players, "Next": next, "Search": r.Value("q"), "Done": v.TextOr("batches.done."+r.URL.Query().Get("done"), "")}
	return web.FormPage("batch_players", v), nil
}

// chooseBatch serves GET /coach/batches/join?player=…: the batches that the selected players can join.
func (p pages) chooseBatch(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	ids := slices.DeleteFunc(slices.Clone(r.Form["player"]), func(id string) bool { return !endpoint.IsID(id) })
	if len(ids) > web.SelectedPlayers {
		return web.Response{}, fault.New(fault.Malformed, "malformed_request", "Select at most %d players.", web.SelectedPlayers)
	}
	if len(ids) == 0 {
		return web.Redirect("/coach/players?select=1"), nil
	}
	players, err := p.Approvals.NamesOf(ctx, by, ids)
	if err != nil {
		return web.Response{}, err
	}
	batches, err := p.List(ctx, by, false, "", batchesPerPage)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "players", "batch.choose.title", by)
	v.Data = map[string]any{"Players": players, "Batches": batches}
	return web.Page("batch_choose", v), nil
}

// joinBatch serves POST …/players: the selected players join the batch.
func (p pages) joinBatch(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	id := r.PathValue("batch_id")
	if len(r.Form["player"]) > web.SelectedPlayers {
		return web.Response{}, fault.New(fault.Malformed, "malformed_request", "Select at most %d players.", web.SelectedPlayers)
	}
	for _, playerID := range r.Form["player"] {
		if !endpoint.IsID(playerID) {
			return web.Response{}, fault.Missing()
		}
		err := p.Join(ctx, by, id, playerID)
		if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind != fault.NotFound && f.Kind != fault.Unavailable {
			form := &web.Form{Values: r.Form}
			form.Add("", p.batchError(r, err))
			return p.batchPlayersForm(ctx, r, by, form)
		}
		if err != nil {
			return web.Response{}, err
		}
	}
	return web.Redirect(pathOf(id) + "?done=joined"), nil
}

// batchError returns the text of an error about a batch.
func (p pages) batchError(r *web.Request, err error) string {
	if fault.KindOf(err) == fault.Invalid {
		return p.site.NewView(r, "").MustT("batch.full")
	}
	return p.site.ErrorText(r, err)
}

// membershipInPath returns the batch and the player of the path, and the membership as a removal.
func membershipInPath(r *web.Request) (batchID, playerID string, x web.Removal) {
	batchID, playerID = r.PathValue("batch_id"), r.PathValue("player_id")
	return batchID, playerID, web.Removal{List: pathOf(batchID), ID: playerID}
}

// checkLeaveBatch serves GET …/players/{player_id}/remove.
func (p pages) checkLeaveBatch(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	b, err := p.Batch(ctx, by, r.PathValue("batch_id"))
	if err != nil {
		return web.Response{}, err
	}
	_, playerID, x := membershipInPath(r)
	player, err := p.Approvals.Player(ctx, by, playerID)
	if err != nil {
		return web.Response{}, err
	}
	return p.site.RemovalCheck(r, by, "batches", "removal.membership", player.Student.FullName+" · "+b.Name, x)
}

// leaveBatch serves POST …/players/{player_id}/remove.
func (p pages) leaveBatch(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	batchID, playerID, x := membershipInPath(r)
	return p.site.Remove(r, x, func() error { return p.Leave(ctx, by, batchID, playerID) })
}

// rejoinBatch serves POST …/players/{player_id}/restore. The membership continues: see
// team.RejoinWithin.
func (p pages) rejoinBatch(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	batchID, playerID, x := membershipInPath(r)
	return p.site.Undo(x, func() error { return p.Join(ctx, by, batchID, playerID) }, func() bool { return false })
}
