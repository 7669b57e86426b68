package player

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// messageFacts returns what the limits must know of messages.
func messageFacts(ctx context.Context, tx *store.Tx, rules approval.Rules, messages []message.Outgoing) ([]message.Facts, error) {
	senders, err := findSenders(ctx, tx, rules, messages)
	if err != nil {
		return nil, err
	}
	neverSignedIn, err := neverSignedIn(ctx, tx, messages, senders)
	if err != nil {
		return nil, err
	}
	facts := make([]message.Facts, len(messages))
	for i, m := range messages {
		d := m.Deliveries[0]
		s := senders[d.CoachID]
		facts[i] = message.Facts{Trusted: s.trusted, NewCoach: s.isNew}
		if s.isNew {
			facts[i].Network, facts[i].Approvals, facts[i].NeverSignedIn = d.Network, s.approvals, isNumber(d.To) && neverSignedIn[d.To]
		}
	}
	return facts, nil
}

// isNumber reports whether an address is a phone number.
func isNumber(address string) bool { return strings.HasPrefix(address, "+") }

// sender is the coach of a message. It is zero after the coach has closed the account.
type sender struct {
	trusted, isNew bool
	// approvals is how many numbers have approved a player of a new coach.
	approvals int
}

// findSenders returns the coaches of messages by their ID.
func findSenders(ctx context.Context, tx *store.Tx, rules approval.Rules, messages []message.Outgoing) (map[string]sender, error) {
	senders := make(map[string]sender)
	var ids [][]any
	for _, m := range messages {
		id := m.Deliveries[0].CoachID
		if _, known := senders[id]; !known && id != "" {
			senders[id] = sender{}
			ids = append(ids, []any{id})
		}
	}
	if len(ids) == 0 {
		return senders, nil
	}
	values, args := database.ValuesTable(ids, "TEXT")
	rs, err := tx.Query(ctx, `SELECT id, created_at, tier, kyc_state FROM coaches WHERE id IN `+values, args...)
	trusted := rules.TrustedCoach
	var fresh [][]any
	_, err = database.Collect(rs, err, func(row database.Scanner) (s sender, err error) {
		var id string
		var registered time.Time
		var tier, kyc string
		if err := row.Scan(&id, database.IntoTime(&registered), database.IntoText(&tier), &kyc); err != nil {
			return s, err
		}
		s.trusted = trusted != nil && trusted(tier, kyc)
		s.isNew = message.NewCoach(registered, tx.Now)
		if s.isNew {
			fresh = append(fresh, []any{id})
		}
		senders[id] = s
		return s, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read coaches: %w", err)
	}
	return senders, readApprovals(ctx, tx, senders, fresh)
}

// readApprovals sets how many numbers have approved players of the new coaches.
func readApprovals(ctx context.Context, tx *store.Tx, senders map[string]sender, fresh [][]any) error {
	if len(fresh) == 0 {
		return nil
	}
	values, args := database.ValuesTable(fresh, "TEXT")
	rs, err := tx.Query(ctx, `
		SELECT v.column1, (SELECT count(DISTINCT a.mobile_number) FROM players p
			JOIN approval_history h ON h.player_id = p.id AND h.action = 'approved'
			JOIN accounts a ON a.id = h.approver_id
			WHERE p.coach_id = v.column1 AND p.deleted_at IS NULL)
		FROM `+values+` v WHERE v.column1 IS NOT NULL`, args...)
	_, err = database.Collect(rs, err, func(row database.Scanner) (n int, err error) {
		var id string
		err = row.Scan(&id, &n)
		if err == nil {
			s := senders[id]
			s.approvals = n
			senders[id] = s
		}
		return n, err
	})
	return fault.Wrap(err, "read approvals of coaches")
}

// neverSignedIn returns which recipients of messages from new coaches have never signed in.
func neverSignedIn(ctx context.Context, tx *store.Tx, messages []message.Outgoing, senders map[string]sender) (map[string]bool, error) {
	never := make(map[string]bool)
	var numbers [][]any
	for _, m := range messages {
		d := m.Deliveries[0]
		if _, known := never[d.To]; !known && senders[d.CoachID].isNew {
			never[d.To] = false
			numbers = append(numbers, []any{d.To})
		}
	}
	if len(numbers) == 0 {
		return never, nil
	}
	values, args := database.ValuesTable(numbers, "TEXT")
	rs, err := tx.Query(ctx, `
		SELECT v.column1, NOT EXISTS (SELECT 1 FROM devices d WHERE d.mobile_number = v.column1)
			AND NOT EXISTS (SELECT 1 FROM accounts a JOIN sessions s ON s.account_id = a.id AND s.revoked_at IS NULL WHERE a.mobile_number = v.column1)
			AND NOT EXISTS (SELECT 1 FROM accounts a JOIN coaches c ON c.id = a.id WHERE a.mobile_number = v.column1)
		FROM `+values+` v WHERE v.column1 IS NOT NULL`, args...)
	_, err = database.Collect(rs, err, func(row database.Scanner) (is bool, err error) {
		var number string
		err = row.Scan(&number, &is)
		if err == nil {
			never[number] = is
		}
		return is, err
	})
	return never, fault.Wrap(err, "find recipients who have never signed in")
}
