package input

import (
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/wire"
)

// Fee is the AddFeesRequest of openapi.yaml.
type Fee struct {
	PlayerID *string    `json:"player_id" rule:"id"`
	BatchID  *string    `json:"batch_id" rule:"id"`
	Title    string     `json:"title" rule:"required,name,min=1,max=100"`
	Amount   int        `json:"amount" rule:"required,min=1,max=1000000000000"`
	Currency *string    `json:"currency" rule:"min=3,max=3"`
	DueOn    string     `json:"due_on" rule:"required"`
	Repeat   *FeeRepeat `json:"repeat"`
}

// FeeRepeat is the repeat of a Fee.
type FeeRepeat struct {
	Every string  `json:"every" rule:"required,oneof=month"`
	Until *string `json:"until"`
}

// Read returns the order, and adds the faults that no date of the coach is needed for.
func (in Fee) Read(f *wire.Faults) team.FeeOrder {
	o := team.FeeOrder{Title: in.Title, Amount: int64(in.Amount), DueOn: Date("/due_on", in.DueOn, f)}
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
			o.Until = Date("/repeat/until", *in.Repeat.Until, f)
		}
	}
	return o
}

// Payment is the AddPaymentRequest of openapi.yaml.
type Payment struct {
	Amount int     `json:"amount" rule:"required,min=1,max=1000000000000"`
	Method string  `json:"method" rule:"required,oneof=cash|upi|bank|other"`
	PaidOn string  `json:"paid_on" rule:"required"`
	Note   *string `json:"note" rule:"name,min=1,max=500"`
}

// Read returns the payment.
func (in Payment) Read(f *wire.Faults) team.Payment {
	p := team.Payment{Amount: int64(in.Amount), Method: team.Method(in.Method), PaidOn: Date("/paid_on", in.PaidOn, f)}
	if in.Note != nil {
		p.Note = *in.Note
	}
	return p
}

// Date reads YYYY-MM-DD of the field at, which is required.
func Date(at, text string, f *wire.Faults) team.Date {
	if f.Has(at) {
		return ""
	}
	d, err := team.ParseDate(text)
	switch {
	case err != nil && dateForm.MatchString(text):
		f.Add(at, "invalid_date", "This date does not exist, or is before 2000 or after 2099.")
	case err != nil:
		f.Add(at, "invalid_date", "Write the date as YYYY-MM-DD.")
	}
	return d
}
