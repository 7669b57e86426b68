package proof

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// readPlayers reads what the tables have of up to playersBatch players after an id, with their records, in one state of the database.
func (s *Service) readPlayers(ctx context.Context, after string) (players []*copyOfPlayer, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if players, err = readPlayerRows(ctx, tx, after); err != nil || len(players) == 0 {
			return err
		}
		byID := make(map[string]*copyOfPlayer, len(players))
		ids := make([]any, len(players))
		for i, p := range players {
			byID[p.id], ids[i] = p, p.id
		}
		for _, read := range []func(context.Context, *store.Tx, map[string]*copyOfPlayer, []any) error{readRecords, readDecisions, readRequests, s.readErasedAccounts} {
			if err := read(ctx, tx, byID, ids); err != nil {
				return err
			}
		}
		return nil
	})
	return players, fault.Wrap(err, "read players after %s", after)
}

func readPlayerRows(ctx context.Context, tx *store.Tx, after string) ([]*copyOfPlayer, error) {
	rs, err := tx.Query(ctx, `
		SELECT p.id, p.coach_id, p.version, p.student_name, p.date_of_birth, p.guardian_rule, coalesce(p.created_at, 0), coalesce(p.deleted_at, 0), coalesce(p.erased_at, 0), coalesce(e.erased_at, 0),
			a.role, a.guardian_id, coalesce(a.position, 0), a.account_id, a.number, a.name, a.relationship, a.state, coalesce(a.changed_at, 0), coalesce(a.pending_since, 0), a.pending_reason, coalesce(a.refused, FALSE), a.request_id,
			o.mobile_number, o.role, coalesce(a.coach_id = p.coach_id AND coalesce(a.deleted_at, 0) = coalesce(p.deleted_at, 0), FALSE)
		FROM players p LEFT JOIN parties a ON a.player_id = p.id LEFT JOIN accounts o ON o.id = a.account_id LEFT JOIN erasures e ON e.object_id = p.id
		WHERE p.id IN (SELECT id FROM players WHERE id > $1 ORDER BY id LIMIT $2)`, after, playersBatch)
	var players []*copyOfPlayer
	byID := map[string]*copyOfPlayer{}
	err = database.Each(rs, err, func(row database.Scanner) error {
		p := &copyOfPlayer{records: map[partyKey][]stored{}}
		var a copyOfParty
		var copied bool
		text := database.IntoText
		err := row.Scan(
			&p.id, &p.coachID, &p.version, &p.studentName, &p.born, &p.rule, &p.createdAt, &p.deletedAt, &p.erasedAt, &p.erasureAt,
			text((*string)(&a.role)), text(&a.guardianID), &a.position, text(&a.account), text(&a.number), text(&a.name), text(&a.relationship), text((*string)(&a.state)), &a.changedAt, &a.pendingSince,
			text(&a.reason), &a.refused, text(&a.requestID), text(&a.accountNumber), text(&a.accountRole), &copied,
		)
		if err != nil {
			return err
		}
		if known := byID[p.id]; known != nil {
			p = known
		} else {
			byID[p.id], players = p, append(players, p)
		}
		p.add(a, copied)
		return nil
	})
	for _, p := range players {
		p.complete()
	}
	slices.SortFunc(players, func(a, b *copyOfPlayer) int { return strings.Compare(a.id, b.id) })
	return players, err
}

// add adds the row of a party. copied reports whether it has the coach and the removal of the player.
func (p *copyOfPlayer) add(a copyOfParty, copied bool) {
	if a.role == "" {
		return
	}
	for i := range p.parties {
		if known := &p.parties[i]; known.key() == a.key() || known.role == a.role && known.position == a.position {
			p.problems = append(p.problems, fmt.Sprintf("it has two rows of the %s", a.role))
		}
	}
	if a.role == actor.Student && a.name == "" {
		a.name = p.studentName
	}
	p.parties = append(p.parties, a)
	if !copied {
		p.problems = append(p.problems, fmt.Sprintf("the row of the %s is of another coach, or has another time of removal", a.role))
	}
}

// complete sorts the parties, and adds those that each player has and that have no row. A removed guardian
// has records alone.
func (p *copyOfPlayer) complete() {
	for _, role := range approval.Parties {
		if !slices.ContainsFunc(p.parties, func(a copyOfParty) bool { return a.role == role && a.position == 1 }) {
			p.parties = append(p.parties, copyOfParty{role: role, position: 1})
		}
	}
	slices.SortFunc(p.parties, func(a, b copyOfParty) int {
		return cmp.Or(strings.Compare(string(a.role), string(b.role)), a.position-b.position)
	})
}

// readRecords reads the records of players, oldest first. It searches each record by its id: PostgreSQL would join by reading the whole log
// for each batch of players while it has no statistics.
func readRecords(ctx context.Context, tx *store.Tx, byID map[string]*copyOfPlayer, ids []any) error {
	rs, err := tx.Query(ctx, `
		SELECT k.player_id, k.party, k.guardian_id, k.record_id, k.account_id, k.version, k.sealed,
			(SELECT r.body FROM consent_records r WHERE r.id = k.record_id),
			coalesce((SELECT r.position FROM consent_records r WHERE r.id = k.record_id), -1)
		FROM record_keys k
		WHERE k.player_id IN (`+database.Params(1, len(ids))+`) ORDER BY k.player_id, k.party, k.version, k.record_id`, ids...)
	return database.Each(rs, err, func(row database.Scanner) error {
		var player string
		var party partyKey
		var r stored
		err := row.Scan(&player, (*string)(&party.role), &party.guardianID, &r.id, &r.account, &r.version, &r.sealed, &r.body, &r.position)
		p := byID[player]
		p.records[party] = append(p.records[party], r)
		return err
	})
}

func readDecisions(ctx context.Context, tx *store.Tx, byID map[string]*copyOfPlayer, ids []any) error {
	rs, err := tx.Query(ctx, `
		SELECT player_id, id, approver_type, guardian_id, approver_id, action, reason, request_id, decided_at, coach_device IS NOT NULL, via, notice_hash, text_hash
		FROM approval_history WHERE player_id IN (`+database.Params(1, len(ids))+`)`, ids...)
	return database.Each(rs, err, func(row database.Scanner) error {
		var player string
		var d copyOfDecision
		err := row.Scan(&player, &d.id, &d.party, &d.guardianID, &d.approver, &d.action, database.IntoText(&d.reason), database.IntoText(&d.request), &d.at, &d.coachDevice, &d.via,
			database.IntoText(&d.notice), database.IntoText(&d.text))
		p := byID[player]
		p.decisions = append(p.decisions, d)
		return err
	})
}

func readRequests(ctx context.Context, tx *store.Tx, byID map[string]*copyOfPlayer, ids []any) error {
	rs, err := tx.Query(ctx, `
		SELECT player_id, id, coach_id, approver_type, guardian_id, approver_id, state, via, requested_at, coalesce(closed_at, 0)
		FROM requests WHERE player_id IN (`+database.Params(1, len(ids))+`)`, ids...)
	return database.Each(rs, err, func(row database.Scanner) error {
		var player string
		var q copyOfRequest
		err := row.Scan(&player, &q.id, &q.coachID, &q.party, &q.guardianID, &q.approver, &q.state, database.IntoText(&q.via), &q.requestedAt, &q.closedAt)
		p := byID[player]
		p.requests = append(p.requests, q)
		return err
	})
}

// readErasedAccounts finds the accounts of records without a key whose erasure is recorded.
func (s *Service) readErasedAccounts(ctx context.Context, tx *store.Tx, byID map[string]*copyOfPlayer, _ []any) error {
	accounts := map[string]bool{}
	for _, p := range byID {
		for _, records := range p.records {
			for _, r := range records {
				if len(r.sealed) == 0 && r.account != "" {
					accounts[r.account] = false
				}
			}
		}
	}
	if len(accounts) == 0 {
		return nil
	}
	var ids []any
	for id := range accounts {
		ids = append(ids, id)
	}
	rs, err := tx.Query(ctx, `
		SELECT k.player_id, k.record_id, k.sealed, r.body
		FROM record_keys k JOIN consent_records r ON r.id = k.record_id JOIN erasures e ON e.object_id = k.player_id JOIN accounts a ON a.id = k.player_id
		WHERE k.player_id IN (`+database.Params(1, len(ids))+`) AND a.mobile_number = 'erased:' || a.id`, ids...)
	err = database.Each(rs, err, func(row database.Scanner) error {
		var account string
		var r stored
		err := row.Scan(&account, &r.id, &r.sealed, &r.body)
		accounts[account] = accounts[account] || s.erasureOf(account, r) == ""
		return err
	})
	for _, p := range byID {
		p.erasedAccounts = accounts
	}
	return err
}
