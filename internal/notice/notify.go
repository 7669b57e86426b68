package notice

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// Notify saves the notifications of events and queues their copies. alsoLock are accounts to
// lock together with the recipients, in one order.
//
// The Seqs of notifications come from the account's row, which stays locked until the
// commit. They rise in commit order, so a stream that resumes after a Seq misses
// nothing.
func Notify(ctx context.Context, tx *store.Tx, events []event.Event, alsoLock ...string) error {
	_, err := notify(ctx, tx, events, alsoLock)
	return err
}

func notify(ctx context.Context, tx *store.Tx, events []event.Event, alsoLock []string) (Told, error) {
	var drafts []message.Draft
	for _, e := range events {
		for _, d := range message.Plan(e, tx.DB().Settings().Brand) {
			if d.AccountID == "" {
				return nil, fmt.Errorf("event %s: no account of the %s", e.Type, d.To)
			}
			drafts = append(drafts, d)
		}
	}
	count := map[string]int64{}
	for _, id := range alsoLock {
		count[id] = 0
	}
	for _, d := range drafts {
		count[d.AccountID]++
	}
	accounts, err := takeSeqs(ctx, tx, count)
	if err != nil || len(drafts) == 0 {
		return nil, err
	}
	var args []any
	var ids []string
	for _, d := range drafts {
		account := accounts[d.AccountID]
		d = d.In(account.preferences.Language)
		data, err := json.Marshal(d.Data)
		if err != nil {
			return nil, err
		}
		ids = append(ids, tx.DB().NewID())
		args = append(args, d.AccountID, account.nextSeq, ids[len(ids)-1], string(d.Type), d.Title, d.Body, string(data),
			database.Text(d.Data.PlayerID), database.Micros(tx.Now))
		account.nextSeq++
	}
	err = tx.Defer(ctx, `
		INSERT INTO notifications (account_id, seq, id, type, title, body, data, player_id, created_at)
		VALUES `+database.RowsOf(len(drafts), 9), args...)
	if err != nil {
		return nil, fmt.Errorf("save notifications: %w", err)
	}
	recipients := make([]string, 0, len(count))
	for id, n := range count {
		if n > 0 {
			recipients = append(recipients, id)
		}
	}
	tx.AfterCommit(func() { tx.DB().WakeStreams(recipients) })
	return queueCopies(ctx, tx, drafts, ids, accounts)
}

// trayAccount is an account that gets notifications.
type trayAccount struct {
	nextSeq int64
	number  phone.Number
	// email is the address in a coach's profile, or empty.
	email string
	// confirmed is the address that a guardian or student confirmed, or empty.
	confirmed string
	// preferences has the language and the channels that the person chose.
	preferences message.Preferences
	// pushTo are the ids of the account's subscriptions for push messages.
	pushTo []string
}

// takeSeqs takes count Seqs of each account and locks the accounts in the order of their
// ids.
//
// The statement is an upsert of existing rows. A plain UPDATE would lock the rows in
// any order, and two transactions could deadlock.
func takeSeqs(ctx context.Context, tx *store.Tx, count map[string]int64) (map[string]*trayAccount, error) {
	if len(count) == 0 {
		return nil, nil
	}
	var args []any
	for id := range count {
		args = append(args, id)
	}
	n := len(args)
	var grow strings.Builder
	for i := range n {
		args = append(args, count[args[i].(string)])
		fmt.Fprintf(&grow, " WHEN $%d THEN CAST($%d AS BIGINT)", i+1, n+i+1)
	}
	args = append(args, database.Micros(tx.Now))
	rs, err := tx.Query(ctx, `
		INSERT INTO accounts (id, mobile_number, role, tray_seq, created_at)
		SELECT id, mobile_number, role, CASE id`+grow.String()+` END, created_at
		FROM accounts WHERE id IN (`+database.Params(1, n)+`) ORDER BY id
		ON CONFLICT (id) DO UPDATE SET tray_seq = accounts.tray_seq + excluded.tray_seq
		RETURNING id, tray_seq, mobile_number, (SELECT email FROM coaches c WHERE c.id = accounts.id),
			(SELECT c.address FROM confirmed_addresses c
				WHERE c.mobile_number = accounts.mobile_number AND c.role = accounts.role AND c.ends_at > $`+strconv.Itoa(2*n+1)+`),
			(SELECT language FROM preferences p WHERE p.mobile_number = accounts.mobile_number),
			(SELECT channels FROM preferences p WHERE p.mobile_number = accounts.mobile_number),
			(SELECT string_agg(s.id || ',', '') FROM push_subscriptions s WHERE s.account_id = accounts.id)`, args...)
	accounts := map[string]*trayAccount{}
	_, err = database.Collect(rs, err, func(s database.Scanner) (id string, err error) {
		a := &trayAccount{}
		err = s.Scan(&id, &a.nextSeq, &a.number, database.IntoText(&a.email), database.IntoText(&a.confirmed), database.IntoText(&a.preferences.Language), database.IntoJSON(&a.preferences.Channels), database.IntoWords(&a.pushTo))
		a.nextSeq += 1 - count[id]
		accounts[id] = a
		return id, err
	})
	if err != nil {
		return nil, fmt.Errorf("take notification seqs: %w", err)
	}
	if len(accounts) != n {
		return nil, fmt.Errorf("take notification seqs: found %d of %d accounts", len(accounts), n)
	}
	return accounts, nil
}
