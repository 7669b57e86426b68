package approval

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// playerSelect reads players with the coach's name and the newest request of each party.
// scanPlayer scans its columns.
const playerSelect = `
	SELECT p.id, p.coach_id, c.name, c.tier, CASE WHEN c.visible = TRUE THEN c.shown END, (SELECT d.sha256 FROM documents d WHERE d.id = c.picture_id), p.version, p.student_name, p.date_of_birth, p.medical, p.student_number,
		p.guardian_name, p.guardian_relationship, p.guardian_number, p.guardian_email, p.created_at, p.deleted_at,
		p.student_language, p.guardian_language, p.basis, p.basis_note, ` + batchesOfPlayer + `,
		p.guardian_id, p.guardian_state, p.guardian_changed_at, p.guardian_pending_since, p.guardian_pending_reason,
		p.student_id, p.student_state, p.student_changed_at, p.student_pending_since, p.student_pending_reason,
		g.id, g.approver_id, g.state, g.channels, g.requested_at, g.last_sent_at, g.delivery_failed, g.failed_channels, g.closed_at, g.short_code, g.via, g.version, g.sent_version,
		s.id, s.approver_id, s.state, s.channels, s.requested_at, s.last_sent_at, s.delivery_failed, s.failed_channels, s.closed_at, s.short_code, s.via, s.version, s.sent_version
	FROM players p
	LEFT JOIN coaches c ON c.id = p.coach_id
	LEFT JOIN requests g ON g.id = p.guardian_request_id
	LEFT JOIN requests s ON s.id = p.student_request_id `

// storedPlayer is a player with the sealed medical text, which is opened only to change it.
type storedPlayer struct {
	*Player
	sealed  []byte
	details playerDetails // as they were read
}

func (s *Service) scanStored(row database.Scanner) (*storedPlayer, error) {
	p := &Player{Unproved: s.Rules.unproved()}
	g, st := &p.GuardianApprover, &p.StudentApprover
	var guardian Guardian
	var born string
	var shown []string
	var requests [2]requestColumns
	stored := &storedPlayer{Player: p}
	dest := append(append([]any{
		&p.ID, &p.CoachID, database.IntoText(&p.CoachName), database.IntoText(&p.CoachTier), database.IntoJSON(&shown), database.IntoText(&p.CoachPicture), &p.Version, &p.Student.FullName, &born, &stored.sealed, database.IntoText((*string)(&p.Student.Number)),
		database.IntoText(&guardian.Name), database.IntoText(&guardian.Relationship), database.IntoText((*string)(&guardian.Number)), database.IntoText(&guardian.Email),
		database.IntoTime(&p.CreatedAt), database.IntoTime(&p.DeletedAt),
		database.IntoText(&p.Student.Language), database.IntoText(&guardian.Language), &p.Student.Basis.Kind, database.IntoText(&p.Student.Basis.Note), intoBatches(&p.Batches),
		database.IntoText(&g.AccountID), &g.Consent.State, database.IntoTime(&g.Consent.ChangedAt), database.IntoTime(&g.Consent.PendingSince), database.IntoText((*string)(&g.Consent.PendingReason)),
		database.IntoText(&st.AccountID), &st.Consent.State, database.IntoTime(&st.Consent.ChangedAt), database.IntoTime(&st.Consent.PendingSince), database.IntoText((*string)(&st.Consent.PendingReason)),
	}, requests[0].dest()...), requests[1].dest()...)
	err := row.Scan(dest...)
	if err != nil {
		return nil, err
	}
	if p.Student.DateOfBirth, err = ParseDate(born); err != nil {
		return nil, fmt.Errorf("player %s: %w", p.ID, err)
	}
	if guardian.Name != "" {
		p.Guardian = &guardian
	}
	if !slices.Contains(shown, string(coach.ProfilePicture)) {
		p.CoachPicture = ""
	}
	for i, party := range Parties {
		p.Approver(party).Request = requests[i].request(p, party)
	}
	p.Student.HasMedical = len(stored.sealed) > 0
	stored.details = stored.detailsOf()
	return stored, nil
}

func (s *Service) scanPlayer(row database.Scanner) (*Player, error) {
	stored, err := s.scanStored(row)
	if err != nil {
		return nil, err
	}
	return stored.Player, nil
}

// Player returns a player that by may see, or not_found.
func (s *Service) Player(ctx context.Context, by actor.Actor, id string) (*Player, error) {
	return s.visiblePlayer(ctx, s.DB, by, id)
}

// playerStatus returns a player that by may see, the deliveries of its newest requests and
// its history, or not_found. It reads one state of the database: a decision that commits
// between two reads would otherwise be in the history, but not in the player.
func (s *Service) playerStatus(ctx context.Context, by actor.Actor, id string) (p *Player, records []Record, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		if p, err = s.visiblePlayer(ctx, tx, by, id); err != nil {
			return err
		}
		if records, err = s.readHistory(ctx, tx, id); err != nil {
			return fmt.Errorf("read history: %w", err)
		}
		return loadDeliveries(ctx, tx, p.NewestRequests())
	})
	return p, records, err
}

func (s *Service) visiblePlayer(ctx context.Context, q database.Querier, by actor.Actor, id string) (*Player, error) {
	var r *database.Row
	switch by.Role {
	case actor.Coach:
		r = q.QueryRow(ctx, playerSelect+`WHERE p.id = $1 AND p.coach_id = $2 AND p.deleted_at IS NULL`, id, by.AccountID)
	case actor.Guardian:
		r = q.QueryRow(ctx, playerSelect+`WHERE p.id = $1 AND p.guardian_id = $2 AND p.deleted_at IS NULL`, id, by.AccountID)
	case actor.Student:
		r = q.QueryRow(ctx, playerSelect+`WHERE p.id = $1 AND p.student_id = $2 AND p.deleted_at IS NULL`, id, by.AccountID)
	default:
		return nil, fault.Missing()
	}
	p, err := s.scanPlayer(r)
	if database.IsNoRows(err) {
		return nil, fault.Missing()
	}
	return p, err
}

// Players lists the players of a coach that match f, newest first. An adult without a
// guardian matches no guardian status.
func (s *Service) Players(ctx context.Context, by actor.Actor, f Filter, page Page) ([]*Player, error) {
	rs, err := s.DB.Query(ctx, playerSelect+`
		WHERE p.coach_id = $1 AND p.deleted_at IS NULL AND p.id < $2
			AND (CAST($3 AS TEXT) = '' OR p.guardian_name IS NOT NULL AND (p.guardian_state = $3 OR $3 = 'rejected' AND p.guardian_state = 'revoked'))
			AND (CAST($4 AS TEXT) = '' OR p.student_state = $4 OR $4 = 'rejected' AND p.student_state = 'revoked')
			AND (CAST($7 AS TEXT) = '' OR p.guardian_name IS NOT NULL AND p.guardian_state = $7)
			AND (CAST($8 AS TEXT) = '' OR p.student_state = $8)
			AND (CAST($5 AS TEXT) = '' OR replace(p.search_key, $5, '') <> p.search_key
				OR CAST($9 AS TEXT) <> '' AND (substr(p.guardian_number, length(p.guardian_number) - length($9) + 1) = $9
					OR substr(p.student_number, length(p.student_number) - length($9) + 1) = $9))
			AND (CAST($10 AS TEXT) = '' OR EXISTS (SELECT 1 FROM batch_players i WHERE i.batch_id = $10 AND i.player_id = p.id AND i.left_at IS NULL))
		ORDER BY p.id DESC LIMIT $6`,
		by.AccountID, database.Before(page.After.ID), f.GuardianStatus, f.StudentStatus, coach.FoldName(f.Search), page.Limit,
		string(f.GuardianState), string(f.StudentState), f.NumberEnd(), f.BatchID)
	return database.Collect(rs, err, s.scanPlayer)
}

// PlayerNames lists the newest players of the calling coach by id and name.
func (s *Service) PlayerNames(ctx context.Context, by actor.Actor, limit int) ([]PlayerName, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT p.id, p.student_name FROM players p WHERE p.coach_id = $1 AND p.deleted_at IS NULL ORDER BY p.id DESC LIMIT $2`, by.AccountID, limit)
	return database.Collect(rs, err, func(s database.Scanner) (n PlayerName, err error) { return n, s.Scan(&n.ID, &n.Name) })
}

// NamesOf returns those of the players with these ids that the calling coach has, by name.
func (s *Service) NamesOf(ctx context.Context, by actor.Actor, ids []string) ([]PlayerName, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT p.id, p.student_name FROM players p
		WHERE p.coach_id = $1 AND p.id IN (`+database.Params(2, len(ids))+`) AND p.deleted_at IS NULL ORDER BY p.student_name, p.id`,
		append([]any{by.AccountID}, database.TextArgs(ids)...)...)
	return database.Collect(rs, err, func(s database.Scanner) (n PlayerName, err error) { return n, s.Scan(&n.ID, &n.Name) })
}

// PlayersByID returns the players with these ids that by has as a coach, or is
// linked with, newest first.
func (s *Service) PlayersByID(ctx context.Context, by actor.Actor, ids []string) ([]*Player, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := append([]any{by.AccountID, string(by.Role)}, database.TextArgs(ids)...)
	rs, err := s.DB.Query(ctx, playerSelect+`
		WHERE p.id IN (`+database.Params(3, len(ids))+`) AND p.deleted_at IS NULL
			AND CASE CAST($2 AS TEXT) WHEN 'coach' THEN p.coach_id WHEN 'guardian' THEN p.guardian_id WHEN 'student' THEN p.student_id END = $1
		ORDER BY p.id DESC`, args...)
	return database.Collect(rs, err, s.scanPlayer)
}

// Links lists the players that name the calling guardian or student, newest first; only those
// with an open request to by if waiting is true.
func (s *Service) Links(ctx context.Context, by actor.Actor, waiting bool, page Page) ([]*Player, error) {
	var rs *database.Rows
	var err error
	switch by.Role {
	case actor.Guardian:
		rs, err = s.DB.Query(ctx, playerSelect+`
			WHERE p.guardian_id = $1 AND p.deleted_at IS NULL AND p.id < $2
				AND (CAST($4 AS BOOLEAN) = FALSE OR p.guardian_state = 'pending' AND g.state = 'pending') ORDER BY p.id DESC LIMIT $3`,
			by.AccountID, database.Before(page.After.ID), page.Limit, waiting)
	case actor.Student:
		rs, err = s.DB.Query(ctx, playerSelect+`
			WHERE p.student_id = $1 AND p.deleted_at IS NULL AND p.id < $2
				AND (CAST($4 AS BOOLEAN) = FALSE OR p.student_state = 'pending' AND s.state = 'pending') ORDER BY p.id DESC LIMIT $3`,
			by.AccountID, database.Before(page.After.ID), page.Limit, waiting)
	default:
		return nil, nil
	}
	return database.Collect(rs, err, s.scanPlayer)
}

// PartyName returns the name of a guardian or student as the newest of its players has
// it, or "". A guardian learns the name that a coach entered only from a player that the
// guardian approved.
func (s *Service) PartyName(ctx context.Context, by actor.Actor) (name string, err error) {
	switch by.Role {
	case actor.Guardian:
		err = s.DB.QueryRow(ctx, `
			SELECT guardian_name FROM players
			WHERE guardian_id = $1 AND deleted_at IS NULL AND guardian_state = 'approved' ORDER BY id DESC LIMIT 1`, by.AccountID).Scan(database.IntoText(&name))
	case actor.Student:
		err = s.DB.QueryRow(ctx, `
			SELECT student_name FROM players
			WHERE student_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT 1`, by.AccountID).Scan(database.IntoText(&name))
	}
	if database.IsNoRows(err) {
		return "", nil
	}
	return name, err
}

// anyApproved reports whether a student has approved any link.
func (s *Service) anyApproved(ctx context.Context, studentID string) (bool, error) {
	var approved bool
	err := s.DB.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM players WHERE student_id = $1 AND deleted_at IS NULL AND student_state = 'approved')`,
		studentID).Scan(&approved)
	return approved && !s.Rules.unproved(), err
}

// reminders loads the times of reminders to both parties since then, oldest first.
func loadReminders(ctx context.Context, tx *store.Tx, p *Player, since time.Time) error {
	rs, err := tx.Query(ctx, `
		SELECT approver_type, sent_at FROM reminders WHERE player_id = $1 AND sent_at > $2 ORDER BY sent_at, id`,
		p.ID, database.Micros(since))
	_, err = database.Collect(rs, err, func(s database.Scanner) (struct{}, error) {
		var party actor.Role
		var at time.Time
		err := s.Scan(&party, database.IntoTime(&at))
		side := p.Approver(party)
		side.Reminders = append(side.Reminders, at)
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("load reminders of player %s: %w", p.ID, err)
	}
	return nil
}
