package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/team"
)

// factsBatch is how many players one statement reads.
const factsBatch = 250

// targetPlayers returns the ids of the players of a target in order, at most one more than a
// message may go to.
func (tx *Tx) targetPlayers(ctx context.Context, coachID string, t team.Target) ([]string, error) {
	var rs *database.Rows
	var err error
	switch {
	case t.PlayerIDs != nil:
		return slices.Compact(slices.Sorted(slices.Values(t.PlayerIDs))), nil
	case t.BatchID != "":
		if err := tx.CheckOpen(ctx, coachID, t.BatchID, ""); err != nil {
			return nil, err
		}
		rs, err = tx.Query(ctx, `
			SELECT b.player_id FROM batch_players b
			WHERE b.batch_id = $1 AND b.left_at IS NULL
				AND EXISTS (SELECT 1 FROM players p WHERE p.id = b.player_id AND p.coach_id = $2 AND p.deleted_at IS NULL)
			ORDER BY b.player_id LIMIT $3`, t.BatchID, coachID, team.MaxPlayers+1)
	default:
		rs, err = tx.Query(ctx, `
			SELECT id FROM players WHERE coach_id = $1 AND deleted_at IS NULL ORDER BY id LIMIT $2`, coachID, team.MaxPlayers+1)
	}
	ids, err := database.CollectTexts(rs, err)
	if err != nil {
		return nil, fmt.Errorf("list the players of a message: %w", err)
	}
	return ids, nil
}

// CheckOpen returns not_found unless the batch is the coach's, or why Batch.CheckOpen refuses
// it. lock is "" or the lock of the row b.
func (tx *Tx) CheckOpen(ctx context.Context, coachID, batchID, lock string) error {
	var b team.Batch
	err := tx.QueryRow(ctx, `SELECT b.archived_at FROM batches b WHERE b.id = $1 AND b.coach_id = $2 `+lock, batchID, coachID).Scan(database.IntoTime(&b.ArchivedAt))
	if err != nil {
		return database.OrMissing(err, "read batch "+batchID)
	}
	return b.CheckOpen()
}

// everApproved is true if an account approved a player of the coach of p at any time. The
// column of the account and a closing parenthesis must follow.
const everApproved = `EXISTS (SELECT 1 FROM approval_history h JOIN players q ON q.id = h.player_id
	WHERE h.action = 'approved' AND q.coach_id = p.coach_id AND h.approver_id = `

// disputedBy is true if an account disputed a request of the coach of p about the student. The
// column of the account and a closing parenthesis must follow.
const disputedBy = `EXISTS (SELECT 1 FROM disputes d WHERE d.coach_id = p.coach_id
	AND (d.player_id = p.id OR d.student_key = p.student_key AND d.date_of_birth = p.date_of_birth
		OR EXISTS (SELECT 1 FROM players q WHERE q.id = d.player_id AND q.student_key = p.student_key AND q.date_of_birth = p.date_of_birth))
	AND d.approver_id = `

// playerFacts reads what decides who gets a message about the players, in their order. A
// player that the coach does not have is not in the result. lock keeps the consents
// unchanged until the commit. Of messageID only its own deliveries do not count.
func (tx *Tx) playerFacts(ctx context.Context, coachID string, ids []string, messageID string, lock bool) ([]team.PlayerFacts, error) {
	forShare := ""
	if lock {
		forShare = tx.ForShare("p")
	}
	args := []any{coachID}
	for i := range database.PaddedSize(len(ids)) {
		args = append(args, ids[min(i, len(ids)-1)])
	}
	rs, err := tx.Query(ctx, `
		SELECT p.id, p.student_name, p.date_of_birth, p.guardian_name, p.guardian_id, p.guardian_number, p.student_id, p.student_number,
			`+everApproved+`p.guardian_id), `+everApproved+`p.student_id), `+disputedBy+`p.guardian_id), `+disputedBy+`p.student_id)
		FROM players p
		WHERE p.coach_id = $1 AND p.deleted_at IS NULL AND p.id IN (`+database.Params(2, len(args)-1)+`) `+forShare, args...)
	facts, err := database.Collect(rs, err, func(s database.Scanner) (p team.PlayerFacts, err error) {
		g, st := &p.Guardian, &p.Student
		var born string
		err = s.Scan(&p.PlayerID, &p.StudentName, &born, database.IntoText(&g.Name), database.IntoText(&g.AccountID), database.IntoText((*string)(&g.Number)),
			database.IntoText(&st.AccountID), database.IntoText((*string)(&st.Number)), &g.EverApproved, &st.EverApproved, &g.Disputed, &st.Disputed)
		if err != nil {
			return p, err
		}
		g.Exists, st.Exists, st.Name = g.Name != "", true, p.StudentName
		date, err := approval.ParseDate(born)
		p.Adult = date.IsAdult(tx.Now)
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the players of a message: %w", err)
	}
	slices.SortFunc(facts, func(a, b team.PlayerFacts) int { return cmp.Compare(a.PlayerID, b.PlayerID) })
	enabled, err := tx.Enabled(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i := range facts {
		for _, party := range approval.Parties {
			facts[i].Party(party).App = enabled(facts[i].PlayerID, party, team.TeamCommunications)
		}
	}
	return facts, tx.sentInWeek(ctx, coachID, messageID, facts)
}

// numberFacts are the messages of a coach to a number.
type numberFacts struct {
	week      int
	sms, chat bool // of one message
	stopped   bool
	language  string
}

// sentInWeek sets how many messages of the coach left for each number in the last 7 days,
// which channels of the message with the id did, who stopped the coach's messages, and the
// languages.
func (tx *Tx) sentInWeek(ctx context.Context, coachID, messageID string, facts []team.PlayerFacts) error {
	found := map[phone.Number]numberFacts{}
	var rows [][]any
	for i := range facts {
		for _, party := range approval.Parties {
			n := facts[i].Party(party).Number
			if _, known := found[n]; n != "" && !known {
				found[n] = numberFacts{}
				rows = append(rows, []any{string(n)})
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	values, args := database.ValuesTable(rows, "TEXT")
	n := len(args)
	ofNumber := fmt.Sprintf(`FROM deliveries d WHERE d.kind = 'team' AND d.state <> 'left_out' AND d.coach_id = $%d AND d.recipient = v.column1`, n+1)
	ofMessage := fmt.Sprintf(` AND d.created_at > $%d AND d.team_message_id = $%d`, n+2, n+3)
	rs, err := tx.Query(ctx, fmt.Sprintf(`
		SELECT v.column1,
			(SELECT count(DISTINCT d.team_message_id) %s AND d.created_at > $%d AND d.team_message_id <> $%d),
			EXISTS (SELECT 1 %s%s AND d.channel = 'sms'), EXISTS (SELECT 1 %s%s AND d.channel = 'whatsapp'),
			EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = v.column1 AND st.coach_id = $%d),
			(SELECT language FROM preferences WHERE preferences.mobile_number = v.column1)
		FROM %s v WHERE v.column1 IS NOT NULL`, ofNumber, n+2, n+3, ofNumber, ofMessage, ofNumber, ofMessage, n+1, values),
		append(args, coachID, database.Micros(tx.Now.Add(-7*team.Day)), messageID)...)
	_, err = database.Collect(rs, err, func(s database.Scanner) (f numberFacts, err error) {
		var number phone.Number
		if err = s.Scan(&number, &f.week, &f.sms, &f.chat, &f.stopped, database.IntoText(&f.language)); err == nil {
			found[number] = f
		}
		return f, err
	})
	if err != nil {
		return fmt.Errorf("count the messages of a week: %w", err)
	}
	for i := range facts {
		for _, party := range []actor.Role{actor.Guardian, actor.Student} {
			p := facts[i].Party(party)
			f := found[p.Number]
			p.SentInWeek, p.Stopped, p.Language = f.week, f.stopped, f.language
			if f.sms {
				p.HasMessage = append(p.HasMessage, team.SMS)
			}
			if f.chat {
				p.HasMessage = append(p.HasMessage, team.Chat)
			}
		}
	}
	return nil
}
