package consent

import (
	"context"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// needTab is a kind of need, with how many needs are of this kind.
type needTab struct {
	Kind    coach.NeedKind // "" for all
	Count   int
	Current bool
}

// needsPerPage is how many needs the page of needs shows.
const needsPerPage = 50

// needs serves GET /coach/players?show=needs: the parties for which the coach should act, the
// most urgent first, or with kind=… the ones of one kind.
func (p pages) needs(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	kind := coach.NeedKind(r.Value("kind"))
	needs, err := p.Dashboards.Needs(ctx, by, coach.NeedQuery{Kind: kind, Limit: needsPerPage})
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "players", "needs.title", by)
	count, known := needs.Counts[kind]
	if !known {
		kind, count = "", needs.Total()
	}
	tabs := []needTab{{Count: needs.Total(), Current: kind == ""}}
	for _, k := range coach.NeedKinds {
		if needs.Counts[k] > 0 || k == kind {
			tabs = append(tabs, needTab{k, needs.Counts[k], k == kind})
		}
	}
	v.Data = map[string]any{"Needs": needs, "Tabs": tabs, "Kind": kind, "Hidden": count - len(needs.Items)}
	return web.Page("needs", v), nil
}
