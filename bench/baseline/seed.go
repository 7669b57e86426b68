package baseline

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/program"
)

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// player is a seeded player.
type player struct{ id, guardianRequest string }

// inserts collects rows for one table and writes them in batches.
type inserts struct {
	into string
	rows [][]any
}

func (i *inserts) add(values ...any) { i.rows = append(i.rows, values) }

func (i *inserts) write(ctx context.Context, b *bare) error {
	const batch = 500
	for len(i.rows) > 0 {
		n := min(len(i.rows), batch)
		var values []string
		var args []any
		for _, row := range i.rows[:n] {
			parameters := make([]string, len(row))
			for k, v := range row {
				args = append(args, v)
				parameters[k] = fmt.Sprintf("$%d", len(args))
			}
			values = append(values, "("+strings.Join(parameters, ", ")+")")
		}
		if _, err := b.writes.ExecContext(ctx, "INSERT INTO "+i.into+" VALUES "+strings.Join(values, ", "), args...); err != nil {
			return fmt.Errorf("seed %s: %w", i.into, err)
		}
		i.rows = i.rows[n:]
	}
	return nil
}

// family is a guardian with many players.
type family struct {
	guardian account
	header   http.Header
	players  []player
}

// family seeds a guardian with n players and signs the guardian in.
func (f *Fixture) family(ctx context.Context, coaches []string, n int) (family, error) {
	guardian := account{id: newID(), number: program.TestNumber(f.accounts)}
	accounts := inserts{into: "accounts (id, mobile_number, role, tray_seq, created_at)"}
	accounts.add(guardian.id, guardian.number, "guardian", 0, time.Now().UnixMicro())
	if err := accounts.write(ctx, f.bare); err != nil {
		return family{}, err
	}
	// The players come first: a number can sign in as guardian only while a player names it.
	players, err := f.seed(ctx, coaches, guardian, n)
	if err != nil {
		return family{}, err
	}
	guardian, err = f.signIn("guardian")
	return family{guardian: guardian, header: bench.BearerHeader(guardian.access), players: players}, err
}

// seed adds n players, spread over coaches. Their requests to guardian and student are pending and delivered.
func (f *Fixture) seed(ctx context.Context, coaches []string, guardian account, n int) ([]player, error) {
	accounts := inserts{into: "accounts (id, mobile_number, role, tray_seq, created_at)"}
	players := inserts{into: `players (id, coach_id, version, student_name, student_key, date_of_birth, search_key,
		student_number, student_id, student_state, student_pending_since, student_request_id,
		guardian_name, guardian_relationship, guardian_number, guardian_id, guardian_state, guardian_pending_since, guardian_request_id, created_at)`}
	requests := inserts{into: `requests (id, player_id, coach_id, approver_type, approver_id, state, channels, requested_at, last_sent_at, delivery_failed)`}
	deliveries := inserts{into: `deliveries (id, kind, channel, state, account_id, recipient, role, coach_id, request_id, attempts, due_at, gives_up_at, created_at, updated_at)`}
	now := time.Now().UnixMicro()
	seeded := make([]player, n)
	for i := range seeded {
		p, coach := player{id: newID(), guardianRequest: newID()}, coaches[i%len(coaches)]
		student, studentRequest, number := newID(), newID(), fmt.Sprintf("+9170%08d", f.students)
		f.students++
		name := fmt.Sprintf("Player %s", p.id)
		accounts.add(student, number, "student", 1, now)
		players.add(p.id, coach, 1, name, strings.ToLower(name), "2014-04-30", strings.ToLower(name)+"\nravi rao",
			number, student, "pending", now, studentRequest,
			"Ravi Rao", "father", guardian.number, guardian.id, "pending", now, p.guardianRequest, now)
		for _, request := range []struct{ id, role, account, number string }{
			{p.guardianRequest, "guardian", guardian.id, guardian.number}, {studentRequest, "student", student, number},
		} {
			requests.add(request.id, p.id, coach, request.role, request.account, "pending", "in_app,sms", now, now, false)
			deliveries.add(newID(), "request", "in_app", "delivered", request.account, "", request.role, coach, request.id, 0, now, now, now, now)
			deliveries.add(newID(), "request", "sms", "sent", request.account, request.number, request.role, coach, request.id, 1, now, now, now, now)
		}
		seeded[i] = p
	}
	for _, table := range []*inserts{&accounts, &players, &requests, &deliveries} {
		if err := table.write(ctx, f.bare); err != nil {
			return nil, err
		}
	}
	return seeded, nil
}

// coaches seeds n coaches without sessions and returns their ids.
func (f *Fixture) coaches(ctx context.Context, n int) ([]string, error) {
	accounts := inserts{into: "accounts (id, mobile_number, role, tray_seq, created_at)"}
	profiles := inserts{into: "coaches (id, name, sports, version, created_at, updated_at)"}
	ids := make([]string, n)
	now := time.Now().UnixMicro()
	for i := range ids {
		ids[i] = newID()
		accounts.add(ids[i], fmt.Sprintf("+9171%08d", i), "coach", 0, now)
		profiles.add(ids[i], "Meera Nair", `["hockey"]`, 1, now, now)
	}
	if err := accounts.write(ctx, f.bare); err != nil {
		return nil, err
	}
	return ids, profiles.write(ctx, f.bare)
}

// analyze updates PostgreSQL's statistics, as autovacuum would a minute later. SQLite is not analyzed, as in production: with
// statistics its planner prepares a statement again whenever the parameters change.
func (f *Fixture) analyze(ctx context.Context) error {
	if f.bare.sqlite {
		return nil
	}
	_, err := f.bare.writes.ExecContext(ctx, "ANALYZE")
	return err
}
