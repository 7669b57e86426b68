package screens

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

// sheetsShown is the number of sheets on the page of a batch.
const sheetsShown = 14

// batch serves GET /coach/batches/{batch_id}: when it trains, who is in it, and the last
// attendance.
func (p pages) batch(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	b, err := p.Batches.Batch(ctx, by, r.PathValue("batch_id"))
	if err != nil {
		return web.Response{}, err
	}
	players, err := p.Batches.Players(ctx, by, b.ID)
	if err != nil {
		return web.Response{}, err
	}
	sheets, err := p.Attended.Sheets(ctx, by, b.ID, attendance.Period{}, "", sheetsShown)
	if err != nil {
		return web.Response{}, err
	}
	trainings, err := p.Trainings.OfBatch(ctx, by, b)
	if err != nil {
		return web.Response{}, err
	}
	others := false
	if len(players) == 0 {
		names, err := p.Approvals.PlayerNames(ctx, by, 1)
		if err != nil {
			return web.Response{}, err
		}
		others = len(names) > 0
	}
	v := p.site.CoachView(r, "batches", "batch.title", by)
	v.TitleName = b.Name
	today := team.DateOf(p.site.Now(), team.Zone(b.TimeZone))
	v.Data = map[string]any{
		"Batch": b, "Players": players, "Others": others, "Sheets": sheets, "Today": today, "Trainings": trainings,
		"Taken": slices.ContainsFunc(sheets, func(s team.SheetSummary) bool { return s.Date == today }),
		"Done":  v.TextOr("batches.done."+r.Value("done"), ""), "Undo": p.site.UndoPath(r, "/coach/batches/"+b.ID+"/players/", "/restore"),
	}
	return web.Page("batch", v), nil
}

// schedule serves GET …/schedule: when and where the player trains.
func (p pages) schedule(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.site.FamilyPage(ctx, r, by, "schedule", "", func(d web.Question) (map[string]any, error) {
		batches, _, err := p.Batches.Schedule(ctx, by, d.ID)
		if err != nil {
			return nil, err
		}
		trainings, err := p.Trainings.OfFamily(ctx, by, d.ID)
		return map[string]any{"Batches": batches, "Trainings": trainings, "Path": d.Path, "Guardian": d.Guardian, "NotSaved": r.Value("answered")}, err
	})
}
