package conversation

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// LeftOut returns the people whom a message of the calling coach with a text does not reach by SMS or WhatsApp, with the reason of
// each. It does not look at the tier of the coach.
func (s *Service) LeftOut(ctx context.Context, by actor.Actor, text string, people []notice.Untold) (reasons map[notice.Untold]string, err error) {
	if len(people) == 0 {
		return nil, nil
	}
	channels := slices.DeleteFunc(s.channels(), func(c Channel) bool { return c == InApp })
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		sending, err := readSending(ctx, tx, by.AccountID)
		if err != nil {
			return err
		}
		reasons = map[notice.Untold]string{}
		for _, party := range approval.Parties {
			var ids []string
			for _, u := range people {
				if u.Party == party {
					ids = append(ids, u.PlayerID)
				}
			}
			plan := s.newPlan(sending.CoachName, Draft{Audience: Audience(party), Text: text, Channels: channels})
			for chunk := range slices.Chunk(slices.Compact(slices.Sorted(slices.Values(ids))), factsBatch) {
				facts, err := s.readFacts(ctx, tx, by.AccountID, chunk, "", false)
				if err != nil {
					return err
				}
				for _, f := range facts {
					plan.add(f)
				}
			}
			reached := plan.reachedPeople()
			for _, u := range people {
				if reason := plan.leftOut(u, reached); u.Party == party && reason != "" {
					reasons[u] = string(reason)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read whom a message of coach %s reaches: %w", by.AccountID, err)
	}
	return reasons, nil
}

// leftOut returns why the message does not reach a person, also not for another player, or "".
func (p *Plan) leftOut(u notice.Untold, reached map[phone.Number]bool) Reason {
	for _, r := range p.Recipients {
		if r.PlayerID == u.PlayerID && r.Party == u.Party && r.GuardianID == u.GuardianID && !r.Copy && !reached[r.number()] {
			return r.LeftOut()
		}
	}
	return ""
}
