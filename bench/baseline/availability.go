package baseline

import (
	"context"
	"database/sql"
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

// selectAvailability is the statement of store.Availability.
const selectAvailability = `
	SELECT s.account_id, s.role, s.mobile_number, s.generation, s.used_at, s.ends_at, s.revoked_at,
		p.id, p.guardian_state, p.student_state, p.date_of_birth
	FROM sessions s
	LEFT JOIN players p ON p.id = $2 AND p.deleted_at IS NULL AND (
		s.role = 'coach' AND p.coach_id = s.account_id
		OR s.role = 'guardian' AND p.guardian_id = s.account_id
		OR s.role = 'student' AND p.student_id = s.account_id)
	WHERE s.id = $1`

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
	floor := func(w http.ResponseWriter, r *http.Request) {
		var state string
		s := f.bare.reading(r)
		s.row(selectPlayer, []any{r.URL.Query().Get("p")}, &state)
		s.respond(w)
	}
	same := func(w http.ResponseWriter, r *http.Request) {
		var account, role, number, player, guardian, student, born string
		var generation, ends int64
		var used, revoked sql.NullInt64
		s := f.bare.reading(r)
		q := r.URL.Query()
		s.row(selectAvailability, []any{q.Get("s"), q.Get("p")},
			&account, &role, &number, &generation, &used, &ends, &revoked, &player, &guardian, &student, &born)
		s.respond(w)
	}
	// Each worker starts at another player.
	each := func(path func(p player) string, header http.Header) func(int) func() *http.Request {
		return func(worker int) func() *http.Request {
			i := worker * 97
			return func() *http.Request {
				i++
				return bench.NewRequest(http.MethodGet, path(family.players[i%len(family.players)]), header, "")
			}
		}
	}
	return []bench.Contender{
		{Name: Floor, Handler: http.HandlerFunc(floor), Requests: each(
			func(p player) string { return "/?p=" + p.id }, nil)},
		{Name: Same, Handler: http.HandlerFunc(same), Requests: each(
			func(p player) string { return "/?s=" + family.guardian.session + "&p=" + p.id }, nil)},
		{Name: Operation, Handler: f.app.Handler(), Requests: each(
			func(p player) string { return "/api/services/availability/" + p.id }, family.header)},
	}, nil
}
