package fee

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/qr"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

const mediaSVG = "image/svg+xml"

// familyFeeResponse is the FamilyFee of openapi.yaml.
type familyFeeResponse struct {
	FeeID    string       `json:"fee_id"`
	PlayerID string       `json:"player_id"`
	Title    string       `json:"title"`
	Amount   int64        `json:"amount"`
	Currency string       `json:"currency"`
	DueOn    string       `json:"due_on"`
	Paid     int64        `json:"paid"`
	Balance  int64        `json:"balance"`
	State    string       `json:"state"`
	ToldAt   *string      `json:"told_at"`
	Payment  *paymentLink `json:"payment_link"`
}

// paymentLink is the PaymentLink of openapi.yaml.
type paymentLink struct {
	UPILink   string  `json:"upi_link"`
	QRPath    string  `json:"qr_path"`
	UPIID     string  `json:"upi_id"`
	PayeeName string  `json:"payee_name"`
	Amount    int64   `json:"amount"`
	Currency  string  `json:"currency"`
	Reference string  `json:"reference"`
	NewUntil  *string `json:"upi_id_new_until"`
}

// familyDetailsResponse is the FamilyFeeDetails of openapi.yaml.
type familyDetailsResponse struct {
	familyFeeResponse
	Payments []familyPayment `json:"payments"`
}

// familyPayment is the FamilyPayment of openapi.yaml: a payment without the coach's note.
type familyPayment struct {
	PaymentID  string  `json:"payment_id"`
	Receipt    int64   `json:"receipt_number"`
	Amount     int64   `json:"amount"`
	Method     string  `json:"method"`
	PaidOn     string  `json:"paid_on"`
	ReversedAt *string `json:"reversed_at"`
}

func (h handlers) newFamilyFee(f FamilyFee) familyFeeResponse {
	r := familyFeeResponse{
		FeeID: f.ID, PlayerID: f.PlayerID, Title: f.Title, Amount: f.Amount, Currency: f.Currency, DueOn: string(f.DueOn),
		Paid: f.Paid, Balance: f.Balance(), State: string(f.State(h.Now())), ToldAt: wire.TimestampOrNull(f.Told.At),
	}
	if p := f.Payee; p != nil {
		r.Payment = &paymentLink{
			UPILink: p.Link(f.Fee), QRPath: "/api/me/players/" + f.PlayerID + "/fees/" + f.ID + "/qr", UPIID: p.UPIID, PayeeName: p.Name,
			Amount: f.Balance(), Currency: f.Currency, Reference: reference(f.ID), NewUntil: wire.TimestampOrNull(p.NewUntil(h.Now())),
		}
	}
	return r
}

// listForFamily serves GET /api/me/players/{player_id}/fees.
func (h handlers) listForFamily(ctx context.Context, r api.Request[api.NoBody], playerID string) (api.Response, error) {
	f := r.Faults
	page := h.api.Page(r.Meta, &f)
	if len(f) > 0 {
		// 404 and 403 come before 422.
		if _, err := h.ListForFamily(ctx, r.Caller.Actor, playerID, Page{Limit: 1}); err != nil {
			return api.Response{}, err
		}
		return api.Response{}, f.Err()
	}
	fees, err := h.ListForFamily(ctx, r.Caller.Actor, playerID, Page{Limit: page.ReadLimit(), After: after(page.After)})
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, fees, h.newFamilyFee, func(f FamilyFee) api.Keyset { return keyOf(f.Fee) }), nil
}

// getForFamily serves GET /api/me/players/{player_id}/fees/{fee_id}.
func (h handlers) getForFamily(ctx context.Context, r api.Request[api.NoBody], playerID string) (api.Response, error) {
	fee, err := h.feeForFamily(ctx, r, playerID)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(h.familyDetails(fee)), nil
}

func (h handlers) familyDetails(fee FamilyFee) familyDetailsResponse {
	d := familyDetailsResponse{h.newFamilyFee(fee), []familyPayment{}}
	for _, p := range fee.Payments {
		d.Payments = append(d.Payments, familyPayment{p.ID, p.Receipt, p.Amount, string(p.Method), string(p.PaidOn), wire.TimestampOrNull(p.ReversedAt)})
	}
	return d
}

// qrForFamily serves GET /api/me/players/{player_id}/fees/{fee_id}/qr.
func (h handlers) qrForFamily(ctx context.Context, r api.Request[api.NoBody], playerID string) (api.Response, error) {
	fee, err := h.feeForFamily(ctx, r, playerID)
	if err != nil {
		return api.Response{}, err
	}
	if fee.Payee == nil {
		return api.Response{}, fault.Missing()
	}
	code, err := qr.SVG(fee.Payee.Link(fee.Fee), "UPI "+team.FormatAmount(fee.Balance(), fee.Currency))
	if err != nil {
		return api.Response{}, err
	}
	return api.Response{Raw: []byte(code), Header: http.Header{"Content-Type": {mediaSVG}}}, nil
}

func (h handlers) feeForFamily(ctx context.Context, r api.Request[api.NoBody], playerID string) (FamilyFee, error) {
	feeID, err := r.PathID("fee_id")
	if err != nil {
		return FamilyFee{}, err
	}
	return h.FeeForFamily(ctx, r.Caller.Actor, playerID, feeID)
}
