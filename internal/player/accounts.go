package player

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

func contact(role, number string) approval.Contact {
	return approval.Contact{Party: actor.Role(role), Number: phone.Number(number)}
}

// findOrAddAccounts sets the accounts of the parties of p that have a number and no account
// yet, and returns those that it added. It does not update existing accounts, so it does not wait for
// their row locks. It only waits for an erasure, which frees the number. It ends the sessions of an account that no player named.
func (s *Service) findOrAddAccounts(ctx context.Context, tx *store.Tx, p *approval.Player) (added []string, err error) {
	var wanted []approval.Contact
	for _, a := range p.Parties {
		if a.Number != "" && a.AccountID == "" {
			wanted = append(wanted, approval.Contact{Party: a.Role, Number: a.Number})
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	// Insert in the order of the numbers, so that concurrent transactions do not deadlock.
	slices.SortStableFunc(wanted, func(a, b approval.Contact) int { return strings.Compare(string(a.Number), string(b.Number)) })
	var args []any
	for _, c := range wanted {
		args = append(args, s.DB.NewID(), string(c.Number), string(c.Party), 0, database.Micros(tx.Now))
	}
	rs, err := tx.Query(ctx, `
		INSERT INTO accounts (id, mobile_number, role, tray_seq, created_at) VALUES `+database.RowsOf(len(wanted), 5)+`
		ON CONFLICT (mobile_number, role) DO NOTHING
		RETURNING id, role, mobile_number, TRUE`, args...)
	added, _, err = setAccountIDs(p, rs, err)
	if err != nil {
		return nil, err
	}
	// What the erased account of the number disputed stays disputed.
	args = nil
	ofHash := ""
	for _, c := range wanted {
		if id := p.AccountOf(c); id != "" {
			ofHash += " WHEN " + database.Params(len(args)+1, 1) + " THEN " + database.Params(len(args)+2, 1)
			args = append(args, numberHash(s.DB, c.Party, c.Number), id)
		}
	}
	if len(args) > 0 {
		hashes := "$1"
		for i := 3; i <= len(args); i += 2 {
			hashes += ", " + database.Params(i, 1)
		}
		if err := tx.Defer(ctx, `UPDATE disputes SET approver_id = CASE number_hash`+ofHash+` END WHERE number_hash IN (`+hashes+`)`, args...); err != nil {
			return nil, fmt.Errorf("take over disputes: %w", err)
		}
	}
	if err := outbox.RestoreStops(ctx, tx.Tx, numbersOf(p, wanted), s.DB.KeptNumber); err != nil {
		return nil, err
	}
	if len(added) == len(wanted) {
		return added, nil
	}
	numbers := make([]any, max(2, len(wanted))) // one text for one number and two
	for i := range numbers {
		numbers[i] = string(wanted[min(i, len(wanted)-1)].Number)
	}
	rs, err = tx.Query(ctx, `
		SELECT id, role, mobile_number, EXISTS (SELECT 1 FROM parties y WHERE y.account_id = accounts.id AND y.deleted_at IS NULL) FROM accounts
		WHERE mobile_number IN (`+database.Params(1, len(numbers))+`) AND role <> 'coach' `+tx.ForKeyShare("accounts"), numbers...)
	_, unnamed, err := setAccountIDs(p, rs, err)
	if err == nil {
		err = auth.EndSessionsOfUnnamed(ctx, tx, unnamed)
	}
	if err != nil {
		return nil, err
	}
	for _, c := range wanted {
		if p.AccountOf(c) == "" {
			return nil, database.ErrStale // it was deleted between the two statements
		}
	}
	return added, nil
}

// numbersOf returns the numbers of those contacts whose parties have an account.
func numbersOf(p *approval.Player, contacts []approval.Contact) (numbers []phone.Number) {
	for _, c := range contacts {
		if p.AccountOf(c) != "" {
			numbers = append(numbers, c.Number)
		}
	}
	return numbers
}

// setAccountIDs sets the accounts of p's parties from rows of id, role, number and whether a player names the account. It returns all
// accounts, and those that it set and no player names.
func setAccountIDs(p *approval.Player, rs *database.Rows, err error) (ids, unnamed []string, _ error) {
	ids, err = database.Collect(rs, err, func(s database.Scanner) (id string, err error) {
		var c approval.Contact
		var named bool
		if err = s.Scan(&id, &c.Party, &c.Number, &named); err == nil {
			for i := range p.Parties {
				if a := &p.Parties[i]; a.Role == c.Party && a.Number == c.Number && a.AccountID == "" {
					a.AccountID = id
					if !named {
						unnamed = append(unnamed, id)
					}
				}
			}
		}
		return id, err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("find accounts: %w", err)
	}
	return ids, unnamed, nil
}
