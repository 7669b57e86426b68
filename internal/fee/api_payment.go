package fee

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"net/http"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// paymentOfFee is the PaymentOfFee of openapi.yaml: a payment, and the fee after it.
type paymentOfFee struct {
	paymentResponse
	Fee feeResponse `json:"fee"`
}

// pay serves POST /api/fees/{fee_id}/payments.
func (h handlers) pay(ctx context.Context, r api.Request[paymentRequest], id string) (api.Response, error) {
	in, f := r.Body, r.Faults
	payment := in.read(&f)
	if err := h.faults(ctx, r.Meta, id, f); err != nil {
		return api.Response{}, err
	}
	fee, p, err := h.Pay(ctx, r.Caller.Actor, id, payment)
	return h.paid(fee, p, true, err)
}

// reverse serves POST /api/fees/{fee_id}/payments/{payment_id}/reverse.
func (h handlers) reverse(ctx context.Context, r api.Request[reasonRequest], id string) (api.Response, error) {
	if len(r.Faults) > 0 {
		if _, _, err := h.payment(ctx, r.Meta, id); err != nil {
			return api.Response{}, err
		}
		return api.Response{}, r.Faults.Err()
	}
	paymentID, err := r.PathID("payment_id")
	if err != nil {
		return api.Response{}, err
	}
	fee, p, err := h.Reverse(ctx, r.Caller.Actor, id, paymentID, r.Body.Reason)
	return h.paid(fee, p, false, err)
}

// payment returns the payment in the path, and its fee.
func (h handlers) payment(ctx context.Context, m api.Meta, feeID string) (*Fee, *Payment, error) {
	id, err := m.PathID("payment_id")
	if err != nil {
		return nil, nil, err
	}
	fee, err := h.Fee(ctx, m.Caller.Actor, feeID)
	if err != nil {
		return nil, nil, err
	}
	p, err := fee.Payment(id)
	return fee, p, err
}

// paid is the response of pay and reverse.
func (h handlers) paid(fee *Fee, p *Payment, created bool, err error) (api.Response, error) {
	if err != nil {
		return api.Response{}, err
	}
	body := paymentOfFee{newPaymentResponse(*p), newFeeResponse(fee, h.Now())}
	if created {
		return endpoint.Created("/api/fees/"+fee.ID+"/payments/"+p.ID+"/receipt", body), nil
	}
	return endpoint.OK(body), nil
}

// rebuildPayment returns the response of pay or reverse again.
func (h handlers) rebuildPayment(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	fee, p, err := h.Payment(ctx, m.Caller.Actor, w.ID)
	return h.paid(fee, p, w.New, err)
}

const mediaHTML = "text/html"

//go:embed receipt.html
var receiptFile embed.FS

var receiptTemplate = template.Must(template.ParseFS(receiptFile, "receipt.html"))

// receiptResponse is the FeeReceipt of openapi.yaml.
type receiptResponse struct {
	paymentResponse
	FeeID       string  `json:"fee_id"`
	CoachName   *string `json:"coach_name"`
	StudentName string  `json:"student_name"`
	Title       string  `json:"title"`
	Currency    string  `json:"currency"`
	AmountText  string  `json:"amount_text"`
}

// receipt serves GET /api/fees/{fee_id}/payments/{payment_id}/receipt, as JSON or as a
// page to print.
func (h handlers) receipt(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	fee, p, err := h.payment(ctx, r.Meta, id)
	if err != nil {
		return api.Response{}, err
	}
	profile, err := h.Coaches.Profile(ctx, r.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	receipt := receiptResponse{newPaymentResponse(*p), fee.ID, wire.OrNull(profile.Name), fee.StudentName, fee.Title, fee.Currency, team.FormatAmount(p.Amount, fee.Currency)}
	if wire.Preferred(r.Header, "application/json", mediaHTML) != mediaHTML {
		return endpoint.OK(receipt), nil
	}
	var page bytes.Buffer
	if err := receiptTemplate.Execute(&page, map[string]any{"Receipt": receipt, "ReversedOn": team.DateOf(p.ReversedAt, fee.Zone)}); err != nil {
		return api.Response{}, err
	}
	return api.Response{Raw: page.Bytes(), Header: http.Header{
		"Content-Type": {mediaHTML + "; charset=utf-8"}, "Content-Security-Policy": {"default-src 'none'; style-src 'unsafe-inline'; sandbox allow-modals"},
	}}, nil
}
