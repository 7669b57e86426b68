package store

import (
	"context"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/event"
)

// farewellBatch is how many parties one statement tells, or ends.
const farewellBatch = 100

// farewell is one party of players that end with its coach's account. Who had
// approved is told, once; who was only asked learns no more than it knew.
type farewell struct {
	accountID string
	told      *event.Event
}

// endPlayers ends the players that are left, whatever was decided about them just
// now: who decides next finds the player gone.
func (l *leaving) endPlayers(ctx context.Context) error {
	rs, err := l.tx.Query(ctx, `
		UPDATE players SET deleted_at = $2, version = version + 1
		WHERE coach_id = $1 AND deleted_at IS NULL
		RETURNING id, student_name, guardian_name, guardian_id, guardian_state, student_id, student_state`,
		l.by.AccountID, micros(l.tx.Now))
	_, err = database.Collect(rs, err, func(s database.Scanner) (struct{}, error) {
		e := event.Event{Type: event.CoachLeft, CoachID: l.by.AccountID, CoachName: l.name}
		var guardian, student string
		var guardianState, studentState approval.State
		err := s.Scan(&e.PlayerID, &e.StudentName, intoText(&e.GuardianName), intoText(&guardian), &guardianState, intoText(&student), &studentState)
		if err != nil {
			return struct{}{}, err
		}
		l.players = append(l.players, e.PlayerID)
		l.part(e, actor.Guardian, guardian, guardianState)
		l.part(e, actor.Student, student, studentState)
		return struct{}{}, nil
	})
	return err
}

func (l *leaving) part(e event.Event, party actor.Role, accountID string, state approval.State) {
	if accountID == "" {
		return
	}
	f := farewell{accountID: accountID}
	if state == approval.Approved {
		e.Party, e.PartyID = party, accountID
		f.told = &e
	}
	l.parties = append(l.parties, f)
}

// forgetPeople removes what anybody was told of the players, and the disputes,
// which keep nobody from anything any more.
func (l *leaving) forgetPeople(ctx context.Context) error {
	for batch := range slices.Chunk(l.players, farewellBatch) {
		_, err := l.tx.Exec(ctx, `DELETE FROM notifications WHERE player_id IN (`+params(1, len(batch))+`)`, batch...)
		if err != nil {
			return err
		}
	}
	rs, err := l.tx.Query(ctx, `DELETE FROM disputes WHERE coach_id = $1 RETURNING approver_id`, l.by.AccountID)
	_, err = database.Collect(rs, err, func(s database.Scanner) (struct{}, error) {
		var f farewell
		err := s.Scan(&f.accountID)
		l.parties = append(l.parties, f)
		return struct{}{}, err
	})
	return err
}

// tellPeople tells those who had approved, and ends the roles of all who hold none
// any more. Their accounts are locked in one order throughout, as everywhere.
func (l *leaving) tellPeople(ctx context.Context) error {
	slices.SortStableFunc(l.parties, func(a, b farewell) int { return strings.Compare(a.accountID, b.accountID) })
	for batch := range slices.Chunk(perAccount(l.parties), farewellBatch) {
		var events []event.Event
		var accounts []string
		for _, f := range batch {
			accounts = append(accounts, f.accountID)
			if f.told != nil {
				events = append(events, *f.told)
			}
		}
		if err := l.tx.tell(ctx, events, nil, accounts...); err != nil {
			return err
		}
		if err := l.tx.endRoles(ctx, accounts); err != nil {
			return err
		}
	}
	return nil
}

// perAccount makes one of all farewells to an account, which follow one another:
// it is told once, of all its students.
func perAccount(parties []farewell) []farewell {
	var one []farewell
	for _, f := range parties {
		n := len(one) - 1
		switch {
		case n < 0 || one[n].accountID != f.accountID:
			one = append(one, f)
		case one[n].told == nil:
			one[n].told = f.told
		case f.told != nil:
			one[n].told.OtherStudents = append(one[n].told.OtherStudents, f.told.StudentName)
		}
	}
	return one
}
