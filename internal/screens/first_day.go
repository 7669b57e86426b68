package screens

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/team"
)

// firstDays is how long the list of first steps stays if a coach does not take all of them.
const firstDays = 30 * 24 * time.Hour

// firstStep is one step of a new coach on the page Today. Next marks the first one that is not done.
type firstStep struct {
	Name, Path string
	Done, Next bool
	// ListPath is where players of a list are added, or "".
	ListPath string
}

// firstSteps returns the steps of a new coach, or nil if all are done or the account is older than firstDays. batches are the
// open ones, newest first.
func (p pages) firstSteps(ctx context.Context, by actor.Actor, board *coach.Overview, batches []*team.Batch) ([]firstStep, error) {
	if p.site.Now().Sub(board.Profile.CreatedAt) > firstDays {
		return nil, nil
	}
	taken, err := p.Attended.Taken(ctx, by)
	if err != nil {
		return nil, err
	}
	batch, query := "/coach/batches", ""
	if len(batches) > 0 {
		batch += "/" + batches[0].ID
		query = "?batch=" + batches[0].ID
	}
	steps := []firstStep{
		{Name: "profile", Path: "/coach/profile", Done: len(board.Missing) == 0},
		{Name: "batch", Path: "/coach/batches/add", Done: len(batches) > 0},
		{Name: "players", Path: "/coach/players/add" + query, ListPath: "/coach/players/import" + query, Done: board.Players.Total > 0},
		{Name: "attendance", Path: batch, Done: taken},
	}
	if len(batches) > 0 {
		steps[3].Path += "/attendance"
	}
	next := slices.IndexFunc(steps, func(s firstStep) bool { return !s.Done })
	if next < 0 {
		return nil, nil
	}
	steps[next].Next = true
	return steps, nil
}
