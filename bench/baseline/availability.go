package baseline

import (
	"context"
	"database/sql"
	"net/http"

	"github.com/touchline/touchline/bench"
)

// The names of the contenders.
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

// Availability compares the reading of a player's availability by the guardian.
func (h *Fixture) Availability(ctx context.Context, _ bench.Options) ([]bench.Contender, error) {
	coaches, err := h.coaches(ctx, 20)
	if err != nil {
		return nil, err
	}
	f, err := h.family(ctx, coaches, 1000)
	if err != nil {
		return nil, err
	}
	if err := h.analyze(ctx); err != nil {
		return nil, err
	}
	floor := func(w http.ResponseWriter, r *http.Request) {
		var state string
		s := h.bare.reading(r)
		s.row(selectPlayer, []any{r.URL.Query().Get("p")}, &state)
		s.answer(w)
	}
	same := func(w http.ResponseWriter, r *http.Request) {
		var account, role, number, player, guardian, student, born string
		var generation, ends int64
		var used, revoked sql.NullInt64
		s := h.bare.reading(r)
		q := r.URL.Query()
		s.row(selectAvailability, []any{q.Get("s"), q.Get("p")},
			&account, &role, &number, &generation, &used, &ends, &revoked, &player, &guardian, &student, &born)
		s.answer(w)
	}
	// Each worker goes through the players from a place of its own.
	each := func(path func(c child) string, header http.Header) func(int) func() *http.Request {
		return func(worker int) func() *http.Request {
			i := worker * 97
			return func() *http.Request {
				i++
				return request(http.MethodGet, path(f.children[i%len(f.children)]), header, "")
			}
		}
	}
	return []bench.Contender{
		{Name: Floor, Handler: http.HandlerFunc(floor), Requests: each(func(c child) string { return "/?p=" + c.player }, nil)},
		{Name: Same, Handler: http.HandlerFunc(same), Requests: each(func(c child) string { return "/?s=" + f.guardian.session + "&p=" + c.player }, nil)},
		{Name: Operation, Handler: h.app.Handler(), Requests: each(
			func(c child) string { return "/api/services/availability/" + c.player }, f.header)},
	}, nil
}
