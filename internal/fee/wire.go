package fee

import (
	"time"

	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// orderRequest is the AddFeesRequest of openapi.yaml.
type orderRequest struct {
	PlayerID *string        `json:"player_id" rule:"id"`
	BatchID  *string        `json:"batch_id" rule:"id"`
	Title    string         `json:"title" rule:"required,name,min=1,max=100"`
	Amount   int            `json:"amount" rule:"required,min=1,max=1000000000000"`
	Currency *string        `json:"currency" rule:"min=3,max=3"`
	DueOn    string         `json:"due_on" rule:"required"`
	Repeat   *repeatRequest `json:"repeat"`
}

type repeatRequest struct {
	Every string  `json:"every" rule:"required,oneof=month"`
	Until *string `json:"until"`
}

// read returns the order, and adds the faults that no date of the coach is needed for.
func (in orderRequest) read(f *wire.Faults) Order {
	o := Order{Title: in.Title, Amount: int64(in.Amount), DueOn: input.Date("/due_on", in.DueOn, f)}
	switch {
	case in.PlayerID == nil && in.BatchID == nil:
		f.Add("/player_id", "required", "Name a player, or a batch as `batch_id`.")
	case in.PlayerID != nil && in.BatchID != nil:
		f.Add("/batch_id", "invalid_value", "Name a player or a batch, not both.")
	}
	if in.PlayerID != nil {
		o.PlayerID = *in.PlayerID
	}
	if in.BatchID != nil {
		o.BatchID = *in.BatchID
	}
	if in.Currency != nil {
		if o.Currency = *in.Currency; !team.KnownCurrency(o.Currency) {
			f.Add("/currency", "unknown_currency", "This is not a currency code of ISO 4217, such as INR.")
		}
	}
	if in.Repeat != nil {
		o.Repeat = true
		if in.Repeat.Until != nil {
			o.Until = input.Date("/repeat/until", *in.Repeat.Until, f)
		}
	}
	return o
}

// paymentRequest is the AddPaymentRequest of openapi.yaml.
type paymentRequest struct {
	Amount int     `json:"amount" rule:"required,min=1,max=1000000000000"`
	Method string  `json:"method" rule:"required,oneof=cash|upi|bank|other"`
	PaidOn string  `json:"paid_on" rule:"required"`
	Note   *string `json:"note" rule:"name,min=1,max=500"`
}

func (in paymentRequest) read(f *wire.Faults) Payment {
	p := Payment{Amount: int64(in.Amount), Method: Method(in.Method), PaidOn: input.Date("/paid_on", in.PaidOn, f)}
	if in.Note != nil {
		p.Note = *in.Note
	}
	return p
}

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
	ToldAt      *string `json:"told_at"`
	CreatedAt   string  `json:"created_at"`
}

// detailsResponse is the FeeDetails of openapi.yaml.
type detailsResponse struct {
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

func newFeeResponse(f *Fee, now time.Time) feeResponse {
	return feeResponse{
		FeeID: f.ID, PlayerID: f.PlayerID, StudentName: f.StudentName, BatchID: wire.OrNull(f.BatchID), SeriesID: wire.OrNull(f.SeriesID),
		Title: f.Title, Amount: f.Amount, Currency: f.Currency, DueOn: string(f.DueOn), Paid: f.Paid, Balance: f.Balance(), State: string(f.State(now)),
		Reason: wire.OrNull(f.Reason), ClosedAt: wire.TimestampOrNull(f.ClosedAt), ToldAt: wire.TimestampOrNull(f.Told.At), CreatedAt: wire.Timestamp(f.CreatedAt),
	}
}

func newDetailsResponse(f *Fee, now time.Time) detailsResponse {
	d := detailsResponse{newFeeResponse(f, now), []paymentResponse{}}
	for _, p := range f.Payments {
		d.Payments = append(d.Payments, newPaymentResponse(p))
	}
	return d
}

func newPaymentResponse(p Payment) paymentResponse {
	return paymentResponse{
		PaymentID: p.ID, Receipt: p.Receipt, Amount: p.Amount, Method: string(p.Method), PaidOn: string(p.PaidOn), Note: wire.OrNull(p.Note),
		CreatedAt: wire.Timestamp(p.CreatedAt), ReversedAt: wire.TimestampOrNull(p.ReversedAt), ReversalReason: wire.OrNull(p.Reason),
	}
}

// repeatResponse is the FeeRepeat of openapi.yaml.
type repeatResponse struct {
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

func newRepeatResponse(r *Repeat) repeatResponse {
	return repeatResponse{
		RepeatID: r.ID, PlayerID: wire.OrNull(r.PlayerID), StudentName: wire.OrNull(r.StudentName), BatchID: wire.OrNull(r.BatchID), BatchName: wire.OrNull(r.BatchName),
		Title: r.Title, Amount: r.Amount, Currency: r.Currency, Every: "month", NextDueOn: string(r.DueOf(r.Made)), Until: wire.OrNull(string(r.Until)),
		CreatedAt: wire.Timestamp(r.CreatedAt),
	}
}
