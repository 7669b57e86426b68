package store_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/operator"
)

// subscriptions runs every statement on tiers for TestPlans.
func (p *fixture) subscriptions() {
	p.Helper()
	by := p.coach(9170)
	_, err := p.db.Subscription(bg, by.AccountID)
	ok(p, err)
	ok(p, p.db.UpdateTier(bg, by.AccountID, func(string) (string, error) { return "one", nil }))
	ok(p, p.db.RequestTier(bg, by.AccountID, "one"))
	ok(p, p.db.SetTier(bg, actor.Operator{Name: "shell:test"}, by.AccountID, "one"))
}

// TestUpdateTier checks that concurrent updates see each other's results.
func TestUpdateTier(t *testing.T) {
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		for i, err := range concurrently(20, func(i int) error {
			return p.db.UpdateTier(bg, by.AccountID, func(stored string) (string, error) { return stored + "x", nil })
		}) {
			if err != nil {
				p.Errorf("update %d: %v", i, err)
			}
		}
		sub, err := p.db.Subscription(bg, by.AccountID)
		ok(p, err)
		if len(sub.StoredTier) != 20 || !sub.Since.Equal(p.clock.Now()) {
			p.Errorf("got tier %q since %s, want 20 updates", sub.StoredTier, sub.Since)
		}
		ok(p, p.db.UpdateTier(bg, by.AccountID, func(string) (string, error) { return "", nil }))
		if sub, err = p.db.Subscription(bg, by.AccountID); err != nil || sub.StoredTier != "" {
			p.Errorf("got subscription %+v, %v", sub, err)
		}
		for _, name := range []string{"gold", "", "gold"} {
			ok(p, p.db.RequestTier(bg, by.AccountID, name))
			if sub, err = p.db.Subscription(bg, by.AccountID); err != nil || sub.Requested != name || sub.StoredTier != "" {
				p.Errorf("requested %q: got subscription %+v, %v", name, sub, err)
			}
		}
		ok(p, p.db.SetTier(bg, actor.Operator{ID: "token", Name: "desk"}, by.AccountID, "staff"))
		if sub, err = p.db.Subscription(bg, by.AccountID); err != nil || sub.StoredTier != "staff" || sub.Requested != "" {
			p.Errorf("got subscription %+v, %v", sub, err)
		}
		log, err := p.db.Audit(bg, auditor, by.AccountID, "", 10)
		if err != nil || len(log) != 1 || log[0].Action != operator.CoachTier || log[0].Detail != "staff" || log[0].By.Name != "desk" {
			p.Errorf("got audit log %+v, %v", log, err)
		}
		for _, id := range []string{"unknown", ""} {
			_, err := p.db.Subscription(bg, id)
			p.refused(err, "session_revoked")
			p.refused(p.db.SetTier(bg, actor.Operator{Name: "shell:test"}, id, "x"), "not_found")
			p.refused(p.db.UpdateTier(bg, id, func(string) (string, error) { return "x", nil }), "session_revoked")
		}
	})
}

// TestConcurrentRosterCount adds, renames and removes players concurrently. The
// counter must equal the number of players and never exceed the limit.
func TestConcurrentRosterCount(t *testing.T) {
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
		ok(p, p.db.UpdateTier(bg, by.AccountID, func(string) (string, error) { return "own", nil }))
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
