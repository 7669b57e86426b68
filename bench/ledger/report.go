//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/bench"
)

// report compares the ledger with the service.
type report struct {
	acknowledged, failed, lost, doubled, unknown int
	gap                                          time.Duration
	gapEnd                                       time.Time
	elapsed                                      time.Duration
	reason                                       map[string]int
}

// String returns the report for people, a line for each fact.
func (r *report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d writes acknowledged, %d lost, %d doubled\n", r.acknowledged, r.lost, r.doubled)
	if r.unknown > 0 {
		fmt.Fprintf(&b, "%d writes were done and never acknowledged\n", r.unknown)
	}
	if r.gap > 0 {
		fmt.Fprintf(&b, "longest time without a write %s, until %s\n", r.gap.Round(time.Millisecond), r.gapEnd.UTC().Format("15:04:05.000"))
		fmt.Fprintf(&b, "%d calls failed in %s and were repeated\n", r.failed, r.elapsed.Round(time.Second))
	}
	for _, reason := range slices.Sorted(maps.Keys(r.reason)) {
		fmt.Fprintf(&b, "  %6d  %s\n", r.reason[reason], reason)
	}
	return b.String()
}

func (l *ledger) printCounts() {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Printf("%s  %d calls failed, longest time without a write %s, last write %s ago\n",
		stamp(), l.failed, l.gap.Round(time.Millisecond), time.Since(l.last).Round(time.Millisecond))
}

// compare reads all players of the coaches and looks for each acknowledged write.
func (l *ledger) compare(ctx context.Context) (*report, error) {
	r := &report{failed: l.failed, gap: l.gap, gapEnd: l.gapEnd, elapsed: time.Since(l.start), reason: l.reason}
	for _, c := range l.coaches {
		r.acknowledged += len(c.Acknowledged)
		ids, err := l.players(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("read the players: %w", err)
		}
		for name, id := range c.Acknowledged {
			if !slices.Contains(ids[name], id) {
				r.lost++
			}
		}
		for name, found := range ids {
			if len(found) > 1 {
				r.doubled++
			}
			if _, ok := c.Acknowledged[name]; !ok {
				r.unknown++
			}
		}
	}
	return r, nil
}

// players returns the ids of the coach's players by name, of this run only.
func (l *ledger) players(ctx context.Context, c *coach) (map[string][]string, error) {
	ids := make(map[string][]string)
	for cursor, deadline := "", time.Now().Add(time.Minute); ; {
		status, body, err := l.do(ctx, http.MethodGet, l.url+"/api/players?limit=100"+cursor, bench.BearerHeader(c.Token), "")
		if err != nil || status != http.StatusOK {
			if time.Now().After(deadline) {
				return nil, errors.Join(err, fmt.Errorf("status %d: %s", status, body))
			}
			time.Sleep(100 * time.Millisecond)
			continue
		}
		var page struct {
			Items []struct {
				PlayerID string `json:"player_id"`
				Student  struct {
					FullName string `json:"full_name"`
				}
			}
			NextCursor string `json:"next_cursor"`
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, err
		}
		for _, p := range page.Items {
			if name := p.Student.FullName; strings.HasPrefix(name, l.name) {
				ids[name] = append(ids[name], p.PlayerID)
			}
		}
		if page.NextCursor == "" {
			return ids, nil
		}
		cursor = "&cursor=" + url.QueryEscape(page.NextCursor)
	}
}

// kept is a ledger in a file.
type kept struct {
	Name    string
	Coaches []*coach
}

func (l *ledger) save(file string) error {
	text, err := json.Marshal(kept{l.name, l.coaches})
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

func (l *ledger) load(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	l.name, l.coaches = k.Name, k.Coaches
	return nil
}
