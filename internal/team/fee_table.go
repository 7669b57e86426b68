package team

import "time"

// FeeTitles are the titles of the columns of a file of fees.
var FeeTitles = []string{"Fee", "Player", "Student name", "Title", "Currency", "Amount", "Due on", "Paid", "Balance", "State", "Reason", "Created at"}

// Cells returns the row of the fee in a file on the day today. Amounts are decimal numbers
// of the currency.
func (f *Fee) Cells(today Date) []string {
	money := func(amount int64) string { return FormatAmount(amount, f.Currency) }
	return []string{
		f.ID, f.PlayerID, f.StudentName, f.Title, f.Currency, money(f.Amount), string(f.DueOn), money(f.Paid), money(f.Balance()),
		string(f.State(today)), f.Reason, f.CreatedAt.Format(time.RFC3339),
	}
}
