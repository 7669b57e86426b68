package baseline

import (
	"context"
	"database/sql"
	"net/http"
	"strconv"
	"time"

	"github.com/touchline/touchline/bench"
)

const updateSession = `UPDATE sessions SET last_used_at = $2 WHERE id = $1`

// rotateSession is the statement of store.Rotate.
const rotateSession = `
	UPDATE sessions
	SET generation = generation + 1, refresh_hash = $4, used_before = substr(CAST(COALESCE(used_at, $5) AS TEXT) || used_before, 1, $7),
		used_at = NULL, last_used_at = $5, idle_at = $6
	WHERE id = $1 AND generation = $2 AND refresh_hash = $3
		AND revoked_at IS NULL AND idle_at > $5 AND ends_at > $5
	RETURNING id, account_id, role, mobile_number, device_id, device_name, generation,
		used_at, used_before, created_at, last_used_at, idle_at, ends_at, revoked_at,
		(SELECT CASE WHEN c.name IS NULL THEN '' ELSE 'name,' END
			|| CASE WHEN c.email IS NULL THEN '' ELSE 'email,' END
			|| CASE WHEN c.bio IS NULL THEN '' ELSE 'bio,' END
			|| CASE WHEN c.experience_years IS NULL THEN '' ELSE 'experience_years,' END
			|| CASE WHEN c.sports = '[]' THEN '' ELSE 'sports,' END
		FROM coaches c WHERE c.id = sessions.account_id)`

// Refresh compares the rotation of a coach's refresh token.
func (f *Fixture) Refresh(ctx context.Context, o bench.Options) ([]bench.Contender, error) {
	workers := o.Workers
	var ofOperation, ofBaseline []account // one for each worker
	for range workers {
		for _, list := range []*[]account{&ofOperation, &ofBaseline} {
			p, err := f.coach()
			if err != nil {
				return nil, err
			}
			*list = append(*list, p)
		}
	}
	hash := make([]byte, 32)
	for _, p := range ofBaseline {
		if _, err := f.bare.writes.ExecContext(ctx, `UPDATE sessions SET refresh_hash = $2 WHERE id = $1`, p.session, hash); err != nil {
			return nil, err
		}
	}
	if err := f.analyze(ctx); err != nil {
		return nil, err
	}
	floor := func(w http.ResponseWriter, r *http.Request) {
		s := f.bare.writing(r)
		s.exec(updateSession, r.URL.Query().Get("s"), time.Now().UnixMicro())
		s.respond(w)
	}
	same := func(w http.ResponseWriter, r *http.Request) {
		var id, account, role, number, device, before string
		var deviceName, filled sql.NullString
		var generation, created, last, idle, ends int64
		var used, revoked sql.NullInt64
		q, now := r.URL.Query(), time.Now()
		g, _ := strconv.ParseInt(q.Get("g"), 10, 64)
		s := f.bare.writing(r)
		s.row(rotateSession, []any{q.Get("s"), g, hash, hash, now.UnixMicro(), now.Add(336 * time.Hour).UnixMicro(), 128},
			&id, &account, &role, &number, &device, &deviceName, &generation, &used, &before, &created, &last, &idle, &ends, &revoked, &filled)
		s.respond(w)
	}
	generations := make([]int, workers)
	refresh := make([]string, workers)
	for i := range workers {
		generations[i], refresh[i] = 1, ofOperation[i].refresh
	}
	return []bench.Contender{
		{Name: Floor, Handler: http.HandlerFunc(floor), Requests: func(worker int) func() *http.Request {
			r := bench.NewRequest(http.MethodPost, "/?s="+ofBaseline[worker].session, nil, "")
			return func() *http.Request { return r }
		}},
		{Name: Same, Handler: http.HandlerFunc(same), Requests: func(worker int) func() *http.Request {
			return func() *http.Request {
				g := generations[worker]
				generations[worker]++
				return bench.NewRequest(http.MethodPost, "/?s="+ofBaseline[worker].session+"&g="+strconv.Itoa(g), nil, "")
			}
		}},
		{Name: Operation, Handler: f.app.Handler(), Requests: func(worker int) func() *http.Request {
			return func() *http.Request {
				return bench.NewRequest(http.MethodPost, "/auth/refresh", bench.JSONHeader, `{"refresh_token":"`+refresh[worker]+`"}`)
			}
		}, Response: func(worker, status int, body []byte) (err error) {
			if err := bench.ExpectStatus(http.StatusOK, status, body); err != nil {
				return err
			}
			refresh[worker], err = bench.StringMember(body, "refresh_token")
			return err
		}},
	}, nil
}
