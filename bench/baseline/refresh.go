package baseline

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/touchline/touchline/bench"
)

const updateSession = `UPDATE sessions SET last_used_at = $2 WHERE id = $1`

// Refresh compares the rotation of a coach's refresh token.
func (f *Fixture) Refresh(ctx context.Context, o bench.Options) ([]bench.Contender, error) {
	var ofOperation, ofBaseline []account // one for each worker
	for range o.Workers {
		for _, list := range []*[]account{&ofOperation, &ofBaseline} {
			a, err := f.coach()
			if err != nil {
				return nil, err
			}
			*list = append(*list, a)
		}
	}
	hash := make([]byte, 32)
	for _, a := range ofBaseline {
		if _, err := f.bare.writes.ExecContext(ctx, `UPDATE sessions SET refresh_hash = $2 WHERE id = $1`, a.session, hash); err != nil {
			return nil, err
		}
	}
	rotate, err := f.rotateStatement()
	if err != nil {
		return nil, err
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
		q, now := r.URL.Query(), time.Now()
		generation, _ := strconv.ParseInt(q.Get("g"), 10, 64)
		s := f.bare.writing(r)
		s.rows(1, rotate, q.Get("s"), generation, hash, hash, now.UnixMicro(), now.Add(336*time.Hour).UnixMicro(), 128)
		s.respond(w)
	}
	generations := make([]int, o.Workers)
	return []bench.Contender{
		{Name: Floor, Handler: http.HandlerFunc(floor), Requests: func(worker int) func() *http.Request {
			return func() *http.Request {
				return bench.NewRequest(http.MethodPost, "/?s="+ofBaseline[worker].session, nil, "")
			}
		}},
		{Name: Same, Handler: http.HandlerFunc(same), Requests: func(worker int) func() *http.Request {
			return func() *http.Request {
				generations[worker]++
				return bench.NewRequest(http.MethodPost, "/?s="+ofBaseline[worker].session+"&g="+strconv.Itoa(generations[worker]), nil, "")
			}
		}},
		{Name: Operation, Handler: f.app.Handler(), Requests: func(worker int) func() *http.Request {
			return func() *http.Request { return refreshRequest(ofOperation[worker].refresh) }
		}, Response: func(worker, status int, body []byte) (err error) {
			if err := bench.ExpectStatus(http.StatusOK, status, body); err != nil {
				return err
			}
			ofOperation[worker].refresh, err = bench.StringMember(body, "refresh_token")
			return err
		}},
	}, nil
}

func refreshRequest(token string) *http.Request {
	return bench.NewRequest(http.MethodPost, "/auth/refresh", bench.JSONHeader, `{"refresh_token":"`+token+`"}`)
}

// rotateStatement returns the service's statement for a rotation.
func (f *Fixture) rotateStatement() (string, error) {
	a, err := f.coach()
	if err != nil {
		return "", err
	}
	recorded, err := record(func() error {
		body, err := f.post("/auth/refresh", nil, map[string]any{"refresh_token": a.refresh})
		if err == nil {
			a.refresh, err = bench.StringMember(body, "refresh_token")
		}
		return err
	})
	if err != nil {
		return "", err
	}
	rotate := recorded.take("UPDATE sessions SET generation", 7)
	return rotate, recorded.complete()
}
