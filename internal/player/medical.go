package player

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
)

// Medical returns a player with its medical text and records the reading in the same
// transaction, unless there is no text. It returns not_found for a player that by may not see.
func (s *Service) Medical(ctx context.Context, by actor.Actor, playerID string, purpose approval.ReadingPurpose) (*approval.Player, error) {
	var p *approval.Player
	err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
		p, err = s.visiblePlayer(ctx, tx, by, playerID)
		if err != nil {
			return err
		}
		if err := p.MayReadMedical(by, tx.Now); err != nil || !p.Student.HasMedical {
			return err
		}
		texts, err := s.readMedical(ctx, tx, by, []string{playerID}, purpose)
		p.Student.Medical = texts[playerID]
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// ExportMedical returns the medical texts of players of the calling coach by id, and records a
// reading of each.
func (s *Service) ExportMedical(ctx context.Context, by actor.Actor, playerIDs []string) (texts map[string]string, err error) {
	if len(playerIDs) == 0 {
		return nil, nil
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		texts, err = s.readMedical(ctx, tx, by, playerIDs, approval.ReadToExport)
		return err
	})
	return texts, err
}

// readMedical returns the medical texts of live players and records a reading of each in one
// statement. The caller has checked access, but a coach gets only the coach's own players.
func (s *Service) readMedical(ctx context.Context, tx *store.Tx, by actor.Actor, playerIDs []string, purpose approval.ReadingPurpose) (map[string]string, error) {
	ids := database.PaddedIDs(playerIDs)
	args := append([]any{by.AccountID, string(by.Role)}, ids...)
	rs, err := tx.Query(ctx, `
		SELECT p.id, p.medical FROM players p
		WHERE p.id IN (`+database.Params(3, len(ids))+`) AND p.deleted_at IS NULL AND p.medical IS NOT NULL
			AND CASE WHEN CAST($2 AS TEXT) = 'coach' THEN p.coach_id = $1
				ELSE EXISTS (SELECT 1 FROM parties o WHERE o.player_id = p.id AND o.role = $2 AND o.account_id = $1) END`, args...)
	type sealed struct {
		id   string
		text []byte
	}
	list, err := database.Collect(rs, err, func(row database.Scanner) (m sealed, err error) { return m, row.Scan(&m.id, &m.text) })
	if err != nil {
		return nil, fmt.Errorf("read medical texts: %w", err)
	}
	texts, readings := map[string]string{}, make([][]any, 0, len(list))
	for _, m := range list {
		texts[m.id], err = s.DB.Unseal(vault.ForMedical, m.text, m.id)
		if err != nil {
			return nil, fmt.Errorf("player %s: %w", m.id, err)
		}
		readings = append(readings, []any{s.DB.NewID(), m.id, string(by.Role), by.AccountID, string(purpose), database.Micros(tx.Now)})
	}
	if len(readings) == 0 {
		return texts, nil
	}
	values, args := database.ValuesTable(readings, "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "BIGINT")
	if _, err := tx.Exec(ctx, `
		INSERT INTO medical_readings (id, player_id, reader_role, reader_id, purpose, read_at)
		SELECT v.column1, v.column2, v.column3, v.column4, v.column5, v.column6 FROM `+values+` v WHERE v.column1 IS NOT NULL`, args...); err != nil {
		return nil, fmt.Errorf("record readings of medical texts: %w", err)
	}
	return texts, nil
}

// MedicalReadings lists the readings of the medical text of a player that names the calling
// party, newest first. The party must have approved.
func (s *Service) MedicalReadings(ctx context.Context, by actor.Actor, playerID string, page approval.Page) (readings []approval.Reading, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		p, err := s.visiblePlayer(ctx, tx, by, playerID)
		if err != nil {
			return err
		}
		if err := p.CheckApproved(by, "see who read the medical information"); err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `
			SELECT r.id, r.player_id, r.read_at, r.reader_role, r.purpose, c.name
			FROM medical_readings r LEFT JOIN coaches c ON r.reader_role = 'coach' AND c.id = r.reader_id
			WHERE r.player_id = $1 AND r.id < $2 ORDER BY r.id DESC LIMIT $3`, playerID, database.Before(page.After.ID), page.Limit)
		readings, err = database.Collect(rs, err, func(row database.Scanner) (r approval.Reading, err error) {
			return r, row.Scan(&r.ID, &r.PlayerID, database.IntoTime(&r.At), &r.Role, &r.Purpose, database.IntoText(&r.ReaderName))
		})
		return err
	})
	return readings, err
}

// Sealed are the columns that the service secret seals.
var Sealed = []store.Sealed{{
	Table: "players", Column: "medical", Purpose: vault.ForMedical,
	Read:  `SELECT id, medical FROM players WHERE id > $2 AND medical IS NOT NULL ORDER BY id LIMIT $1`,
	Write: `UPDATE players SET medical = $2 WHERE id = $3 AND medical = $1`,
}}

// Ended is what ends with the service secret: the secret derives the tokens of links.
var Ended = []store.Ended{
	{What: "links in messages to families", Query: `DELETE FROM request_links WHERE hash IN (SELECT hash FROM request_links LIMIT $1)`},
}
