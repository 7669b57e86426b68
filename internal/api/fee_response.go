package api

import (
	"context"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/wire"
)

// feeResponse is the Fee of openapi.yaml.
type feeResponse struct {
	FeeID       string  `json:"fee_id"`
	PlayerID    string  `json:"player_id"`
	StudentName string  `json:"student_name"`
	BatchID     *string `json:"batch_id"`
	SeriesID    *string `json:"series_id"`
	Title       string  `json:"title"`
	Amount      int64   `json:"amount"`
	Currency    string  `json:"currency"`
	DueOn       string  `json:"due_on"`
	Paid        int64   `json:"paid"`
	Balance     int64   `json:"balance"`
	State       string  `json:"state"`
	Reason      *string `json:"reason"`
	ClosedAt    *string `json:"closed_at"`
	CreatedAt   string  `json:"created_at"`
}

// feeDetails is the FeeDetails of openapi.yaml.
type feeDetails struct {
	feeResponse
	Payments []paymentResponse `json:"payments"`
}

// paymentResponse is the Payment of openapi.yaml.
type paymentResponse struct {
	PaymentID      string  `json:"payment_id"`
	Receipt        int64   `json:"receipt_number"`
	Amount         int64   `json:"amount"`
	Method         string  `json:"method"`
	PaidOn         string  `json:"paid_on"`
	Note           *string `json:"note"`
	CreatedAt      string  `json:"created_at"`
	ReversedAt     *string `json:"reversed_at"`
	ReversalReason *string `json:"reversal_reason"`
}

func newFeeResponse(f *team.Fee, today team.Date) feeResponse {
	return feeResponse{
		FeeID: f.ID, PlayerID: f.PlayerID, StudentName: f.StudentName, BatchID: wire.OrNull(f.BatchID), SeriesID: wire.OrNull(f.SeriesID),
		Title: f.Title, Amount: f.Amount, Currency: f.Currency, DueOn: string(f.DueOn), Paid: f.Paid, Balance: f.Balance(), State: string(f.State(today)),
		Reason: wire.OrNull(f.Reason), ClosedAt: wire.TimestampOrNull(f.ClosedAt), CreatedAt: wire.Timestamp(f.CreatedAt),
	}
}

func newFeeDetails(f *team.Fee, today team.Date) feeDetails {
	d := feeDetails{newFeeResponse(f, today), []paymentResponse{}}
	for _, p := range f.Payments {
		d.Payments = append(d.Payments, newPaymentResponse(p))
	}
	return d
}

func newPaymentResponse(p team.Payment) paymentResponse {
	return paymentResponse{
		PaymentID: p.ID, Receipt: p.Receipt, Amount: p.Amount, Method: string(p.Method), PaidOn: string(p.PaidOn), Note: wire.OrNull(p.Note),
		CreatedAt: wire.Timestamp(p.CreatedAt), ReversedAt: wire.TimestampOrNull(p.ReversedAt), ReversalReason: wire.OrNull(p.Reason),
	}
}

// exportFees sends all fees that match the filter as CSV.
func (s *Server) exportFees(by actor.Actor, filter team.FeeFilter) Response {
	return csvResponse("fees.csv", team.FeeTitles, func(ctx context.Context, row func(...string) error) error {
		return s.Fees.Each(ctx, by, filter, func(f *team.Fee, today team.Date) error { return row(f.Cells(today)...) })
	})
}

// feeRepeatResponse is the FeeRepeat of openapi.yaml.
type feeRepeatResponse struct {
	RepeatID    string  `json:"repeat_id"`
	PlayerID    *string `json:"player_id"`
	StudentName *string `json:"student_name"`
	BatchID     *string `json:"batch_id"`
	BatchName   *string `json:"batch_name"`
	Title       string  `json:"title"`
	Amount      int64   `json:"amount"`
	Currency    string  `json:"currency"`
	Every       string  `json:"every"`
	NextDueOn   string  `json:"next_due_on"`
	Until       *string `json:"until"`
	CreatedAt   string  `json:"created_at"`
}

func newFeeRepeatResponse(r *team.FeeRepeat) feeRepeatResponse {
	return feeRepeatResponse{
		RepeatID: r.ID, PlayerID: wire.OrNull(r.PlayerID), StudentName: wire.OrNull(r.StudentName), BatchID: wire.OrNull(r.BatchID), BatchName: wire.OrNull(r.BatchName),
		Title: r.Title, Amount: r.Amount, Currency: r.Currency, Every: "month", NextDueOn: string(r.DueOf(r.Made)), Until: wire.OrNull(string(r.Until)),
		CreatedAt: wire.Timestamp(r.CreatedAt),
	}
}
