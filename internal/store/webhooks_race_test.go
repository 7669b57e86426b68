package store_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestWebhookRace: while players change, several replicas send the messages of one webhook.
// Each message is sent once, and messages of a player one after the other.
func TestWebhookRace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		const players, rounds, replicas = 6, 4, 3
		p := newFixture(t, url)
		p.addWebhook()
		coach := p.coach(1)
		var all []*approval.Player
		for i := range players {
			all = append(all, p.add(coach, fmt.Sprint("Asha ", i), number(100+i), ""))
		}
		var mu sync.Mutex
		sent, inFlight, failures := map[string][]int64{}, map[string]bool{}, map[string]int{}
		var finished atomic.Int64
		send := func(m feed.WebhookMessage) int {
			mu.Lock()
			defer mu.Unlock()
			if inFlight[m.PlayerID] {
				t.Errorf("two messages of %s at the same time", m.PlayerID)
			}
			inFlight[m.PlayerID] = true
			if m.Sequence%5 == 0 && failures[m.ID] < 1 {
				failures[m.ID]++
				return 500
			}
			sent[m.PlayerID] = append(sent[m.PlayerID], m.Sequence)
			return 200
		}
		replica := func() error {
			for {
				done := finished.Load() == players
				due, _, err := p.webhooks().Due(bg)
				if err != nil {
					return err
				}
				if len(due) == 0 && done && p.count(`SELECT count(*) FROM webhook_messages WHERE state = 'queued'`) == 0 {
					return nil
				}
				worked := false
				for _, id := range due {
					if _, err := p.webhooks().Queue(bg, id); err != nil {
						return err
					}
					_, messages, err := p.webhooks().Claim(bg, id, p.db.NewID(), p.clock.Now().Add(time.Hour), 2)
					if err != nil {
						return err
					}
					worked = worked || len(messages) > 0
					for _, m := range messages {
						r := m.After(feed.WebhookAttempt{Status: send(m)}, p.clock.Now(), 0)
						mu.Lock()
						inFlight[m.PlayerID] = false
						mu.Unlock()
						if _, err := p.webhooks().SaveResult(bg, id, m, r); err != nil {
							return err
						}
					}
				}
				if !worked {
					p.clock.advance(time.Second) // to the next attempt
				}
			}
		}
		errs := concurrently(players+replicas, func(i int) error {
			if i >= players {
				return replica()
			}
			defer finished.Add(1)
			guardian := p.as(actor.Guardian, number(100+i))
			for range rounds {
				if err := p.decide(guardian, all[i].ID, approval.Approve); err != nil {
					return err
				}
				if err := p.decide(guardian, all[i].ID, approval.Revoke); err != nil {
					return err
				}
				if _, _, err := p.Send(bg, coach, all[i].ID, actor.Guardian, approval.Patch{}, nil); err != nil {
					return err
				}
			}
			return nil
		})
		for _, err := range errs {
			ok(t, err)
		}
		for _, player := range slices.Sorted(maps.Keys(sent)) {
			for i, sequence := range sent[player] {
				if sequence != int64(i+1) {
					t.Errorf("player %s: got sequences %v, want each once and in order", player, sent[player])
					break
				}
			}
			if len(sent[player]) != 2+3*rounds {
				t.Errorf("player %s: got %d messages, want %d", player, len(sent[player]), 2+3*rounds)
			}
		}
		if len(sent) != players {
			t.Errorf("got messages of %d players, want %d", len(sent), players)
		}
	})
}
