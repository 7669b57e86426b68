package fee

import (
	"net/url"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/team"
)

// upiCurrency is the only currency of UPI.
const upiCurrency = "INR"

// newPayeeFor is how long payers see that a UPI ID is new.
const newPayeeFor = 7 * 24 * time.Hour

// Payee is who receives the payment of a fee.
type Payee struct {
	UPIID     string
	Name      string
	ChangedAt time.Time
	// Suspended is true if an operator suspended the coach: families pay nothing then.
	Suspended bool
}

// NewUntil returns when payers no longer see that the UPI ID is new, or zero if they do
// not see it now.
func (p Payee) NewUntil(now time.Time) time.Time {
	if until := p.ChangedAt.Add(newPayeeFor); now.Before(until) {
		return until
	}
	return time.Time{}
}

// CanPay reports whether a payment app can pay the balance of f to p.
func (p Payee) CanPay(f *Fee) bool {
	return p.UPIID != "" && !p.Suspended && f.Status == StatusOpen && f.Currency == upiCurrency
}

// Link returns the UPI link that pays the balance of f to p (NPCI, UPI Linking
// Specification). The reference of the payment is the id of the fee without hyphens, 32
// characters of at most 35. The @ of the UPI ID stays as it is, which RFC 3986 allows in a query: some
// payment apps read %40 as text.
func (p Payee) Link(f *Fee) string {
	return "upi://pay?pa=" + strings.ReplaceAll(percentEncode(p.UPIID), "%40", "@") +
		"&pn=" + percentEncode(p.Name) +
		"&tr=" + percentEncode(reference(f.ID)) +
		"&am=" + percentEncode(team.FormatAmount(f.Balance(), f.Currency)) +
		"&cu=" + upiCurrency
}

// reference returns the reference of payments for a fee.
func reference(feeID string) string { return strings.ReplaceAll(feeID, "-", "") }

// percentEncode encodes every character that is not unreserved (RFC 3986), the space too.
func percentEncode(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
