package privacy

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
)

// Due is what a setting erases from a table.
type Due struct {
	Setting string
	Kept    time.Duration
	Table   string
	// Rows is how many rows are erased now.
	Rows int64
	// Next is when further rows are erased; zero without any, and for rows that go with a player.
	Next time.Time
}

// Due counts what BeforeSweep would erase at now, without a change. It counts a row once for RETAIN_DELETED and RETAIN_UNANSWERED
// together, and again for RETAIN_NOTIFICATIONS or RETAIN_DELIVERIES if that erases the row too.
func (r Retention) Due(ctx context.Context, db *store.DB, now time.Time) (list []Due, err error) {
	for _, p := range r.periods() {
		d := Due{Setting: p.setting, Kept: p.kept, Table: p.table}
		if p.kept > 0 {
			before := database.Micros(now.Add(-p.kept))
			if d.Rows, err = countErased(ctx, db, p.erase, before); err == nil {
				d.Next, err = nextDue(ctx, db, p.next, before, p.kept)
			}
			if err != nil {
				return nil, fmt.Errorf("count %s: %w", p.table, err)
			}
		}
		list = append(list, d)
	}
	c := dueCount{db: db, players: map[string]bool{}, keys: map[string]map[string]bool{}}
	for _, removal := range r.removals() {
		d := Due{Setting: removal.setting, Kept: removal.kept, Table: "players"}
		if removal.kept == 0 {
			list = append(list, d)
			continue
		}
		before := database.Micros(now.Add(-removal.before))
		rs, err := db.Query(ctx, removal.find, before, math.MaxInt32)
		ids, err := database.CollectTexts(rs, err)
		if err == nil && removal.setting == "RETAIN_UNANSWERED" {
			rs, err := db.Query(ctx, player.UnansweredPlayers, before, database.Micros(now.Add(-removal.kept)), math.MaxInt32)
			var live []string
			if live, err = database.CollectTexts(rs, err); err == nil {
				ids = append(ids, live...)
			}
		}
		if err == nil {
			d.Next, err = nextDue(ctx, db, removal.next, before, removal.before)
		}
		if err != nil {
			return nil, fmt.Errorf("find players to erase: %w", err)
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return c.players[id] })
		d.Rows = int64(len(ids))
		list = append(list, d)
		tables, err := c.addPlayers(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, table := range slices.Sorted(maps.Keys(tables)) {
			list = append(list, Due{Setting: removal.setting, Kept: removal.kept, Table: table, Rows: tables[table]})
		}
	}
	return list, nil
}

func nextDue(ctx context.Context, db *store.DB, query string, before any, kept time.Duration) (next time.Time, err error) {
	err = db.QueryRow(ctx, query, before).Scan(database.IntoTime(&next))
	if database.IsNoRows(err) {
		return time.Time{}, nil
	}
	return next.Add(kept), err
}

// countErased counts the rows that a statement with the arguments arg and a limit erases.
func countErased(ctx context.Context, db *store.DB, statement string, arg any) (n int64, err error) {
	_, condition, _ := strings.Cut(statement, " WHERE ")
	err = db.QueryRow(ctx, `SELECT count(*) FROM `+tableOf(statement)+` WHERE `+condition, arg, math.MaxInt32).Scan(&n)
	return n, err
}

// tableOf returns the table of "DELETE FROM table …" or "UPDATE table …".
func tableOf(statement string) string {
	words := strings.Fields(statement)
	if words[0] == "UPDATE" {
		return words[1]
	}
	return words[2]
}

// dueCount counts the rows that go with players.
type dueCount struct {
	db *store.DB
	// players are all that are erased, and keys the rows by table that are counted.
	players map[string]bool
	keys    map[string]map[string]bool
}

// addPlayers returns how many more rows by table go with players.
func (c dueCount) addPlayers(ctx context.Context, ids []string) (map[string]int64, error) {
	before := map[string]int{}
	for table, keys := range c.keys {
		before[table] = len(keys)
	}
	for _, id := range ids {
		c.players[id] = true
	}
	tables, accounts := map[string]int64{}, map[string]bool{}
	for _, id := range ids {
		if err := c.add(ctx, id, playerErasures); err != nil {
			return nil, err
		}
		if err := c.addTeamMessages(ctx, id); err != nil {
			return nil, fmt.Errorf("count team_messages of %s: %w", id, err)
		}
		named, err := accountsOf(ctx, c.db, id)
		if err != nil {
			return nil, fmt.Errorf("read player %s: %w", id, err)
		}
		for _, account := range named {
			accounts[account] = true
		}
	}
	for account := range accounts {
		erased, err := erasedWith(ctx, c.db, account, c.players)
		if err != nil {
			return nil, fmt.Errorf("read account %s: %w", account, err)
		}
		if !erased {
			continue
		}
		tables["accounts"]++
		if err := c.add(ctx, account, accountErasures); err != nil {
			return nil, err
		}
	}
	for table, keys := range c.keys {
		if n := len(keys) - before[table]; n > 0 {
			tables[table] = int64(n)
		}
	}
	return tables, nil
}

// add counts the rows that statements with the argument id erase.
func (c dueCount) add(ctx context.Context, id string, statements []string) error {
	for _, statement := range statements {
		_, condition, _ := strings.Cut(statement, " WHERE ")
		columns, _, _ := strings.Cut(condition, " IN (")
		if at := strings.LastIndex(columns, " AND "); at >= 0 {
			columns = columns[at+len(" AND "):]
		}
		if err := c.addRows(ctx, tableOf(statement), columns, condition, id, math.MaxInt32); err != nil {
			return fmt.Errorf("count %s of %s: %w", tableOf(statement), id, err)
		}
	}
	return nil
}

// addTeamMessages counts the texts of messages that only erased players have. teamMessageErasure finds those of one player alone.
func (c dueCount) addTeamMessages(ctx context.Context, id string) error {
	rs, err := c.db.Query(ctx, `
		SELECT m.id FROM team_recipients t JOIN team_messages m ON m.id = t.message_id WHERE t.player_id = $1 AND m.body <> ''`, id)
	messages, err := database.CollectTexts(rs, err)
	if err != nil {
		return err
	}
	for _, message := range messages {
		rs, err := c.db.Query(ctx, `
			SELECT o.player_id FROM team_recipients o JOIN players p ON p.id = o.player_id WHERE o.message_id = $1 AND p.erased_at IS NULL`, message)
		players, err := database.CollectTexts(rs, err)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(players, func(id string) bool { return !c.players[id] }) {
			if err := c.addRows(ctx, "team_messages", "id", "id = $1", message); err != nil {
				return err
			}
		}
	}
	return nil
}

// addRows counts the rows of a table that a condition finds, by the columns of their key: "id" or "(a, b)".
func (c dueCount) addRows(ctx context.Context, table, columns, condition string, args ...any) error {
	var key []string
	for column := range strings.SplitSeq(strings.Trim(columns, "()"), ", ") {
		key = append(key, `CAST(`+column+` AS TEXT)`)
	}
	rs, err := c.db.Query(ctx, `SELECT `+strings.Join(key, ` || ' ' || `)+` FROM `+table+` WHERE `+condition, args...)
	keys, err := database.CollectTexts(rs, err)
	if err != nil {
		return err
	}
	if c.keys[table] == nil {
		c.keys[table] = map[string]bool{}
	}
	for _, k := range keys {
		c.keys[table][k] = true
	}
	return nil
}

// erasedWith reports whether an account is erased with the players in due.
func erasedWith(ctx context.Context, db *store.DB, account string, due map[string]bool) (bool, error) {
	rs, err := db.Query(ctx, `
		SELECT a.player_id FROM parties a WHERE a.account_id = $1 AND a.deleted_at IS NULL
		UNION ALL SELECT p.id FROM parties a JOIN players p ON p.id = a.player_id AND p.erased_at IS NULL WHERE a.account_id = $1 AND a.deleted_at IS NOT NULL`, account)
	players, err := database.CollectTexts(rs, err)
	if err != nil || slices.ContainsFunc(players, func(id string) bool { return !due[id] }) {
		return false, err
	}
	var free bool
	err = db.QueryRow(ctx, `
		SELECT a.closed_at IS NULL AND a.suspended_at IS NULL FROM accounts a WHERE a.id = $1`, account).Scan(&free)
	return free, err
}
