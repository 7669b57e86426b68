package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// subscriptions runs every statement on tiers for TestPlans.
func (p *fixture) subscriptions() {
	p.Helper()
	by := p.coach(9170)
	_, err := p.coaches().Subscription(bg, by.AccountID)
	ok(p, err)
	p.chooseTier(by, "one", "two")
	_, err = p.coaches().TierRequests(bg, auditor, coach.TierRequestCursor{}, 5)
	ok(p, err)
	ok(p, p.decideTier(by.AccountID, coach.TierDecision{Outcome: coach.TierApproved, Stored: "two", Named: "two"}))
	p.with(tierServices).chooseTier(by, "bare", "")
}

// tierServices are settings in which the tier "bare" has no app service.
func tierServices(s *settings) {
	s.Rules.TierHas = func(tier, _ string) bool { return tier != "bare" }
}

// TestTierChangesAvailability: a tier with other app services adds a change to each player
// with an approval, once for concurrent choices, and to no other player.
func TestTierChangesAvailability(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, other := p.coach(1), p.coach(2)
		asha, bela, others := p.add(by, "Asha Rao", number(3), number(4)), p.add(by, "Bela Rao", number(3), ""), p.add(other, "Chand Rao", number(3), "")
		for _, approved := range []string{asha.ID, others.ID} {
			ok(p, p.decide(p.as(actor.Guardian, number(3)), approved, approval.Approve))
		}
		changes := func(id string) int {
			return p.count(`SELECT count(*) FROM changes c JOIN players p ON p.id = c.player_id AND c.sequence <= p.changes WHERE c.player_id = $1 AND c.type = 'availability'`, id)
		}
		for i, step := range []struct {
			tier string
			want int
		}{{"full", 0}, {"bare", 1}, {"bare", 1}, {"full", 2}} {
			for _, err := range concurrently(4, func(int) error {
				return p.coaches().UpdateTier(bg, by.AccountID, func(coach.TierChoice) (coach.TierChoice, error) { return coach.TierChoice{Tier: step.tier}, nil })
			}) {
				ok(p, err)
			}
			if got := changes(asha.ID); got != step.want {
				p.Errorf("step %d, tier %s: %d changes of the approved player, want %d", i, step.tier, got, step.want)
			}
		}
		if a, b := changes(bela.ID), changes(others.ID); a+b != 0 {
			p.Errorf("%d changes of a pending player, %d of the player of another coach", a, b)
		}
	}, tierServices)
}

// chooseTier stores the tier of a coach and the tier that the coach asks for.
func (p *fixture) chooseTier(by actor.Actor, tier, requested string) {
	p.Helper()
	ok(p, p.coaches().UpdateTier(bg, by.AccountID, func(coach.TierChoice) (coach.TierChoice, error) {
		return coach.TierChoice{Tier: tier, Requested: requested}, nil
	}))
}

// decideTier carries out an operator's decision, whatever the coach's choice.
func (p *fixture) decideTier(coachID string, d coach.TierDecision) error {
	return p.coaches().DecideTier(bg, actor.Operator{ID: "token", Name: "desk"}, coachID, func(coach.TierChoice) (coach.TierDecision, error) { return d, nil })
}

// TestUpdateTier checks that concurrent updates see each other's results, and that times
// change only with their tier.
func TestUpdateTier(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		const updates = 8 // more take longer than a write may, on a busy machine
		for i, err := range concurrently(updates, func(i int) error {
			return p.coaches().UpdateTier(bg, by.AccountID, func(c coach.TierChoice) (coach.TierChoice, error) {
				return coach.TierChoice{Tier: c.Tier + "x", Requested: c.Requested + "y"}, nil
			})
		}) {
			if err != nil {
				p.Errorf("update %d: %v", i, err)
			}
		}
		sub, err := p.coaches().Subscription(bg, by.AccountID)
		ok(p, err)
		if len(sub.StoredTier) != updates || len(sub.Requested) != updates || !sub.Since.Equal(p.clock.Now()) {
			p.Errorf("got tier %q since %s, requested %q, want %d updates", sub.StoredTier, sub.Since, sub.Requested, updates)
		}
		since := p.clock.Now()
		p.clock.advance(time.Hour)
		for _, requested := range []string{"gold", "", "gold"} {
			p.chooseTier(by, sub.StoredTier, requested)
			if got, err := p.coaches().Subscription(bg, by.AccountID); err != nil || got.Requested != requested || !got.Since.Equal(since) {
				p.Errorf("requested %q: got %+v, %v, want the tier since %s", requested, got, err, since)
			}
		}
		requestedAt := p.clock.Now()
		p.clock.advance(time.Hour)
		p.chooseTier(by, "", "gold")
		found, err := p.coaches().TierRequests(bg, auditor, coach.TierRequestCursor{}, 5)
		if ok(p, err); len(found) != 1 || found[0].CoachID != by.AccountID || found[0].TierChoice != (coach.TierChoice{Requested: "gold"}) || !found[0].At.Equal(requestedAt) {
			p.Errorf("got the requests %+v, want gold since %s", found, requestedAt)
		}
		for _, id := range []string{"unknown", ""} {
			_, err := p.coaches().Subscription(bg, id)
			p.refused(err, "session_revoked")
			p.refused(p.decideTier(id, coach.TierDecision{}), "not_found")
			p.refused(p.coaches().UpdateTier(bg, id, func(c coach.TierChoice) (coach.TierChoice, error) { return c, nil }), "session_revoked")
		}
	})
}

// TestDecideTier checks that one of many concurrent decisions about a request is carried
// out, with one notification and one entry of the audit log.
func TestDecideTier(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := &coach.Subscriptions{Store: p.coaches(), Tiers: coach.Tiers{List: coach.DefaultTiers()}}
		by, desk := p.coach(1), actor.Operator{ID: "token", Name: "desk"}
		p.chooseTier(by, "", "pro")
		var approved, refused atomic.Int64
		for i, err := range concurrently(20, func(i int) error {
			if i%2 == 0 {
				_, err := s.Approve(bg, desk, by.AccountID, "pro")
				if err == nil {
					approved.Add(1)
				}
				return err
			}
			_, err := s.Refuse(bg, desk, by.AccountID, "pro", "Not now.")
			if err == nil {
				refused.Add(1)
			}
			return err
		}) {
			if err != nil && fault.CodeOf(err) != "request_superseded" {
				p.Errorf("decision %d: %v", i, err)
			}
		}
		sub, err := s.Of(bg, by.AccountID)
		ok(p, err)
		want, wantTier, wantAction := "tier_refused", "free", operator.TierRefused
		if approved.Load() == 1 {
			want, wantTier, wantAction = "tier_approved", "pro", operator.TierApproved
		}
		if approved.Load()+refused.Load() != 1 || sub.Tier.Name != wantTier || sub.Requested != "" {
			p.Errorf("%d approvals and %d refusals leave the subscription %+v", approved.Load(), refused.Load(), sub)
		}
		if tray := p.tray(by.AccountID); !slices.Equal(tray, []string{want}) {
			p.Errorf("got the notifications %v, want %s", tray, want)
		}
		log, err := p.db.Operators.Audit(bg, auditor, by.AccountID, "", 10)
		if ok(p, err); len(log) != 1 || log[0].Action != wantAction || log[0].Detail != "pro" || log[0].By != desk {
			p.Errorf("got the audit log %+v, want one %s", log, wantAction)
		}
	})
}

// TestConcurrentRosterCount adds, renames and removes players concurrently. The
// counter must equal the number of players and never exceed the limit.
func TestConcurrentRosterCount(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		const most = 12
		p.Rules.CheckRoster = func(r approval.Roster) error {
			if r.Tier != "own" || r.KYC != "not_started" {
				return fmt.Errorf("unexpected roster %+v", r)
			}
			if r.Players > most {
				return fault.New(fault.Forbidden, "tier_limit", "full")
			}
			return nil
		}
		by := p.coach(1)
		p.chooseTier(by, "own", "")
		var workers sync.WaitGroup
		for w := range 6 {
			workers.Go(func() {
				random := rand.New(rand.NewPCG(uint64(w), 7))
				for range 40 {
					name := fmt.Sprint("Child ", random.IntN(25))
					if random.IntN(5) < 3 {
						_, err := p.Add(bg, by, child(name, ""), mother(number(100+random.IntN(50))))
						if code := fault.CodeOf(err); err != nil && code != "player_exists" && code != "tier_limit" {
							p.Errorf("add: %v", err)
						}
						continue
					}
					all, err := p.Players(bg, by, approval.Filter{}, approval.Page{Limit: 50})
					if err != nil || len(all) > most {
						p.Errorf("got %d players, %v; want at most %d", len(all), err, most)
					}
					if len(all) == 0 {
						continue
					}
					picked := all[random.IntN(len(all))].ID
					if random.IntN(4) == 0 {
						_, err = p.Edit(bg, by, picked, approval.Patch{Student: approval.StudentPatch{FullName: &name}})
					} else {
						err = p.Remove(bg, by, picked)
					}
					if code := fault.CodeOf(err); err != nil && code != "player_exists" && code != "not_found" {
						p.Errorf("change: %v", err)
					}
				}
			})
		}
		workers.Wait()
		counted := p.count(`SELECT players FROM coaches WHERE id = $1`, by.AccountID)
		if live := p.count(`SELECT count(*) FROM players WHERE coach_id = $1 AND deleted_at IS NULL`, by.AccountID); live != counted || live > most {
			p.Errorf("got %d players, counter %d", live, counted)
		}
		if removed := p.count(`SELECT count(*) FROM players WHERE deleted_at IS NOT NULL`); removed < 10 {
			p.Errorf("only %d removals: the test proves nothing", removed)
		}
	})
}
