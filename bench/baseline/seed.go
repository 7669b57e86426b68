package baseline

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// child is a player who was seeded.
type child struct{ player, coach, guardian, guardianRequest string }

// inserts collects rows and writes them many at a time.
type inserts struct {
	into string
	rows [][]any
}

func (i *inserts) add(values ...any) { i.rows = append(i.rows, values) }

func (i *inserts) write(ctx context.Context, b *bare) error {
	const most = 500
	for len(i.rows) > 0 {
		n := min(len(i.rows), most)
		var values []string
		var args []any
		for _, row := range i.rows[:n] {
			marks := make([]string, len(row))
			for k, v := range row {
				args = append(args, v)
				marks[k] = fmt.Sprintf("$%d", len(args))
			}
			values = append(values, "("+strings.Join(marks, ", ")+")")
		}
		if _, err := b.writes.ExecContext(ctx, "INSERT INTO "+i.into+" VALUES "+strings.Join(values, ", "), args...); err != nil {
			return fmt.Errorf("seed %s: %w", i.into, err)
		}
		i.rows = i.rows[n:]
	}
	return nil
}

// family is one guardian with many children, who are with as many coaches.
type family struct {
	guardian person
	header   http.Header
	children []child
}

// family makes a guardian, signed in, of n children.
func (h *Fixture) family(ctx context.Context, coaches []string, n int) (family, error) {
	f := family{guardian: person{id: newID(), number: testNumber(h.people)}}
	accounts := inserts{into: "accounts (id, mobile_number, role, tray_seq, created_at)"}
	accounts.add(f.guardian.id, f.guardian.number, "guardian", 0, time.Now().UnixMicro())
	err := accounts.write(ctx, h.bare)
	if err != nil {
		return f, err
	}
	// Before the sign-in, for only a guardian who has a child can sign in.
	if f.children, err = h.seed(ctx, coaches, f.guardian, n); err != nil {
		return f, err
	}
	f.guardian, err = h.signIn("guardian")
	f.header = bearer(f.guardian)
	return f, err
}

// seed adds n players of coaches, in turn, whom guardian has still to answer, and a student who was asked too.
func (h *Fixture) seed(ctx context.Context, coaches []string, guardian person, n int) ([]child, error) {
	accounts := inserts{into: "accounts (id, mobile_number, role, tray_seq, created_at)"}
	players := inserts{into: `players (id, coach_id, version, student_name, student_key, date_of_birth, search_key,
		student_number, student_id, student_state, student_pending_since, student_request_id,
		guardian_name, guardian_relationship, guardian_number, guardian_id, guardian_state, guardian_pending_since, guardian_request_id, created_at)`}
	requests := inserts{into: `requests (id, player_id, coach_id, approver_type, approver_id, state, channels, requested_at, last_sent_at, delivery_failed)`}
	deliveries := inserts{into: `deliveries (id, kind, channel, state, account_id, recipient, role, coach_id, request_id, attempts, due_at, gives_up_at, created_at, updated_at)`}
	now := time.Now().UnixMicro()
	children := make([]child, n)
	for i := range children {
		c := child{player: newID(), coach: coaches[i%len(coaches)], guardian: guardian.id, guardianRequest: newID()}
		student, studentRequest, number := newID(), newID(), fmt.Sprintf("+9170%08d", h.students)
		h.students++
		name := fmt.Sprintf("Player %s", c.player)
		accounts.add(student, number, "student", 1, now)
		players.add(c.player, c.coach, 1, name, strings.ToLower(name), "2014-04-30", strings.ToLower(name)+"\nravi rao",
			number, student, "pending", now, studentRequest,
			"Ravi Rao", "father", guardian.number, guardian.id, "pending", now, c.guardianRequest, now)
		for _, asked := range []struct{ id, role, account, number string }{
			{c.guardianRequest, "guardian", guardian.id, guardian.number}, {studentRequest, "student", student, number},
		} {
			requests.add(asked.id, c.player, c.coach, asked.role, asked.account, "pending", "in_app,sms", now, now, false)
			deliveries.add(newID(), "request", "in_app", "delivered", asked.account, "", asked.role, c.coach, asked.id, 0, now, now, now, now)
			deliveries.add(newID(), "request", "sms", "sent", asked.account, asked.number, asked.role, c.coach, asked.id, 1, now, now, now, now)
		}
		children[i] = c
	}
	for _, table := range []*inserts{&accounts, &players, &requests, &deliveries} {
		if err := table.write(ctx, h.bare); err != nil {
			return nil, err
		}
	}
	return children, nil
}

// coaches adds n coaches who never sign in.
func (h *Fixture) coaches(ctx context.Context, n int) ([]string, error) {
	accounts := inserts{into: "accounts (id, mobile_number, role, tray_seq, created_at)"}
	profiles := inserts{into: "coaches (id, name, sports, version, created_at, updated_at)"}
	ids := make([]string, n)
	now := time.Now().UnixMicro()
	for i := range ids {
		ids[i] = newID()
		accounts.add(ids[i], fmt.Sprintf("+9171%08d", i), "coach", 0, now)
		profiles.add(ids[i], "Meera Nair", `["hockey"]`, 1, now, now)
	}
	if err := accounts.write(ctx, h.bare); err != nil {
		return nil, err
	}
	return ids, profiles.write(ctx, h.bare)
}

// analyze tells PostgreSQL how large the tables are, as its own daemon would a minute later. The service never asks SQLite to
// analyze: from then on its planner would look at the values, and prepare a statement anew each time that they change.
func (h *Fixture) analyze(ctx context.Context) error {
	if h.bare.sqlite {
		return nil
	}
	_, err := h.bare.writes.ExecContext(ctx, "ANALYZE")
	return err
}
