package baseline

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/bench"
)

// The names of the contenders: a handler with one statement, a handler with the operation's statements, and the operation.
const (
	Floor     = "floor"
	Same      = "same statements"
	Operation = "operation"
)

const selectPlayer = `SELECT guardian_state FROM players WHERE id = $1`

// Availability compares the read of a player's availability by the guardian.
func (f *Fixture) Availability(ctx context.Context, _ bench.Options) ([]bench.Contender, error) {
	coaches, err := f.coaches(ctx, 20)
	if err != nil {
		return nil, err
	}
	family, err := f.family(ctx, coaches, 1000)
	if err != nil {
		return nil, err
	}
	if err := f.analyze(ctx); err != nil {
		return nil, err
	}
	read := func(p player) *http.Request {
		return bench.NewRequest(http.MethodGet, "/api/services/availability/"+p.id, family.header, "")
	}
	recorded, err := record(func() error { return f.serve(read(family.players[0])) })
	if err != nil {
		return nil, err
	}
	selectSession := recorded.take("SELECT id, account_id, role", 1)
	selectStates := recorded.take("SELECT guardian_state", 3)
	if err := recorded.complete(); err != nil {
		return nil, err
	}
	floor := func(w http.ResponseWriter, r *http.Request) {
		s := f.bare.reading(r)
		s.rows(1, selectPlayer, r.URL.Query().Get("p"))
		s.respond(w)
	}
	same := func(w http.ResponseWriter, r *http.Request) {
		s := f.bare.reading(r)
		s.rows(1, selectSession, family.guardian.session)
		s.rows(1, selectStates, r.URL.Query().Get("p"), "guardian", family.guardian.id)
		s.respond(w)
	}
	// Each worker starts at another player.
	each := func(request func(player) *http.Request) func(int) func() *http.Request {
		return func(worker int) func() *http.Request {
			i := worker * 97
			return func() *http.Request {
				i++
				return request(family.players[i%len(family.players)])
			}
		}
	}
	baseline := each(func(p player) *http.Request { return bench.NewRequest(http.MethodGet, "/?p="+p.id, nil, "") })
	return []bench.Contender{
		{Name: Floor, Handler: http.HandlerFunc(floor), Requests: baseline},
		{Name: Same, Handler: http.HandlerFunc(same), Requests: baseline},
		{Name: Operation, Handler: f.app.Handler(), Requests: each(read)},
	}, nil
}
