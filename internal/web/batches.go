package web

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// batchRoutes lists the coach's pages about batches.
func (p *Pages) batchRoutes() []Route {
	const batches, one = "/coach/batches", "/coach/batches/{batch_id}"
	return []Route{
		{Method: "GET", Pattern: batches, Handle: p.SignedIn(actor.Coach, p.batches)},
		{Method: "GET", Pattern: batches + "/add", Handle: p.SignedIn(actor.Coach, p.addBatchPage)},
		{Method: "POST", Pattern: batches + "/add", Handle: p.SignedIn(actor.Coach, p.addBatch)},
		{Method: "GET", Pattern: one, Handle: p.SignedIn(actor.Coach, p.batch)},
		{Method: "GET", Pattern: one + "/edit", Handle: p.SignedIn(actor.Coach, p.editBatchPage)},
		{Method: "POST", Pattern: one + "/edit", Handle: p.SignedIn(actor.Coach, p.editBatch)},
		{Method: "GET", Pattern: one + "/archive", Handle: p.SignedIn(actor.Coach, p.archiveBatchPage)},
		{Method: "POST", Pattern: one + "/archive", Handle: p.SignedIn(actor.Coach, p.archiveBatch)},
		{Method: "GET", Pattern: one + "/players", Handle: p.SignedIn(actor.Coach, p.batchPlayersPage)},
		{Method: "POST", Pattern: one + "/players", Handle: p.SignedIn(actor.Coach, p.joinBatch)},
		{Method: "GET", Pattern: one + "/players/{player_id}/remove", Handle: p.SignedIn(actor.Coach, p.checkLeaveBatch)},
		{Method: "POST", Pattern: one + "/players/{player_id}/remove", Handle: p.SignedIn(actor.Coach, p.leaveBatch)},
		{Method: "POST", Pattern: one + "/players/{player_id}/restore", Handle: p.SignedIn(actor.Coach, p.rejoinBatch)},
	}
}

// coachBatch returns the page of a batch for its coach.
func coachBatch(id string) string { return "/coach/batches/" + id }

// batchesPerPage is the length of one page of batches.
const batchesPerPage = 50

// batches serves GET /coach/batches: the open batches, newest first, or with show=archived
// the others.
func (p *Pages) batches(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	archived := r.Value("show") == "archived"
	list, err := p.Batches.List(ctx, by, archived, r.Value("after"), batchesPerPage+1)
	if err != nil {
		return Response{}, err
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
	v, err := p.CoachView(ctx, r, "batches", "batches.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Data = map[string]any{"Batches": list, "Archived": archived, "Next": next, "Done": v.TextOr("batches.done."+r.Value("done"), "")}
	return Page("batches", v), nil
}

// openBatches returns the open batches that a form offers, newest first.
func (p *Pages) openBatches(ctx context.Context, by actor.Actor) ([]team.BatchName, error) {
	return p.Batches.Names(ctx, by, offeredBatches)
}

// offeredBatches is the number of batches that a form offers.
const offeredBatches = 100

// LoadBatch returns the batch of the path.
func (p *Pages) LoadBatch(ctx context.Context, r *Request, by actor.Actor) (*team.Batch, error) {
	id, err := r.PathID("batch_id")
	if err != nil {
		return nil, err
	}
	return p.Batches.Batch(ctx, by, id)
}

// sheetsShown is the number of sheets on the page of a batch.
const sheetsShown = 14

// batch serves GET /coach/batches/{batch_id}: when it trains, who is in it, and the last
// attendance.
func (p *Pages) batch(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	b, err := p.LoadBatch(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	players, err := p.Batches.Players(ctx, by, b.ID)
	if err != nil {
		return Response{}, err
	}
	sheets, err := p.Sheets(ctx, by, b.ID, sheetsShown)
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "batches", "batch.title", by)
	if err != nil {
		return Response{}, err
	}
	today := team.DateOf(p.Now(), team.Zone(b.TimeZone))
	v.Data = map[string]any{
		"Batch": b, "Players": players, "Sheets": sheets, "Today": today, "Next": nextTraining(b, p),
		"Taken": slices.ContainsFunc(sheets, func(s team.SheetSummary) bool { return s.Date == today }),
		"Done":  v.TextOr("batches.done."+r.Value("done"), ""), "Undo": p.undoPath(r, coachBatch(b.ID)+"/players/", "/restore"),
	}
	return Page("batch", v), nil
}

// nextTraining returns the next training of an open batch within a week, or nil.
func nextTraining(b *team.Batch, p *Pages) *team.Training {
	if !b.ArchivedAt.IsZero() {
		return nil
	}
	upcoming := team.Upcoming([]*team.Batch{b}, p.Now(), team.UpcomingDays+1)
	if len(upcoming) == 0 {
		return nil
	}
	return &upcoming[0]
}

// archiveBatchPage serves GET …/archive: the coach checks what an archive means.
func (p *Pages) archiveBatchPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	b, err := p.LoadBatch(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	if b.CheckOpen() != nil {
		return Redirect(coachBatch(b.ID)), nil
	}
	v, err := p.CoachView(ctx, r, "batches", "batch.archive.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Data = b
	return Page("batch_archive", v), nil
}

// archiveBatch serves POST …/archive. The same form sent twice archives once.
func (p *Pages) archiveBatch(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	id, err := r.PathID("batch_id")
	if err != nil {
		return Response{}, err
	}
	if err := p.Batches.Archive(ctx, by, id); err != nil && fault.CodeOf(err) != "batch_archived" {
		return Response{}, err
	}
	return Redirect("/coach/batches?done=archived"), nil
}

// batchPlayersPage serves GET …/players: the coach's players with a search, to select those
// who join the batch.
func (p *Pages) batchPlayersPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.batchPlayersForm(ctx, r, by, &Form{Values: r.Form})
}

func (p *Pages) batchPlayersForm(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	b, err := p.LoadBatch(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	filter := approval.Filter{Search: playerFilter(r).Search}
	players, err := p.Approvals.Players(ctx, by, filter, approval.Page{Limit: playersPerPage + 1, After: approval.Keyset{ID: r.Value("after")}})
	if err != nil {
		return Response{}, err
	}
	next := ""
	if len(players) > playersPerPage {
		players = players[:playersPerPage]
		next = coachBatch(b.ID) + "/players?" + url.Values{"q": {r.Value("q")}, "after": {players[playersPerPage-1].ID}}.Encode()
	}
	v, err := p.CoachView(ctx, r, "batches", "batch.players.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, coachBatch(b.ID)+"/players"
	v.Data = map[string]any{"Batch": b, "Players": players, "Next": next, "Search": r.Value("q"), "Done": v.TextOr("batches.done."+r.URL.Query().Get("done"), "")}
	return FormPage("batch_players", v), nil
}

// joinBatch serves POST …/players: the selected players join the batch.
func (p *Pages) joinBatch(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	id, err := r.PathID("batch_id")
	if err != nil {
		return Response{}, err
	}
	if len(r.Form["player"]) > playersPerPage {
		return Response{}, fault.New(fault.Malformed, "malformed_request", "Select at most %d players.", playersPerPage)
	}
	for _, playerID := range r.Form["player"] {
		if !endpoint.IsID(playerID) {
			return Response{}, fault.Missing()
		}
		err := p.Batches.Join(ctx, by, id, playerID)
		if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind != fault.NotFound && f.Kind != fault.Unavailable {
			form := &Form{Values: r.Form}
			form.Add("", p.batchError(r, err))
			return p.batchPlayersForm(ctx, r, by, form)
		}
		if err != nil {
			return Response{}, err
		}
	}
	return Redirect(coachBatch(id) + "?done=joined"), nil
}

// batchError returns the text of an error about a batch.
func (p *Pages) batchError(r *Request, err error) string {
	if fault.KindOf(err) == fault.Invalid {
		return p.NewView(r, "").MustT("batch.full")
	}
	return p.errorText(r, err)
}

// membershipInPath returns the batch and the player of the path, and the membership as a removal.
func membershipInPath(r *Request) (batchID, playerID string, x removal, err error) {
	if batchID, err = r.PathID("batch_id"); err != nil {
		return "", "", x, err
	}
	playerID, err = r.PathID("player_id")
	return batchID, playerID, removal{List: coachBatch(batchID), ID: playerID}, err
}

// checkLeaveBatch serves GET …/players/{player_id}/remove.
func (p *Pages) checkLeaveBatch(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	b, err := p.LoadBatch(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	_, playerID, x, err := membershipInPath(r)
	if err != nil {
		return Response{}, err
	}
	player, err := p.Approvals.Player(ctx, by, playerID)
	if err != nil {
		return Response{}, err
	}
	return p.removalCheck(ctx, r, by, "batches", "removal.membership", player.Student.FullName+" · "+b.Name, x)
}

// leaveBatch serves POST …/players/{player_id}/remove.
func (p *Pages) leaveBatch(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	batchID, playerID, x, err := membershipInPath(r)
	if err != nil {
		return Response{}, err
	}
	return p.remove(r, x, func() error { return p.Batches.Leave(ctx, by, batchID, playerID) })
}

// rejoinBatch serves POST …/players/{player_id}/restore. The membership continues: see
// team.RejoinWithin.
func (p *Pages) rejoinBatch(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	batchID, playerID, x, err := membershipInPath(r)
	if err != nil {
		return Response{}, err
	}
	return p.undo(x, func() error { return p.Batches.Join(ctx, by, batchID, playerID) }, func() bool { return false })
}
