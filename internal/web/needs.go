package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
)

// need is one party about which the coach should do something.
type need struct {
	PlayerID, StudentName string
	Party                 actor.Role
	// Kind is the reason, as a key of the texts "need.…".
	Kind  string
	Since time.Time
	// RequestID is the open request that the coach should follow up on, or "".
	RequestID string
}

// needKinds are the reasons, the most urgent first. Of several reasons a party shows one.
var needKinds = []string{"delivery_failed", "disputed", "rejected", "revoked", "overdue", "stopped", "long_pending", "held"}

// maxNeedsPending is the number of pending consents that needs reads, the oldest first.
const maxNeedsPending = 100

// needs returns the parties about which the coach should do something, the most urgent
// first: undelivered and wrong numbers, answers of no, requests overdue for follow-up,
// parties that want no messages, pending for more than 3 days, and messages that wait for a limit.
func (p *Pages) needs(ctx context.Context, by actor.Actor, board *coach.Dashboard) ([]need, error) {
	var all []need
	for _, a := range board.Attention {
		if a.PlayerID != "" {
			all = append(all, need{a.PlayerID, a.StudentName, a.Party, string(a.Kind), a.Since, ""})
		}
	}
	for _, o := range board.Overdue {
		all = append(all, need{o.PlayerID, o.StudentName, o.Party, "overdue", o.RequestedAt, o.RequestID})
	}
	pending, err := p.Approvals.Pending(ctx, by, approval.Page{Limit: maxNeedsPending})
	if err != nil {
		return nil, err
	}
	for _, i := range pending {
		n := need{i.PlayerID, i.StudentName, i.Party, "", i.PendingSince, ""}
		switch {
		case i.BlockedBy() == "stopped":
			n.Kind = "stopped"
		case i.BlockedBy() == "message_limit":
			n.Kind = "held"
		case i.BlockedBy() == "" && p.Now().Sub(i.PendingSince) > coach.LongPending:
			n.Kind = "long_pending"
		default:
			continue
		}
		all = append(all, n)
	}
	slices.SortStableFunc(all, func(a, b need) int {
		return cmp.Or(cmp.Compare(slices.Index(needKinds, a.Kind), slices.Index(needKinds, b.Kind)), a.Since.Compare(b.Since))
	})
	seen := map[approval.Recipient]bool{}
	return slices.DeleteFunc(all, func(n need) bool {
		party := approval.Recipient{PlayerID: n.PlayerID, Party: n.Party}
		again := seen[party]
		seen[party] = true
		return again
	}), nil
}
