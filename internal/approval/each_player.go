package approval

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
)

// eachPage is the number of players that EachPlayer reads at a time.
const eachPage = 200

// EachPlayer calls fn with each player of the calling coach that matches f, the newest first,
// until fn returns an error.
func (s *Service) EachPlayer(ctx context.Context, by actor.Actor, f Filter, fn func(*Player) error) error {
	page := Page{Limit: eachPage}
	for {
		players, err := s.Players(ctx, by, f, page)
		if err != nil {
			return err
		}
		for _, p := range players {
			if err := fn(p); err != nil {
				return err
			}
		}
		if len(players) < eachPage {
			return nil
		}
		page.After.ID = players[len(players)-1].ID
	}
}
