package web

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/service/public"
)

// SettingsPath is the page of the coach's settings.
const SettingsPath = "/coach/settings"

func (p *Pages) coachRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/coach", Handle: p.SignedIn(actor.Coach, p.today)},
		{Method: "GET", Pattern: "/coach/more", Handle: p.SignedIn(actor.Coach, p.more)},
		{Method: "GET", Pattern: SettingsPath + "/export", Handle: p.SignedIn(actor.Coach, p.exportAll)},
	}
}

// tierUse is how much of a limit of the tier a coach uses.
type tierUse struct {
	Name      string
	Used, Max int64 // Max is 0 for no limit
}

// today serves GET /coach: what needs the coach first, then the numbers.
func (p *Pages) today(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	board, err := p.Dashboards.Overview(ctx, by, NeedsShown)
	if err != nil {
		return Response{}, err
	}
	unpaid, err := p.UnpaidFees(ctx, by)
	if err != nil {
		return Response{}, err
	}
	batches, today, err := p.TeamToday(ctx, by)
	if err != nil {
		return Response{}, err
	}
	trainings, err := p.TrainingsToday(ctx, by, batches)
	if err != nil {
		return Response{}, err
	}
	messages, unreadReplies, err := p.RecentMessages(ctx, by)
	if err != nil {
		return Response{}, err
	}
	var replies []public.NewReply
	if unreadReplies > 0 {
		if replies, err = p.NewReplies(ctx, by); err != nil {
			return Response{}, err
		}
	}
	var rejected *public.Verification
	if board.KYC == coach.Rejected {
		verification, err := p.Verification(ctx, by)
		if err != nil {
			return Response{}, err
		}
		rejected = &verification
	}
	needs := board.Needs.Total() + len(board.Certificates)
	if rejected != nil {
		needs++
	}
	overdue := slices.DeleteFunc(slices.Clone(unpaid), func(f public.FeeSum) bool { return f.Overdue == 0 })
	if needs += len(overdue); unreadReplies > 0 {
		needs++
	}
	steps, err := p.firstSteps(ctx, by, board, batches)
	if err != nil {
		return Response{}, err
	}
	v := p.CoachView(r, "today", "today.title", by)
	fresh, older, long := board.Pending.Waiting()
	const megabyte = 1 << 20
	limits, used := board.Subscription.Tier.Limits, board.Subscription.Usage
	v.Data = map[string]any{
		"Unpaid": unpaid, "Overdue": overdue, "Board": board, "Needs": needs, "Rejected": rejected, "Batches": len(batches), "Steps": steps, "Today": today, "Trainings": trainings,
		"Fresh": fresh, "Older": older, "Long": long,
		"Use": []tierUse{
			{"players", used.Players, limits.Players},
			{"storage", (used.StorageBytes + megabyte - 1) / megabyte, limits.StorageBytes / megabyte},
			{"messages", used.Messages, limits.MessagesPerDay},
		},
		"Messages": messages, "NewReplies": replies, "UnreadReplies": unreadReplies,
		"Done": v.TextOr("player.done."+r.Value("done"), ""),
	}
	return Page("today", v), nil
}
