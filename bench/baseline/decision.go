package baseline

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/bench"
)

const updatePlayer = `UPDATE players SET guardian_changed_at = $2 WHERE id = $1`

// decision holds the service's statements for a guardian's approval, in their order.
type decision struct {
	selectSession, loadPlayer, savePlayer, closeRequest, addHistory,
	nextSequences, addNotifications, selectHistory, selectDeliveries string
}

// decisionsPerSecond is the largest number of decisions that a turn can make: it has a pending player for each.
const decisionsPerSecond = 4000

// Decision compares a guardian's approval, with its history record, its notification and its response.
func (f *Fixture) Decision(ctx context.Context, o bench.Options) ([]bench.Contender, error) {
	coaches, err := f.coaches(ctx, 50)
	if err != nil {
		return nil, err
	}
	n := int(o.Round.Seconds()*decisionsPerSecond)/o.Workers + 1
	var ofOperation, ofBaseline []family // one for each worker
	for range o.Workers {
		for _, list := range []*[]family{&ofOperation, &ofBaseline} {
			family, err := f.family(ctx, coaches, n)
			if err != nil {
				return nil, err
			}
			*list = append(*list, family)
		}
	}
	if err := f.analyze(ctx); err != nil {
		return nil, err
	}
	d, err := f.decisionStatements(ctx, coaches)
	if err != nil {
		return nil, err
	}
	if err := f.bare.prepare(ctx, updatePlayer, d.loadPlayer, d.savePlayer, d.closeRequest, d.addHistory, d.nextSequences, d.addNotifications); err != nil {
		return nil, err
	}
	floor := func(w http.ResponseWriter, r *http.Request) {
		s := f.bare.writing(r)
		s.begin()
		s.exec(updatePlayer, r.URL.Query().Get("p"), time.Now().UnixMicro())
		s.commit()
		s.respond(w)
	}
	same := func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		f.sameDecision(w, r, d, q.Get("s"), q.Get("p"))
	}
	eachPlayer := func(families []family, decide func(family, player) *http.Request) func(int) func() *http.Request {
		return func(worker int) func() *http.Request {
			family, i := families[worker], 0
			return func() *http.Request {
				if i == len(family.players) {
					return nil
				}
				i++
				return decide(family, family.players[i-1])
			}
		}
	}
	baseline := eachPlayer(ofBaseline, func(f family, p player) *http.Request {
		return bench.NewRequest(http.MethodPost, "/?s="+f.guardian.session+"&p="+p.id, nil, "")
	})
	operation := eachPlayer(ofOperation, approve)
	return []bench.Contender{
		{Name: Floor, Handler: http.HandlerFunc(floor), Requests: baseline},
		{Name: Same, Handler: http.HandlerFunc(same), Requests: baseline, Before: f.resetDecisions},
		{Name: Operation, Handler: f.app.Handler(), Requests: operation, Before: f.resetDecisions},
	}, nil
}

func approve(f family, p player) *http.Request {
	return bench.NewRequest(http.MethodPut, "/api/approval/guardian-response", f.header,
		`{"player_id":"`+p.id+`","action":"approved","request_id":"`+p.guardianRequest+`"}`)
}

// decisionStatements records the approvals of a family that no contender uses.
func (f *Fixture) decisionStatements(ctx context.Context, coaches []string) (d decision, err error) {
	family, err := f.family(ctx, coaches, 10)
	if err != nil {
		return d, err
	}
	i := 0
	recorded, err := record(func() error {
		i++
		return f.serve(approve(family, family.players[i]))
	})
	if err != nil {
		return d, err
	}
	d = decision{
		selectSession:    recorded.take("SELECT id, account_id, role", 1),
		loadPlayer:       recorded.take("SELECT p.id, p.coach_id", 1),
		savePlayer:       recorded.take("UPDATE players SET version", 23),
		closeRequest:     recorded.take("UPDATE requests SET state", 3),
		addHistory:       recorded.take("INSERT INTO approval_history", 8),
		nextSequences:    recorded.take("INSERT INTO accounts", 4),
		addNotifications: recorded.take("INSERT INTO notifications", 18),
		selectHistory:    recorded.take("SELECT id, player_id, approver_type", 1),
		selectDeliveries: recorded.take("SELECT request_id, channel", 2),
	}
	return d, recorded.complete()
}

// sameDecision runs the statements of an approval.
func (f *Fixture) sameDecision(w http.ResponseWriter, r *http.Request, d decision, sessionID, playerID string) {
	now := time.Now().UnixMicro()
	reads := f.bare.reading(r)
	sessions := reads.rows(1, d.selectSession, sessionID)
	if reads.err != nil {
		reads.respond(w)
		return
	}
	guardian := sessions[0][1]

	s := f.bare.writing(r)
	s.begin()
	players := s.rows(1, d.loadPlayer, playerID)
	var requests [2]any
	if s.err == nil {
		v := players[0]
		requests[0], requests[1] = v[22], v[30]
		s.decide(d, v, guardian, now)
	}
	s.commit()

	reads.err = s.err
	reads.rows(1, d.selectHistory, playerID)
	reads.rows(4, d.selectDeliveries, requests[0], requests[1])
	reads.respond(w)
}

// decide writes an approval of the player with the columns v of decision.loadPlayer.
func (s *runner) decide(d decision, v []any, guardian any, now int64) {
	id, coach, request := v[0], v[1], v[22]
	name, _ := v[4].(string)
	key := strings.ToLower(name)
	s.exec(d.savePlayer, id, v[3], name, key, v[5], key+"\nravi rao", v[6], v[7], v[18], v[19], v[20], v[21], v[30],
		v[8], v[9], v[11], v[10], guardian, "approved", now, v[17], request, v[13])
	s.exec(d.closeRequest, request, "approved", now)
	s.exec(d.addHistory, newID(), id, "guardian", guardian, "approved", nil, request, now)
	sequences := map[any]any{}
	for _, row := range s.rows(2, d.nextSequences, coach, guardian, 1, 1) {
		sequences[row[0]] = row[1]
	}
	data := fmt.Sprintf(`{"player_id":"%s"}`, id)
	s.exec(d.addNotifications,
		coach, sequences[coach], newID(), "guardian_approved", "Ravi Rao said yes", name+" may use the guardian's app services.", data, id, now,
		guardian, sequences[guardian], newID(), "guardian_approval_confirmed", "You said yes", name+" may use the app services.", data, id, now)
}

// resetDecisions returns every player to pending.
func (f *Fixture) resetDecisions(ctx context.Context) error {
	for _, statement := range []string{
		`UPDATE players SET guardian_state = 'pending', guardian_changed_at = NULL WHERE guardian_state <> 'pending'`,
		`UPDATE requests SET state = 'pending', closed_at = NULL WHERE state <> 'pending'`,
		`DELETE FROM approval_history`,
		`DELETE FROM notifications`,
	} {
		if _, err := f.bare.writes.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if !f.bare.sqlite {
		_, err := f.bare.writes.ExecContext(ctx, `VACUUM players, requests, approval_history, notifications, accounts`)
		return err
	}
	_, err := f.bare.writes.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
}
