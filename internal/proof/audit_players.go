package proof

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// playersBatch is how many players a statement of the audit reads.
const playersBatch = 500

// auditPlayers replays the records of all players. It returns how many of the records with a position below size it saw.
func (s *Service) auditPlayers(ctx context.Context, r *Report, size int64) (seen int64, err error) {
	// The next batches are read while these are replayed.
	type batch struct {
		players []*copyOfPlayer
		found   chan []string
	}
	batches := make(chan batch, runtime.GOMAXPROCS(0)+1)
	inOrder := make(chan batch, cap(batches))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var readErr error
	go func() {
		defer close(batches)
		defer close(inOrder)
		for after := ""; ; {
			var b batch
			if b.players, readErr = s.readPlayers(ctx, after); readErr != nil || len(b.players) == 0 {
				return
			}
			after = b.players[len(b.players)-1].id
			b.found = make(chan []string, 1)
			for _, c := range []chan batch{batches, inOrder} {
				select {
				case c <- b:
				case <-ctx.Done():
					readErr = ctx.Err()
					return
				}
			}
		}
	}()
	var workers sync.WaitGroup
	defer workers.Wait()
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for b := range batches {
				var found []string
				for _, p := range b.players {
					for _, f := range s.replay(p) {
						found = append(found, p.finding(f))
					}
				}
				b.found <- found
			}
		})
	}
	for b := range inOrder {
		for _, finding := range <-b.found {
			r.add("%s", finding)
		}
		r.Players += int64(len(b.players))
		for _, p := range b.players {
			seen += p.numbered(size)
		}
	}
	if readErr != nil {
		return seen, readErr
	}
	n, err := s.auditErasures(ctx, r, size)
	return seen + n, err
}

// finding returns the text of a finding.
func (p *copyOfPlayer) finding(f finding) string {
	if f.party == "" {
		return fmt.Sprintf("player %s: %s", p.id, f.text)
	}
	return fmt.Sprintf("player %s, %s: %s", p.id, f.party, f.text)
}

// numbered returns how many records of p have a position below size.
func (p *copyOfPlayer) numbered(size int64) (n int64) {
	for _, records := range p.records {
		for _, r := range records {
			if r.position >= 0 && r.position < size {
				n++
			}
		}
	}
	return n
}
