package conversation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// factsBatch is how many players one statement reads.
const factsBatch = 250

// targetPlayers returns the ids of the players of a target in order, at most one more than a
// message may go to.
func targetPlayers(ctx context.Context, tx *store.Tx, coachID string, t Target) ([]string, error) {
	var rs *database.Rows
	var err error
	switch {
	case t.PlayerIDs != nil:
		return t.sortedPlayers(), nil
	case t.BatchID != "":
		if err := tx.CheckOpen(ctx, coachID, t.BatchID, ""); err != nil {
			return nil, err
		}
		rs, err = tx.Query(ctx, `
			SELECT b.player_id FROM batch_players b
			WHERE b.batch_id = $1 AND b.left_at IS NULL
				AND EXISTS (SELECT 1 FROM players p WHERE p.id = b.player_id AND p.coach_id = $2 AND p.deleted_at IS NULL)
			ORDER BY b.player_id LIMIT $3`, t.BatchID, coachID, MaxPlayers+1)
	default:
		rs, err = tx.Query(ctx, `
			SELECT id FROM players WHERE coach_id = $1 AND deleted_at IS NULL ORDER BY id LIMIT $2`, coachID, MaxPlayers+1)
	}
	ids, err := database.CollectTexts(rs, err)
	return ids, fault.Wrap(err, "list the players of a message")
}

// everApproved is true if an account approved a player of the coach of p at any time. The
// column of the account and a closing parenthesis must follow.
const everApproved = `EXISTS (SELECT 1 FROM approval_history h JOIN players q ON q.id = h.player_id
	WHERE h.action = 'approved' AND q.coach_id = p.coach_id AND h.approver_id = `

// disputedBy is true if an account disputed a request of the coach of p about the student. The
// column of the account and a closing parenthesis must follow.
const disputedBy = `EXISTS (SELECT 1 FROM disputes d WHERE d.coach_id = p.coach_id
	AND (d.player_id = p.id OR d.student_hash = p.student_hash
		OR EXISTS (SELECT 1 FROM players q WHERE q.id = d.player_id AND q.student_hash = p.student_hash))
	AND d.approver_id = `

// readFacts reads what decides who gets a message about the players, in their order. A
// player that the coach does not have is not in the result. lock keeps the consents
// unchanged until the commit. Of messageID only its own deliveries do not count.
func (s *Service) readFacts(ctx context.Context, tx *store.Tx, coachID string, ids []string, messageID string, lock bool) ([]playerFacts, error) {
	forShare := ""
	if lock {
		forShare = tx.ForShare("p, a")
	}
	args := []any{coachID}
	for i := range database.PaddedSize(len(ids)) {
		args = append(args, ids[min(i, len(ids)-1)])
	}
	rs, err := tx.Query(ctx, `
		SELECT p.id, p.student_name, p.date_of_birth, a.role, a.guardian_id, a.name, a.account_id, a.number, `+everApproved+`a.account_id), `+disputedBy+`a.account_id),
			(SELECT n.wrote_at FROM chat_numbers n WHERE n.mobile_number = a.number)
		FROM players p JOIN parties a ON a.player_id = p.id
		WHERE p.coach_id = $1 AND p.deleted_at IS NULL AND p.id IN (`+database.Params(2, len(args)-1)+`) ORDER BY p.id, a.role, a.position `+forShare, args...)
	var facts []playerFacts
	err = database.Each(rs, err, func(row database.Scanner) error {
		var p playerFacts
		var a partyFacts
		var role actor.Role
		var born string
		var wrote time.Time
		err := row.Scan(&p.PlayerID, &p.StudentName, &born, &role, &a.GuardianID, database.IntoText(&a.Name), database.IntoText(&a.AccountID), database.IntoText((*string)(&a.Number)),
			&a.EverApproved, &a.Disputed, database.IntoTime(&wrote))
		if err != nil {
			return err
		}
		a.InWindow = inWindow(wrote, tx.Now)
		if n := len(facts); n == 0 || facts[n-1].PlayerID != p.PlayerID {
			date, err := approval.ParseDate(born)
			if err != nil {
				return err
			}
			p.Adult = date.IsAdult(tx.Now)
			facts = append(facts, p)
		}
		last := &facts[len(facts)-1]
		switch {
		case role == actor.Student:
			a.Exists, a.Name = true, p.StudentName
			last.Student = a
		case last.Guardian.Exists:
			last.Others = append(last.Others, a)
			last.Others[len(last.Others)-1].Exists = true
		default:
			a.Exists = a.Name != ""
			last.Guardian = a
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the players of a message: %w", err)
	}
	slices.SortFunc(facts, func(a, b playerFacts) int { return cmp.Compare(a.PlayerID, b.PlayerID) })
	enabled, err := s.Consent.Enabled(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	for i := range facts {
		for _, party := range approval.Parties {
			for _, a := range facts[i].of(party) {
				a.App = enabled(facts[i].PlayerID, party, a.GuardianID, team.TeamCommunications)
			}
		}
	}
	return facts, sentInWeek(ctx, tx, coachID, messageID, facts)
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
func sentInWeek(ctx context.Context, tx *store.Tx, coachID, messageID string, facts []playerFacts) error {
	found := map[phone.Number]numberFacts{}
	var rows [][]any
	for i := range facts {
		for _, party := range approval.Parties {
			for _, a := range facts[i].of(party) {
				if _, known := found[a.Number]; a.Number != "" && !known {
					found[a.Number] = numberFacts{}
					rows = append(rows, []any{string(a.Number)})
				}
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	values, args := database.ValuesTable(rows, "TEXT")
	n := len(args)
	ofNumber := fmt.Sprintf(`FROM deliveries d WHERE d.kind = 'team' AND d.state <> 'left_out' AND d.coach_id = $%d AND d.recipient = v.column1 AND d.recipient <> ''`, n+1)
	ofMessage := fmt.Sprintf(` AND d.created_at > $%d AND d.team_message_id = $%d`, n+2, n+3)
	rs, err := tx.Query(ctx, fmt.Sprintf(`
		SELECT v.column1,
			(SELECT count(DISTINCT d.team_message_id) %s AND d.created_at > $%d AND d.team_message_id <> $%d),
			EXISTS (SELECT 1 %s%s AND d.channel = 'sms'), EXISTS (SELECT 1 %s%s AND d.channel = 'chat'),
			EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = v.column1 AND st.coach_id = $%d),
			(SELECT language FROM preferences WHERE preferences.mobile_number = v.column1)
		FROM %s v WHERE v.column1 IS NOT NULL`, ofNumber, n+2, n+3, ofNumber, ofMessage, ofNumber, ofMessage, n+1, values),
		append(args, coachID, database.Micros(tx.Now.Add(-7*day)), messageID)...)
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
		for _, party := range approval.Parties {
			for _, p := range facts[i].of(party) {
				f := found[p.Number]
				p.SentInWeek, p.Stopped, p.Language = f.week, f.stopped, f.language
				if f.sms {
					p.HasMessage = append(p.HasMessage, SMS)
				}
				if f.chat {
					p.HasMessage = append(p.HasMessage, Chat)
				}
			}
		}
	}
	return nil
}

// chatMargin is how long before the end of message.ChatWindow a template is used: an attempt takes time.
const chatMargin = 5 * time.Minute

// inWindow reports whether a person who wrote by WhatsApp last at a time takes messages without a template, which are free.
func inWindow(wrote, now time.Time) bool { return now.Sub(wrote) < message.ChatWindow-chatMargin }

// TeamMessage returns the message of a delivery and its recipient. dropReason is set if it
// must no longer be sent: the player was removed, the party has another number or disputed
// a request, or the coach may not write.
func (s *Service) TeamMessage(ctx context.Context, d message.Delivery) (m message.TeamMessage, to message.Recipient, dropReason string, err error) {
	var coachName, body string
	var who addressee
	to.Number = phone.Number(d.To)
	var status message.TeamRecipientStatus
	var wrote time.Time
	err = s.DB.QueryRow(ctx, `
		SELECT m.body, c.name, p.student_name, r.is_copy, p.deleted_at, a.suspended_at,
			(SELECT y.number FROM parties y WHERE y.player_id = p.id AND y.role = r.party AND y.guardian_id = r.guardian_id),
			`+everApproved+`r.account_id), `+disputedBy+`r.account_id),
			EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = $3 AND st.coach_id = m.coach_id),
			(SELECT n.wrote_at FROM chat_numbers n WHERE n.mobile_number = $3), `+outbox.PreferenceColumns+`
		FROM team_recipients r
		JOIN team_messages m ON m.id = r.message_id
		JOIN players p ON p.id = r.player_id
		JOIN accounts a ON a.id = m.coach_id
		LEFT JOIN coaches c ON c.id = m.coach_id
		LEFT JOIN preferences ON preferences.mobile_number = $3
		WHERE r.message_id = $1 AND r.position = $2`, d.TeamMessageID, d.TeamPosition, d.To).
		Scan(append([]any{
			&body, database.IntoText(&coachName), &who.StudentName, &who.Copy, database.IntoTime(&status.RemovedAt), database.IntoTime(&status.SuspendedAt),
			database.IntoText((*string)(&status.Number)), &who.EverApproved, &status.Disputed, &to.Stopped, database.IntoTime(&wrote),
		}, outbox.PreferenceDest(&to.Preferences)...)...)
	if database.IsNoRows(err) {
		return m, to, message.ReasonNotWanted, nil
	}
	if err != nil {
		return m, to, "", fmt.Errorf("read the message of delivery %s: %w", d.ID, err)
	}
	m = outgoing(coachName, body, who)
	m.Replied = inWindow(wrote, s.Now())
	return m, to, status.DropReason(to.Number), nil
}

// PlayerRemoved deletes the coach's notifications of replies, which then count as read. Messages and replies are retained for
// safeguarding.
func PlayerRemoved(ctx context.Context, tx *store.Tx, coachID, playerID string) error {
	if err := tx.Defer(ctx, `UPDATE conversations SET ended = TRUE WHERE player_id = $1`, playerID); err != nil {
		return err
	}
	if err := tx.Defer(ctx, `UPDATE team_replies SET read_at = $2 WHERE player_id = $1 AND read_at IS NULL`, playerID, database.Micros(tx.Now)); err != nil {
		return err
	}
	return tx.Defer(ctx, `DELETE FROM notifications WHERE account_id = $1 AND player_id = $2 AND type = $3`, coachID, playerID, string(message.TeamReplyType))
}

// CoachLeft ends the conversations of a coach who closes the account, and deletes the templates.
func CoachLeft(ctx context.Context, tx *store.Tx, coachID string) error {
	return tx.DeferEach(ctx, []string{
		`UPDATE conversations SET ended = TRUE WHERE coach_id = $1 AND ended = FALSE`,
		`DELETE FROM message_templates WHERE coach_id = $1`,
	}, coachID)
}
