package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/team"
)

// Fees lists the fees of a coach that match a filter. Each index has the order of the list.
func (db *DB) Fees(ctx context.Context, coachID string, f team.FeeFilter, p team.FeePage) ([]*team.Fee, error) {
	status, from, to := f.Stored()
	after, order := `(f.due_on, f.id) < ($5, $6)`, `ORDER BY f.due_on DESC, f.id DESC`
	position := p.After
	if f.OldestFirst {
		after, order = `(f.due_on, f.id) > ($5, $6)`, `ORDER BY f.due_on, f.id`
	} else if position.ID == "" {
		position = team.FeePosition{DueOn: lastDate, ID: lastID}
	}
	const rest = ` AND f.due_on >= $2 AND f.due_on <= $3 AND (CAST($4 AS TEXT) = '' OR f.status = $4) AND `
	args := []any{coachID, string(from), cmp.Or(string(to), lastDate), string(status), string(position.DueOn), position.ID, p.Limit}
	var rs *database.Rows
	var err error
	switch {
	case f.PlayerID != "":
		rs, err = db.sql.Query(ctx, feeSelect+`
			WHERE f.player_id = $8 AND f.coach_id = $1 AND (CAST($9 AS TEXT) = '' OR f.batch_id = $9)`+rest+after+` `+order+` LIMIT $7`,
			append(args, f.PlayerID, f.BatchID)...)
	case f.BatchID != "":
		rs, err = db.sql.Query(ctx, feeSelect+`WHERE f.batch_id = $8 AND f.coach_id = $1`+rest+after+` `+order+` LIMIT $7`, append(args, f.BatchID)...)
	case status != "":
		rs, err = db.sql.Query(ctx, feeSelect+`
			WHERE f.coach_id = $1 AND f.status = $4 AND f.due_on >= $2 AND f.due_on <= $3 AND `+after+` `+order+` LIMIT $7`, args...)
	default:
		rs, err = db.sql.Query(ctx, feeSelect+`WHERE f.coach_id = $1`+rest+after+` `+order+` LIMIT $7`, args...)
	}
	fees, err := database.Collect(rs, err, scanFee)
	if err != nil {
		return nil, fmt.Errorf("list fees: %w", err)
	}
	return fees, nil
}

// UnpaidFees counts and adds up the open fees of a coach, for each currency.
func (db *DB) UnpaidFees(ctx context.Context, coachID string, today team.Date) ([]team.FeeSum, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT currency, count(*), count(*) FILTER (WHERE due_on < $2),
			CAST(sum(amount - paid) AS BIGINT), CAST(coalesce(sum(amount - paid) FILTER (WHERE due_on < $2), 0) AS BIGINT)
		FROM fees WHERE coach_id = $1 AND status = 'open' GROUP BY currency`, coachID, string(today))
	sums, err := database.Collect(rs, err, func(s database.Scanner) (f team.FeeSum, err error) {
		return f, s.Scan(&f.Currency, &f.Unpaid, &f.Overdue, &f.UnpaidTotal, &f.OverdueTotal)
	})
	if err != nil {
		return nil, fmt.Errorf("add up fees: %w", err)
	}
	return sums, nil
}
