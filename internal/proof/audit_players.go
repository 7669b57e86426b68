package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// playersBatch is how many players a statement of the audit reads.
const playersBatch = 500

// consentState is the state of a consent in the row of its player.
type consentState struct {
	playerID string
	party    actor.Role
	state    approval.State
	// version and createdAt are of the player.
	version   int64
	createdAt time.Time
}

// stored is a record with its key.
type stored struct {
	id           string
	body, sealed []byte
}

type partyKey struct {
	playerID string
	party    actor.Role
}

// auditPlayers compares the states and the history of all players with their records.
func (s *Service) auditPlayers(ctx context.Context, r *Report) error {
	started, err := s.started(ctx)
	for after := ""; err == nil; {
		var n int
		var last string
		var found []string
		err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
			var states []consentState
			if states, last, n, err = readStates(ctx, tx, after, playersBatch); err != nil || n == 0 {
				return err
			}
			records, err := readRecords(ctx, tx, states)
			if err != nil {
				return err
			}
			if found, err = auditHistory(ctx, tx, states, started); err != nil {
				return err
			}
			for _, c := range states {
				if problem := s.contradiction(c, records[partyKey{c.playerID, c.party}], started); problem != "" {
					found = append(found, fmt.Sprintf("player %s, %s: %s", c.playerID, c.party, problem))
				}
			}
			return nil
		})
		if err != nil || n == 0 {
			break
		}
		after = last
		r.Players += int64(n)
		for _, finding := range found {
			r.add("%s", finding)
		}
	}
	return err
}

// started returns when the log began; zero if it has not.
func (s *Service) started(ctx context.Context) (at time.Time, err error) {
	return at, s.DB.QueryRow(ctx, `SELECT started_at FROM consent_log WHERE id = 1`).Scan(database.IntoTime(&at))
}

// sampleSize is how many players a call of Sample checks.
const sampleSize = 1000

// Sample checks the approvals of the next sampleSize players against their records, where Audit checks all consents. An
// approval that its record contradicts is a security event, and turns the app services of the party off. Each call goes on
// where the last one ended.
func (s *Service) Sample(ctx context.Context) error {
	started, err := s.started(ctx)
	if err != nil || started.IsZero() {
		return err
	}
	for range sampleSize / playersBatch {
		var n int
		var last string
		unproved := map[consentState]string{}
		err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
			clear(unproved)
			var states []consentState
			if states, last, n, err = readStates(ctx, tx, s.sampled, playersBatch); err != nil || n == 0 {
				return err
			}
			records, err := readRecords(ctx, tx, states)
			if err != nil {
				return err
			}
			for _, c := range states {
				if c.state != approval.Approved {
					continue
				}
				if problem := s.contradiction(c, records[partyKey{c.playerID, c.party}], started); problem != "" {
					unproved[c] = problem
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("check approvals: %w", err)
		}
		s.sampled = last
		for c, problem := range unproved {
			if err := s.withhold(ctx, c, problem); err != nil {
				return err
			}
		}
		if n < playersBatch {
			s.sampled = "" // the next call begins again
			return nil
		}
	}
	return nil
}

// withhold turns the app services of a party off, and tells the operators.
func (s *Service) withhold(ctx context.Context, c consentState, problem string) error {
	if s.Withhold != nil {
		withheld, err := s.Withhold(ctx, c.playerID, c.party, c.version)
		if err != nil {
			return fmt.Errorf("withhold the services of player %s: %w", c.playerID, err)
		}
		if !withheld {
			return nil // it changed meanwhile; a later sample checks it
		}
	}
	if s.SecurityEvent != nil {
		s.SecurityEvent(ctx, "consent_unproved", slog.String("player_id", c.playerID), slog.String("party", string(c.party)), slog.String("reason", problem))
	}
	return nil
}

// readStates returns the consents of up to limit players after an id, the last id, and the number of players.
func readStates(ctx context.Context, q database.Querier, after string, limit int) (states []consentState, last string, n int, err error) {
	rs, err := q.Query(ctx, `
		SELECT id, guardian_state, student_state, version, created_at FROM players
		WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2`, after, limit)
	err = database.Each(rs, err, func(row database.Scanner) error {
		g := consentState{party: actor.Guardian}
		st := consentState{party: actor.Student}
		if err := row.Scan(&g.playerID, (*string)(&g.state), (*string)(&st.state), &g.version, database.IntoTime(&g.createdAt)); err != nil {
			return err
		}
		st.playerID, st.version, st.createdAt = g.playerID, g.version, g.createdAt
		states, last, n = append(states, g, st), g.playerID, n+1
		return nil
	})
	if err != nil {
		return nil, "", 0, fmt.Errorf("read the states of players after %s: %w", after, err)
	}
	return states, last, n, nil
}

// readRecords returns the records of these players by party, oldest first.
func readRecords(ctx context.Context, q database.Querier, states []consentState) (map[partyKey][]stored, error) {
	ids := playersOf(states)
	rs, err := q.Query(ctx, `
		SELECT k.player_id, k.party, k.record_id, k.sealed, r.body
		FROM record_keys k JOIN consent_records r ON r.id = k.record_id
		WHERE k.player_id IN (`+database.Params(1, len(ids))+`) ORDER BY k.player_id, k.party, k.version, k.record_id`, ids...)
	records := map[partyKey][]stored{}
	err = database.Each(rs, err, func(row database.Scanner) error {
		var key partyKey
		var record stored
		err := row.Scan(&key.playerID, (*string)(&key.party), &record.id, &record.sealed, &record.body)
		records[key] = append(records[key], record)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the records of players: %w", err)
	}
	return records, nil
}

func playersOf(states []consentState) []any {
	var ids []any
	for i, c := range states {
		if i == 0 || states[i-1].playerID != c.playerID {
			ids = append(ids, c.playerID)
		}
	}
	return ids
}

// contradiction says how the newest record contradicts the state of a consent, or "". A consent that was never asked for is
// pending and has no record. Players from before the log have none either.
func (s *Service) contradiction(c consentState, records []stored, started time.Time) string {
	if len(records) == 0 {
		if c.state == approval.Pending || started.IsZero() || c.createdAt.Before(started) {
			return ""
		}
		return fmt.Sprintf("the state is %q, but there is no record", c.state)
	}
	newest := records[len(records)-1]
	var b Body
	if err := json.Unmarshal(newest.body, &b); err != nil {
		return fmt.Sprintf("record %s is not readable: %s", newest.id, err)
	}
	o, err := open(s.DB, newest.sealed, newest.id)
	switch {
	case err != nil:
		return fmt.Sprintf("the key of record %s is not readable: %s", newest.id, err)
	case b.RecordID != newest.id || b.PartyRole != string(c.party):
		return fmt.Sprintf("record %s is of another consent", newest.id)
	}
	claims, err := b.disclosed([]string{disclosure(o.key, "player_id", c.playerID)})
	switch {
	case err != nil || claims["player_id"] != c.playerID:
		return fmt.Sprintf("record %s is of another player", newest.id)
	case b.EventState != string(c.state):
		return fmt.Sprintf("the state is %q, but the newest record (%s) says %q", c.state, newest.id, b.EventState)
	}
	return ""
}

// auditHistory compares the decisions in the history of these players with their records, which have the same ids, and returns
// the contradictions.
func auditHistory(ctx context.Context, tx *store.Tx, states []consentState, started time.Time) (found []string, err error) {
	ids := playersOf(states)
	rs, err := tx.Query(ctx, `
		SELECT h.id, h.player_id, h.approver_type, h.action, h.decided_at, r.body
		FROM approval_history h LEFT JOIN consent_records r ON r.id = h.id
		WHERE h.player_id IN (`+database.Params(1, len(ids))+`)`, ids...)
	err = database.Each(rs, err, func(row database.Scanner) error {
		var id, player, party, action string
		var at time.Time
		var body []byte
		if err := row.Scan(&id, &player, &party, &action, database.IntoTime(&at), &body); err != nil {
			return err
		}
		if body == nil {
			if !started.IsZero() && !at.Before(started) {
				found = append(found, fmt.Sprintf("player %s: the decision %s in the history has no record", player, id))
			}
			return nil
		}
		for _, want := range []string{`"event_type":"` + action + `"`, `"party_role":"` + party + `"`, `"event_time":"` + at.UTC().Format(timeFormat) + `"`} {
			if !bytes.Contains(body, []byte(want)) {
				found = append(found, fmt.Sprintf("player %s: the decision %s in the history differs from its record", player, id))
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the history of players: %w", err)
	}
	return found, nil
}
