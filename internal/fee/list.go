package fee

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// Page selects at most Limit fees after the fee that was due on After.DueOn and has
// the id After.ID; the zero position is the start.
type Page struct {
	Limit int
	After Position
}

// Position is the position of a fee in a list.
type Position struct {
	DueOn team.Date
	ID    string
}

// latest is the position of the start of a list with the latest date first.
var latest = Position{database.LastDate, database.LastID}

// Filter filters the fees of a coach. Zero fields match all.
type Filter struct {
	PlayerID, BatchID string
	State             State
	// From and To are the first and the last day on which the fees are due.
	From, To team.Date
	// OldestFirst reverses the order, which is otherwise the latest due date first.
	OldestFirst bool
}

// Month restricts f to the fees that are due in a month, given by its first day.
func (f Filter) Month(first team.Date) Filter {
	f.From, f.To = first, first.AddMonths(1).AddDays(-1)
	return f
}

// Stored returns the stored status of the fees that match f, and the first and the last day on
// which they are due; "" is any. Due fees are the open ones from today on, overdue fees those
// from before.
func (f Filter) Stored(today team.Date) (status Status, from, to team.Date) {
	from, to = f.From, f.To
	switch f.State {
	case Due:
		return StatusOpen, max(from, today), to
	case Overdue:
		if yesterday := today.AddDays(-1); to == "" || to > yesterday {
			to = yesterday
		}
		return StatusOpen, from, to
	case Unpaid:
		return StatusOpen, from, to
	}
	return Status(f.State), from, to
}

// List lists fees of the calling coach without their payments: the latest due date first, or
// the earliest.
func (s *Service) List(ctx context.Context, by actor.Actor, f Filter, p Page) ([]*Fee, error) {
	var today team.Date
	var err error
	if f.State == Due || f.State == Overdue {
		if today, err = s.Today(ctx, by); err != nil {
			return nil, err
		}
	}
	// Each index has the order of the list.
	status, from, to := f.Stored(today)
	after, order, position := `(f.due_on, f.id) < ($5, $6)`, `ORDER BY f.due_on DESC, f.id DESC`, cmp.Or(p.After, latest)
	if f.OldestFirst {
		after, order, position = `(f.due_on, f.id) > ($5, $6)`, `ORDER BY f.due_on, f.id`, p.After
	}
	const rest = ` AND f.due_on >= $2 AND f.due_on <= $3 AND (CAST($4 AS TEXT) = '' OR f.status = $4) AND `
	args := []any{by.AccountID, string(from), cmp.Or(string(to), database.LastDate), string(status), string(position.DueOn), position.ID, p.Limit}
	var rs *database.Rows
	switch {
	case f.PlayerID != "":
		rs, err = s.DB.Query(ctx, selectFees+`
			WHERE f.player_id = $8 AND f.coach_id = $1 AND (CAST($9 AS TEXT) = '' OR f.batch_id = $9)`+rest+after+` `+order+` LIMIT $7`,
			append(args, f.PlayerID, f.BatchID)...)
	case f.BatchID != "":
		rs, err = s.DB.Query(ctx, selectFees+`WHERE f.batch_id = $8 AND f.coach_id = $1`+rest+after+` `+order+` LIMIT $7`, append(args, f.BatchID)...)
	case status != "":
		rs, err = s.DB.Query(ctx, selectFees+`
			WHERE f.coach_id = $1 AND f.status = $4 AND f.due_on >= $2 AND f.due_on <= $3 AND `+after+` `+order+` LIMIT $7`, args...)
	default:
		rs, err = s.DB.Query(ctx, selectFees+`WHERE f.coach_id = $1`+rest+after+` `+order+` LIMIT $7`, args...)
	}
	fees, err := database.Collect(rs, err, s.scan)
	return fees, fault.Wrap(err, "list fees")
}

// Titles are the titles of the columns of a file of fees.
var Titles = []string{"Fee", "Player", "Student name", "Title", "Currency", "Amount", "Due on", "Paid", "Balance", "State", "Reason", "Created at"}

// cells returns the row of the fee in a file. Amounts are decimal numbers
// of the currency.
func (f *Fee) cells(now time.Time) []string {
	money := func(amount int64) string { return team.FormatAmount(amount, f.Currency) }
	return []string{
		f.ID, f.PlayerID, f.StudentName, f.Title, f.Currency, money(f.Amount), string(f.DueOn), money(f.Paid), money(f.Balance()),
		string(f.State(now)), f.Reason, f.CreatedAt.Format(time.RFC3339),
	}
}

// feesPerRead is how many fees Each reads at once.
const feesPerRead = 500

// Each calls row with the cells of each fee of the calling coach that matches the filter, in the order
// of List. The titles are Titles.
func (s *Service) Each(ctx context.Context, by actor.Actor, f Filter, row func(cells ...string) error) error {
	for page := (Page{Limit: feesPerRead}); ; {
		fees, err := s.List(ctx, by, f, page)
		if err != nil {
			return err
		}
		for _, fee := range fees {
			if err := row(fee.cells(s.Now())...); err != nil {
				return err
			}
			page.After = Position{DueOn: fee.DueOn, ID: fee.ID}
		}
		if len(fees) < feesPerRead {
			return nil
		}
	}
}

// Sum is the sum of unpaid fees in one currency.
type Sum struct {
	Currency                  string
	Unpaid, Overdue           int
	UnpaidTotal, OverdueTotal int64
}

// Unpaid counts and adds up the open fees of the calling coach, in the order of currencies.
func (s *Service) Unpaid(ctx context.Context, by actor.Actor) ([]Sum, error) {
	today, err := s.Today(ctx, by)
	if err != nil {
		return nil, err
	}
	rs, err := s.DB.Query(ctx, `
		SELECT currency, count(*), count(*) FILTER (WHERE due_on < $2),
			CAST(sum(amount - paid) AS BIGINT), CAST(coalesce(sum(amount - paid) FILTER (WHERE due_on < $2), 0) AS BIGINT)
		FROM fees WHERE coach_id = $1 AND status = 'open' GROUP BY currency`, by.AccountID, string(today))
	sums, err := database.Collect(rs, err, func(s database.Scanner) (f Sum, err error) {
		return f, s.Scan(&f.Currency, &f.Unpaid, &f.Overdue, &f.UnpaidTotal, &f.OverdueTotal)
	})
	if err != nil {
		return nil, fmt.Errorf("add up fees: %w", err)
	}
	slices.SortFunc(sums, func(a, b Sum) int { return strings.Compare(a.Currency, b.Currency) })
	return sums, nil
}

// MonthSum are the fees that are due in a month, YYYY-MM, in one currency, and how much of them is paid.
type MonthSum struct {
	Month, Currency string
	Amount, Paid    int64
}

// monthsShown is how many months before this one ByMonth reads.
const monthsShown = 5

// ByMonth adds up the open and paid fees of the calling coach that are due in this month and the months
// before, newest first.
func (s *Service) ByMonth(ctx context.Context, by actor.Actor) ([]MonthSum, error) {
	today, err := s.Today(ctx, by)
	if err != nil {
		return nil, err
	}
	first := today[:len("2006-01")] + "-01"
	rs, err := s.DB.Query(ctx, `
		SELECT substr(due_on, 1, 7), currency, CAST(sum(amount) AS BIGINT), CAST(sum(paid) AS BIGINT)
		FROM fees WHERE coach_id = $1 AND due_on >= $2 AND due_on < $3 AND status IN ('open', 'paid')
		GROUP BY substr(due_on, 1, 7), currency`, by.AccountID, string(first.AddMonths(-monthsShown)), string(first.AddMonths(1)))
	sums, err := database.Collect(rs, err, func(row database.Scanner) (m MonthSum, err error) {
		return m, row.Scan(&m.Month, &m.Currency, &m.Amount, &m.Paid)
	})
	if err != nil {
		return nil, fmt.Errorf("add up fees by month: %w", err)
	}
	slices.SortFunc(sums, func(a, b MonthSum) int {
		return cmp.Or(strings.Compare(b.Month, a.Month), strings.Compare(a.Currency, b.Currency))
	})
	return sums, nil
}
