package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
)

func contact(role, number string) approval.Contact {
	return approval.Contact{Party: actor.Role(role), Number: phone.Number(number)}
}

// findOrAddAccounts sets the accounts of the parties of p that have a number and no account
// yet. It does not update existing accounts, so it does not wait for their row locks.
func (tx *Tx) findOrAddAccounts(ctx context.Context, p *approval.Player) error {
	var wanted []approval.Contact
	for _, party := range approval.Parties {
		if n := p.Number(party); n != "" && p.Approver(party).AccountID == "" {
			wanted = append(wanted, approval.Contact{Party: party, Number: n})
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	// Insert in the order of the numbers, so that concurrent transactions do not deadlock.
	if len(wanted) == 2 && wanted[1].Number < wanted[0].Number {
		wanted[0], wanted[1] = wanted[1], wanted[0]
	}
	var args []any
	for _, c := range wanted {
		args = append(args, tx.db.options.NewID(), string(c.Number), string(c.Party), 0, database.Micros(tx.Now))
	}
	rs, err := tx.Query(ctx, `
		INSERT INTO accounts (id, mobile_number, role, tray_seq, created_at) VALUES `+database.RowsOf(len(wanted), 5)+`
		ON CONFLICT (mobile_number, role) DO NOTHING
		RETURNING id, role`, args...)
	added, err := setAccountIDs(p, rs, err)
	tx.newAccounts = append(tx.newAccounts, added...)
	if err != nil || len(added) == len(wanted) {
		return err
	}
	rs, err = tx.Query(ctx, `
		SELECT id, role FROM accounts
		WHERE mobile_number = $1 AND role = 'guardian' OR mobile_number = $2 AND role = 'student'`,
		string(p.Number(actor.Guardian)), string(p.Number(actor.Student)))
	if _, err = setAccountIDs(p, rs, err); err != nil {
		return err
	}
	for _, c := range wanted {
		if p.Approver(c.Party).AccountID == "" {
			return database.ErrStale // it was deleted between the two statements
		}
	}
	return nil
}

// setAccountIDs sets the accounts of p's parties from rows of id and role, and returns them.
func setAccountIDs(p *approval.Player, rs *database.Rows, err error) ([]string, error) {
	ids, err := database.Collect(rs, err, func(s database.Scanner) (id string, err error) {
		var party actor.Role
		if err = s.Scan(&id, &party); err == nil {
			p.Approver(party).AccountID = id
		}
		return id, err
	})
	if err != nil {
		return nil, fmt.Errorf("find accounts: %w", err)
	}
	return ids, nil
}
