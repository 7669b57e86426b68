package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
)

// tell writes what people are told of events into their trays. accountOf names
// the account of a role that an event left open, as one does whose party was
// given another number in this transaction. A tray's numbers are taken from its
// account's row, which stays locked until the commit: so they rise in the order
// of the commits, and a stream that resumes after a number misses nothing. also
// are accounts that are told nothing and locked with the others, in one order.
func (tx *tx) tell(ctx context.Context, events []event.Event, accountOf func(actor.Role) string, also ...string) error {
	var notes []notify.Draft
	for _, e := range events {
		for _, n := range notify.Plan(e) {
			if n.AccountID == "" {
				n.AccountID = accountOf(n.To)
			}
			if n.AccountID == "" {
				return fmt.Errorf("nobody to tell of %s as %s", e.Type, n.To)
			}
			notes = append(notes, n)
		}
	}
	count := map[string]int64{}
	for _, id := range also {
		count[id] = 0
	}
	for _, n := range notes {
		count[n.AccountID]++
	}
	next, numbers, err := tx.numbers(ctx, count)
	if err != nil || len(notes) == 0 {
		return err
	}
	var args []any
	var ids []string
	for _, n := range notes {
		data, err := json.Marshal(n.Data)
		if err != nil {
			return err
		}
		ids = append(ids, tx.db.NewID())
		args = append(args, n.AccountID, next[n.AccountID], ids[len(ids)-1], string(n.Type), n.Title, n.Body, string(data),
			text(n.Data.PlayerID), micros(tx.Now))
		next[n.AccountID]++
	}
	err = tx.Defer(ctx, `
		INSERT INTO notifications (account_id, seq, id, type, title, body, data, player_id, created_at)
		VALUES `+rowsOf(len(notes), 9), args...)
	if err != nil {
		return fmt.Errorf("write notifications: %w", err)
	}
	told := make([]string, 0, len(count))
	for id, n := range count {
		if n > 0 {
			told = append(told, id)
		}
	}
	tx.wakeTrays(told)
	return tx.queueCopies(ctx, notes, ids, numbers)
}

// numbers takes so many numbers of each account's tray in one statement, and
// returns the first of each, with the number to ring it by. It is an upsert of rows that are all there, because
// a plain UPDATE locks rows in whatever order it finds them: two transactions
// could then wait for each other.
func (tx *tx) numbers(ctx context.Context, count map[string]int64) (next map[string]int64, mobile map[string]phone.Number, err error) {
	if len(count) == 0 {
		return nil, nil, nil
	}
	var args []any
	for id := range count {
		args = append(args, id)
	}
	accounts := len(args)
	var grow strings.Builder
	for i := range accounts {
		args = append(args, count[args[i].(string)])
		fmt.Fprintf(&grow, " WHEN $%d THEN CAST($%d AS BIGINT)", i+1, accounts+i+1)
	}
	rs, err := tx.Query(ctx, `
		INSERT INTO accounts (id, mobile_number, role, tray_seq, created_at)
		SELECT id, mobile_number, role, CASE id`+grow.String()+` END, created_at
		FROM accounts WHERE id IN (`+params(1, accounts)+`) ORDER BY id
		ON CONFLICT (id) DO UPDATE SET tray_seq = accounts.tray_seq + excluded.tray_seq
		RETURNING id, tray_seq, mobile_number`, args...)
	next, mobile = map[string]int64{}, map[string]phone.Number{}
	_, err = database.Collect(rs, err, func(s database.Scanner) (id string, err error) {
		var last int64
		var number phone.Number
		err = s.Scan(&id, &last, &number)
		next[id], mobile[id] = last-count[id]+1, number
		return id, err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("number notifications: %w", err)
	}
	if len(next) != accounts {
		return nil, nil, fmt.Errorf("number notifications: %d accounts of %d", len(next), accounts)
	}
	return next, mobile, nil
}

// forget removes what the accounts were told about a player.
func (tx *tx) forget(ctx context.Context, playerID string, accountIDs []string) error {
	if len(accountIDs) == 0 {
		return nil
	}
	args := []any{playerID}
	for _, id := range accountIDs {
		args = append(args, id)
	}
	err := tx.Defer(ctx, `DELETE FROM notifications WHERE player_id = $1 AND account_id IN (`+params(2, len(accountIDs))+`)`, args...)
	if err != nil {
		return fmt.Errorf("forget notifications: %w", err)
	}
	return nil
}
