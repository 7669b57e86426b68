package player

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// playerSelect reads players with the coach's name: a row for each party, with its newest request, in any order.
// readPlayers reads them. What only the player has is in the row of the student.
const playerSelect = `
	SELECT p.id, p.coach_id, c.name, c.tier, CASE WHEN c.visible = TRUE THEN c.shown END, p.version, p.student_name, p.date_of_birth, p.created_at, p.deleted_at, p.basis, p.basis_note, p.guardian_rule,
		CASE WHEN a.role = 'student' THEN (SELECT d.sha256 FROM documents d WHERE d.id = c.picture_id) END, CASE WHEN a.role = 'student' THEN p.medical END,
		CASE WHEN a.role = 'student' THEN ` + batchesOfPlayer + ` END,
		a.role, a.guardian_id, a.position, a.name, a.relationship, a.number, a.email, a.language, a.account_id, a.state, a.changed_at, a.pending_since, a.pending_reason, a.refused,
		i.method, i.provider, i.name_fit, i.assurance, i.proved_at, i.ends_at,
		r.id, r.approver_id, r.state, r.channels, r.requested_at, r.last_sent_at, r.delivery_failed, r.failed_channels, r.closed_at, r.short_code, r.via, r.version, r.sent_version
	FROM players p
	JOIN parties a ON a.player_id = p.id
	LEFT JOIN coaches c ON c.id = p.coach_id
	LEFT JOIN requests r ON r.id = a.request_id
	LEFT JOIN adult_proofs i ON i.account_id = a.account_id `

// storedPlayer is a player with the sealed medical text, which is opened only to change it.
type storedPlayer struct {
	*approval.Player
	sealed []byte
	// read is the player as it was read.
	read *approval.Player
}

// playerRows collects the rows of playerSelect, which come in any order.
type playerRows struct {
	rules   approval.Rules
	players []*storedPlayer
	byID    map[string]*storedPlayer
	// positions has the position of each party that was scanned, by player, in the order of its parties.
	positions map[string][]int
}

// scan adds a row.
func (rows *playerRows) scan(row database.Scanner) error {
	var a approval.Party
	var born string
	var shown []string
	var r requestColumns
	var position int
	read := &storedPlayer{Player: &approval.Player{Unproved: rows.rules.IsUnproved()}}
	p := read.Player
	err := row.Scan(append([]any{
		&p.ID, &p.CoachID, database.IntoText(&p.CoachName), database.IntoText(&p.CoachTier), database.IntoJSON(&shown), &p.Version, &p.Student.FullName, &born,
		database.IntoTime(&p.CreatedAt), database.IntoTime(&p.DeletedAt), &p.Student.Basis.Kind, database.IntoText(&p.Student.Basis.Note), &p.Rule,
		database.IntoText(&p.CoachPicture), &read.sealed, intoBatches(&p.Batches),
		&a.Role, &a.GuardianID, &position, database.IntoText(&a.Name), database.IntoText(&a.Relationship), database.IntoText((*string)(&a.Number)), database.IntoText(&a.Email), database.IntoText(&a.Language),
		database.IntoText(&a.AccountID), &a.Consent.State, database.IntoTime(&a.Consent.ChangedAt), database.IntoTime(&a.Consent.PendingSince), database.IntoText((*string)(&a.Consent.PendingReason)), &a.Consent.Refused,
		database.IntoText(&a.Proof.Method), database.IntoText(&a.Proof.Provider), database.IntoText(&a.Proof.NameFit), database.IntoText(&a.Proof.Assurance),
		database.IntoTime(&a.Proof.At), database.IntoTime(&a.Proof.EndsAt),
	}, r.dest()...)...)
	if err != nil {
		return err
	}
	a.Request = r.request(p, a.Role, a.GuardianID)
	if a.Role == actor.Student {
		position = maxPosition
	}
	if other := rows.byID[p.ID]; other != nil {
		if a.Role == actor.Student {
			p.Parties = other.Parties
			other.Player, other.sealed = p, read.sealed
		}
		read = other
	} else {
		rows.byID[p.ID], rows.players = read, append(rows.players, read)
	}
	order := rows.positions[p.ID]
	at, _ := slices.BinarySearch(order, position)
	rows.positions[p.ID], read.Parties = slices.Insert(order, at, position), slices.Insert(read.Parties, at, a)
	if a.Role != actor.Student {
		return nil
	}
	p.Student.DateOfBirth, err = approval.ParseDate(born)
	if err != nil {
		return fmt.Errorf("player %s: %w", p.ID, err)
	}
	if !slices.Contains(shown, string(coach.ProfilePicture)) {
		p.CoachPicture = ""
	}
	p.Student.HasMedical = len(read.sealed) > 0
	return nil
}

// maxPosition is behind that of each guardian.
const maxPosition = 1 << 20

// newPlayerRows returns a reader of playerSelect.
func (s *Service) newPlayerRows() *playerRows {
	return &playerRows{rules: s.Rules, byID: map[string]*storedPlayer{}, positions: map[string][]int{}}
}

// readPlayers reads the rows of playerSelect. It returns the newest player first.
func (s *Service) readPlayers(rs *database.Rows, err error) ([]*approval.Player, error) {
	rows := s.newPlayerRows()
	if err := database.Each(rs, err, rows.scan); err != nil {
		return nil, err
	}
	players := make([]*approval.Player, len(rows.players))
	for i, p := range rows.players {
		players[i] = p.Player
	}
	slices.SortFunc(players, func(a, b *approval.Player) int { return strings.Compare(b.ID, a.ID) })
	return players, nil
}

// Player returns a player that by may see, or not_found.
func (s *Service) Player(ctx context.Context, by actor.Actor, id string) (*approval.Player, error) {
	return s.visiblePlayer(ctx, s.DB, by, id)
}

// playerStatus returns a player that by may see, the deliveries of its newest requests and
// its history, or not_found. It reads one state of the database: a decision that commits
// between two reads would otherwise be in the history, but not in the player.
func (s *Service) playerStatus(ctx context.Context, by actor.Actor, id string) (p *approval.Player, records []approval.Record, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		p, err = s.visiblePlayer(ctx, tx, by, id)
		if err != nil {
			return err
		}
		records, err = readHistory(ctx, tx, id)
		if err != nil {
			return fmt.Errorf("read history: %w", err)
		}
		return loadDeliveries(ctx, tx, p.NewestRequests())
	})
	return p, records, err
}

func (s *Service) visiblePlayer(ctx context.Context, q database.Querier, by actor.Actor, id string) (*approval.Player, error) {
	players, err := s.readPlayers(q.Query(ctx, playerSelect+`
		WHERE p.id = $1 AND p.deleted_at IS NULL AND CASE WHEN CAST($2 AS TEXT) = 'coach' THEN p.coach_id = $3
			ELSE EXISTS (SELECT 1 FROM parties o WHERE o.player_id = p.id AND o.role = $2 AND o.account_id = $3) END`, id, string(by.Role), by.AccountID))
	if err == nil && len(players) == 0 {
		err = fault.Missing()
	}
	if err != nil {
		return nil, err
	}
	return players[0], nil
}

// filtered selects the players p of the coach $1 that match a Filter, whose filterArgs are $1 to $8.
const filtered = ` FROM players p` + store.WithParties + `
			WHERE p.coach_id = $1 AND p.deleted_at IS NULL
				AND (CAST($2 AS TEXT) = '' OR g.name IS NOT NULL AND (g.state = $2 OR $2 = 'rejected' AND g.state = 'revoked'))
				AND (CAST($3 AS TEXT) = '' OR s.state = $3 OR $3 = 'rejected' AND s.state = 'revoked')
				AND (CAST($4 AS TEXT) = '' OR g.name IS NOT NULL AND g.state = $4)
				AND (CAST($5 AS TEXT) = '' OR s.state = $5)
				AND (CAST($6 AS TEXT) = '' OR replace(p.search_key, $6, '') <> p.search_key
					OR CAST($7 AS TEXT) <> '' AND EXISTS (SELECT 1 FROM parties n WHERE n.player_id = p.id AND substr(n.number, length(n.number) - length($7) + 1) = $7))
				AND (CAST($8 AS TEXT) = '' OR EXISTS (SELECT 1 FROM batch_players i WHERE i.batch_id = $8 AND i.player_id = p.id AND i.left_at IS NULL))`

func filterArgs(by actor.Actor, f approval.Filter, more ...any) []any {
	return append([]any{by.AccountID, f.GuardianStatus, f.StudentStatus, string(f.GuardianState), string(f.StudentState), team.SearchText(f.Search), f.NumberEnd(), f.BatchID}, more...)
}

// Players lists the players of a coach that match f, newest first. An adult without a
// guardian matches no guardian status.
func (s *Service) Players(ctx context.Context, by actor.Actor, f approval.Filter, page approval.Page) ([]*approval.Player, error) {
	return s.readPlayers(s.DB.Query(ctx, playerSelect+`
		WHERE p.id IN (SELECT p.id`+filtered+` AND p.id < $9 ORDER BY p.id DESC LIMIT $10)`,
		filterArgs(by, f, database.Before(page.After.ID), page.Limit)...))
}

// PlayersByID returns the players with these ids that by has as a coach, or is
// linked with, newest first.
func (s *Service) PlayersByID(ctx context.Context, by actor.Actor, ids []string) ([]*approval.Player, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := append([]any{by.AccountID, string(by.Role)}, database.TextArgs(ids)...)
	return s.readPlayers(s.DB.Query(ctx, playerSelect+`
		WHERE p.id IN (`+database.Params(3, len(ids))+`) AND p.deleted_at IS NULL AND CASE WHEN CAST($2 AS TEXT) = 'coach' THEN p.coach_id = $1
			ELSE EXISTS (SELECT 1 FROM parties o WHERE o.player_id = p.id AND o.role = $2 AND o.account_id = $1) END`, args...))
}

// Links lists the players that name the calling guardian or student, newest first; only those
// with an open request to by if waiting is true.
func (s *Service) Links(ctx context.Context, by actor.Actor, waiting bool, page approval.Page) ([]*approval.Player, error) {
	if by.Role == actor.Coach {
		return nil, nil
	}
	return s.readPlayers(s.DB.Query(ctx, playerSelect+`
		WHERE p.id IN (
			SELECT o.player_id FROM parties o
			WHERE o.account_id = $1 AND o.role = $5 AND o.deleted_at IS NULL AND o.player_id < $2
				AND (CAST($4 AS BOOLEAN) = FALSE OR o.state = 'pending' AND (SELECT q.state FROM requests q WHERE q.id = o.request_id) = 'pending')
			ORDER BY o.player_id DESC LIMIT $3)`,
		by.AccountID, database.Before(page.After.ID), page.Limit, waiting, string(by.Role)))
}

// anyApproved reports whether a student has approved any link.
func (s *Service) anyApproved(ctx context.Context, studentID string) (bool, error) {
	var approved bool
	err := s.DB.QueryRow(ctx, `SELECT (SELECT 1 `+store.Approved+` LIMIT 1) IS NOT NULL FROM accounts a WHERE a.id = $1`, studentID).Scan(&approved)
	if database.IsNoRows(err) {
		return false, nil
	}
	return approved && !s.Rules.IsUnproved(), err
}

// loadReminders loads the times of reminders to the parties since then, oldest first.
func loadReminders(ctx context.Context, tx *store.Tx, p *approval.Player, since time.Time) error {
	rs, err := tx.Query(ctx, `
		SELECT approver_type, guardian_id, sent_at FROM reminders WHERE player_id = $1 AND sent_at > $2 ORDER BY sent_at, id`,
		p.ID, database.Micros(since))
	_, err = database.Collect(rs, err, func(s database.Scanner) (struct{}, error) {
		var party actor.Role
		var guardianID string
		var at time.Time
		err := s.Scan(&party, &guardianID, database.IntoTime(&at))
		if a := p.Find(party, guardianID); a != nil {
			a.Reminders = append(a.Reminders, at)
		}
		return struct{}{}, err
	})
	return fault.Wrap(err, "load reminders of player %s", p.ID)
}
