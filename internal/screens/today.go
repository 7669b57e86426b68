package screens

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/verification"
	"github.com/touchline/touchline/internal/web"
)

// tierUse is how much of a limit of the tier a coach uses.
type tierUse struct {
	Name      string
	Used, Max int64 // Max is 0 for no limit
}

// today serves GET /coach: what needs the coach first, then the numbers.
func (p pages) today(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	board, err := p.Dashboards.Overview(ctx, by, coach.NeedsShown)
	if err != nil {
		return web.Response{}, err
	}
	unpaid, err := p.Fees.Unpaid(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	batches, today, err := p.Attended.Today(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	trainings, err := p.Trainings.Today(ctx, by, batches)
	if err != nil {
		return web.Response{}, err
	}
	messages, unreadReplies, err := p.Conversations.Recent(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	var replies []conversation.NewReply
	if unreadReplies > 0 {
		if replies, err = p.Conversations.NewReplies(ctx, by); err != nil {
			return web.Response{}, err
		}
	}
	var rejected *verification.Submission
	if board.KYC == coach.Rejected {
		_, newest, err := p.Verifications.State(ctx, by)
		if err != nil {
			return web.Response{}, err
		}
		rejected = &newest
	}
	needs := board.Needs.Total() + len(board.Certificates)
	if rejected != nil {
		needs++
	}
	overdue := slices.DeleteFunc(slices.Clone(unpaid), func(f fee.Sum) bool { return f.Overdue == 0 })
	if needs += len(overdue); unreadReplies > 0 {
		needs++
	}
	steps, err := p.firstSteps(ctx, by, board, batches)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "today", "today.title", by)
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
	return web.Page("today", v), nil
}
