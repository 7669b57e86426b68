package program

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/bench"
)

// prepare signs in a coach and a guardian for each worker, adds their players, and registers the coaches of the sign-in.
func (s *runningServer) prepare(ctx context.Context, workers int) error {
	for i := range workers {
		a, err := s.newAccounts(ctx, i)
		if err != nil {
			return err
		}
		s.workers = append(s.workers, a)
	}
	known, err := s.contender("sign-in")
	if err != nil {
		return err
	}
	return register(ctx, known, workers)
}

func (s *runningServer) newAccounts(ctx context.Context, worker int) (*accounts, error) {
	c := newClient(s.server.URL())
	signIn := func(number, role string) (access, refresh string, err error) {
		s.gateway.expect(number)
		return c.signIn(ctx, number, role, func() string { return s.gateway.await(number) })
	}
	coachNumber, guardianNumber := fmt.Sprintf("+91983%07d", worker), fmt.Sprintf("+91984%07d", worker)

	a := &accounts{}
	access, _, err := signIn(coachNumber, "coach")
	if err != nil {
		return nil, err
	}
	a.coach = bench.BearerHeader(access)
	if _, err := c.post(ctx, "/auth/complete-profile", a.coach,
		`{"name":"Meera Nair","bio":"Hockey for every child.","experience_years":7,"sports":["hockey"]}`); err != nil {
		return nil, err
	}
	for range playersOfWorker {
		body, err := c.post(ctx, "/api/players/add", a.coach, playerBody(guardianNumber, "", s.added.Add(1)))
		if err != nil {
			return nil, err
		}
		player, err := bench.StringMember(body, "player_id")
		if err != nil {
			return nil, err
		}
		a.players = append(a.players, player)
	}
	if access, _, err = signIn(guardianNumber, "guardian"); err != nil {
		return nil, err
	}
	a.guardian = bench.BearerHeader(access)
	_, a.refreshToken, err = signIn(coachNumber, "coach")
	return a, err
}
