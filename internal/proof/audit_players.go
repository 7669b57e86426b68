package proof

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// playersBatch is how many players a statement of the audit reads.
const playersBatch = 500

// auditPlayers replays the records of all players. It returns how many of the records with a position below size it saw.
func (s *Service) auditPlayers(ctx context.Context, r *Report, size int64) (seen int64, err error) {
	// The next batches are read while these are replayed.
	type batch struct {
		players []*copyOfPlayer
		found   chan []string
	}
	batches := make(chan batch, runtime.GOMAXPROCS(0)+1)
	inOrder := make(chan batch, cap(batches))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var readErr error
	go func() {
		defer close(batches)
		defer close(inOrder)
		for after := ""; ; {
			var b batch
			if b.players, readErr = s.readPlayers(ctx, after); readErr != nil || len(b.players) == 0 {
				return
			}
			after = b.players[len(b.players)-1].id
			b.found = make(chan []string, 1)
			for _, c := range []chan batch{batches, inOrder} {
				select {
				case c <- b:
				case <-ctx.Done():
					readErr = ctx.Err()
					return
				}
			}
		}
	}()
	var workers sync.WaitGroup
	defer workers.Wait()
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for b := range batches {
				var found []string
				for _, p := range b.players {
					for _, f := range s.replay(p) {
						found = append(found, p.finding(f))
					}
				}
				b.found <- found
			}
		})
	}
	for b := range inOrder {
		for _, finding := range <-b.found {
			r.add("%s", finding)
		}
		r.Players += int64(len(b.players))
		for _, p := range b.players {
			seen += p.numbered(size)
		}
	}
	if readErr != nil {
		return seen, readErr
	}
	n, err := s.auditErasures(ctx, r, size)
	return seen + n, err
}

// finding returns the text of a finding.
func (p *copyOfPlayer) finding(f finding) string {
	if f.party == "" {
		return fmt.Sprintf("player %s: %s", p.id, f.text)
	}
	return fmt.Sprintf("player %s, %s: %s", p.id, f.party, f.text)
}

// numbered returns how many records of p have a position below size.
func (p *copyOfPlayer) numbered(size int64) (n int64) {
	for _, records := range p.records {
		for _, r := range records {
			if r.position >= 0 && r.position < size {
				n++
			}
		}
	}
	return n
}

// sampleSize is how many players a call of Sample checks.
const sampleSize = 1000

// Sample checks the approvals of the next sampleSize players as Audit does. A contradiction of an approval is a security event, and
// turns the app services of the party off. Each call goes on where the last one ended.
func (s *Service) Sample(ctx context.Context) error {
	if s.Gate.Closed() {
		return nil // no party has app services
	}
	for range sampleSize / playersBatch {
		players, err := s.readPlayers(ctx, s.sampled)
		if err != nil {
			return fmt.Errorf("check approvals: %w", err)
		}
		for _, p := range players {
			s.sampled = p.id
			if err := s.checkApprovals(ctx, p); err != nil {
				return err
			}
		}
		if len(players) < playersBatch {
			s.sampled = "" // the next call begins again
			return nil
		}
	}
	return nil
}

// checkApprovals withholds the approvals of a player that its records contradict.
func (s *Service) checkApprovals(ctx context.Context, p *copyOfPlayer) error {
	if p.deletedAt != 0 || !slices.ContainsFunc(p.parties, func(a copyOfParty) bool { return a.state == approval.Approved }) {
		return nil
	}
	found := s.replay(p)
	version := p.version
	for _, party := range p.parties {
		for _, f := range found {
			if party.state != approval.Approved || f.settled || f.party != "" && (f.party != party.role || f.guardianID != party.guardianID) {
				continue
			}
			withheld, err := s.withhold(ctx, p.id, party.role, party.guardianID, version, f.text)
			if err != nil {
				return err
			}
			if withheld {
				version++
			}
			break
		}
	}
	return nil
}

// withhold turns the app services of a party off, and tells the operators.
func (s *Service) withhold(ctx context.Context, playerID string, party actor.Role, guardianID string, version int64, problem string) (bool, error) {
	if s.Withhold != nil {
		withheld, err := s.Withhold(ctx, playerID, party, guardianID, version)
		if err != nil {
			return false, fmt.Errorf("withhold the services of player %s: %w", playerID, err)
		}
		if !withheld {
			return false, nil // it changed meanwhile; a later sample checks it
		}
	}
	if s.SecurityEvent != nil {
		s.SecurityEvent(ctx, "consent_unproved", slog.String("player_id", playerID), slog.String("party", string(party)), slog.String("reason", problem))
	}
	return true, nil
}

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
	if err != nil {
		return nil, fmt.Errorf("read players after %s: %w", after, err)
	}
	return players, nil
}

func readPlayerRows(ctx context.Context, tx *store.Tx, after string) ([]*copyOfPlayer, error) {
	rs, err := tx.Query(ctx, `
		SELECT p.id, p.coach_id, p.version, p.student_name, p.date_of_birth, p.guardian_rule, coalesce(p.created_at, 0), coalesce(p.deleted_at, 0), coalesce(p.erased_at, 0), coalesce(e.erased_at, 0),
			a.role, a.guardian_id, coalesce(a.position, 0), a.account_id, a.number, a.name, a.relationship, a.state, coalesce(a.changed_at, 0), coalesce(a.pending_since, 0), a.pending_reason, a.request_id,
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
			text(&a.reason), text(&a.requestID), text(&a.accountNumber), text(&a.accountRole), &copied,
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

// erasureOf says why a record is not that of the erasure of an account, or "".
func (s *Service) erasureOf(account string, r stored) string {
	f, err := factsOf(r.body)
	if err != nil {
		return "its record is not readable"
	}
	o, err := open(s.DB, r.sealed, r.id)
	if err != nil || f.recordID != r.id || f.kind != approval.ConsentAccountErased || o.claims["player_id"] != account || !o.claims.sameDigests(o.key, f.digestsOfClaim) {
		return fmt.Sprintf("record %s is not of it", r.id)
	}
	return ""
}

// auditErasures compares the erasures of accounts of families with their records. It returns how many records it saw.
func (s *Service) auditErasures(ctx context.Context, r *Report, size int64) (seen int64, err error) {
	for after := ""; ; {
		n, last := 0, ""
		rs, err := s.DB.Query(ctx, `
			SELECT e.object_id, e.erased_at, a.mobile_number, k.record_id, k.sealed, r.body, coalesce(r.position, -1), coalesce(r.at, 0)
			FROM erasures e JOIN accounts a ON a.id = e.object_id
			LEFT JOIN record_keys k ON k.player_id = e.object_id LEFT JOIN consent_records r ON r.id = k.record_id
			WHERE e.object_id > $1 AND e.kind IN ('guardian', 'student') ORDER BY e.object_id LIMIT $2`, after, playersBatch)
		err = database.Each(rs, err, func(row database.Scanner) error {
			var account, number string
			var record stored
			var erasedAt, at int64
			if err := row.Scan(&account, &erasedAt, &number, database.IntoText(&record.id), &record.sealed, &record.body, &record.position, &at); err != nil {
				return err
			}
			n, last = n+1, account
			if record.position >= 0 && record.position < size {
				seen++
			}
			switch {
			case number != "erased:"+account:
				r.add("account %s: erasures has it, but it was not erased", account)
			case record.body == nil:
				r.add("account %s: it was erased, but no record says so", account)
			default:
				if problem := s.erasureOf(account, record); problem != "" {
					r.add("account %s: it was erased, but %s", account, problem)
				}
			}
			return nil
		})
		if err != nil {
			return seen, fmt.Errorf("read erasures of accounts after %s: %w", after, err)
		}
		if n < playersBatch {
			return seen, nil
		}
		after = last
	}
}

// auditWaiting notes the records without a position that have no key.
func (s *Service) auditWaiting(ctx context.Context, r *Report) error {
	rs, err := s.DB.Query(ctx, `
		SELECT r.id FROM consent_records r WHERE r.position IS NULL AND NOT EXISTS (SELECT 1 FROM record_keys k WHERE k.record_id = r.id)
		ORDER BY r.at, r.id LIMIT $1`, maxFindings)
	ids, err := database.CollectTexts(rs, err)
	if err != nil {
		return fmt.Errorf("find records without a key: %w", err)
	}
	for _, id := range ids {
		r.add("record %s has no key in record_keys", id)
	}
	return nil
}

// findUnseen says which numbered records have no key, or the key of an unknown player.
func (s *Service) findUnseen(ctx context.Context, r *Report, size int64) error {
	for _, search := range []struct{ finding, query string }{
		{"record %s has no key in record_keys", `
			SELECT r.id FROM consent_records r WHERE r.position < $1 AND NOT EXISTS (SELECT 1 FROM record_keys k WHERE k.record_id = r.id)
			ORDER BY r.position LIMIT $2`},
		{"record %s is of a player that is missing", `
			SELECT r.id FROM consent_records r JOIN record_keys k ON k.record_id = r.id
			WHERE r.position < $1 AND NOT EXISTS (SELECT 1 FROM players p WHERE p.id = k.player_id) AND NOT EXISTS (SELECT 1 FROM erasures e JOIN accounts a ON a.id = e.object_id WHERE e.object_id = k.player_id)
			ORDER BY r.position LIMIT $2`},
	} {
		rs, err := s.DB.Query(ctx, search.query, size, maxFindings)
		ids, err := database.CollectTexts(rs, err)
		if err != nil {
			return fmt.Errorf("find records without a player: %w", err)
		}
		for _, id := range ids {
			r.add(search.finding, id)
		}
	}
	return nil
}
