package api

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"html/template"
	"net/http"

	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/wire"
)

// paymentOfFee is the PaymentOfFee of openapi.yaml: a payment, and the fee after it.
type paymentOfFee struct {
	paymentResponse
	Fee feeResponse `json:"fee"`
}

// addPayment serves POST /api/fees/{fee_id}/payments.
func (s *Server) addPayment(ctx context.Context, r Request[input.Payment], id string) (Response, error) {
	in, f := r.Body, r.Faults
	payment := in.Read(&f)
	if err := s.feeFaults(ctx, r.Meta, id, f); err != nil {
		return Response{}, err
	}
	fee, p, err := s.Fees.Pay(ctx, r.Caller.Actor, id, payment)
	if err != nil {
		return Response{}, err
	}
	return s.paymentOfFeeResponse(ctx, r.Meta, fee, p, true)
}

// reversePayment serves POST /api/fees/{fee_id}/payments/{payment_id}/reverse.
func (s *Server) reversePayment(ctx context.Context, r Request[reasonRequest], id string) (Response, error) {
	paymentID, err := r.PathID("payment_id")
	if err != nil {
		return Response{}, err
	}
	if len(r.Faults) > 0 {
		fee, err := s.Fees.Fee(ctx, r.Caller.Actor, id)
		if err == nil {
			_, err = fee.Payment(paymentID)
		}
		if err != nil {
			return Response{}, err
		}
		return Response{}, r.Faults.Err()
	}
	fee, p, err := s.Fees.Reverse(ctx, r.Caller.Actor, id, paymentID, r.Body.Reason)
	if err != nil {
		return Response{}, err
	}
	return s.paymentOfFeeResponse(ctx, r.Meta, fee, p, false)
}

func (s *Server) paymentOfFeeResponse(ctx context.Context, m meta, fee *team.Fee, p *team.Payment, created bool) (Response, error) {
	today, err := s.Fees.Today(ctx, m.Caller.Actor)
	if err != nil {
		return Response{}, err
	}
	body := paymentOfFee{newPaymentResponse(*p), newFeeResponse(fee, today)}
	if created {
		return endpoint.Created("/api/fees/"+fee.ID+"/payments/"+p.ID+"/receipt", body), nil
	}
	return endpoint.OK(body), nil
}

// rebuildPayment returns the response of addPayment or reversePayment again.
func (s *Server) rebuildPayment(ctx context.Context, m meta, w idempotency.Work) (Response, error) {
	fee, p, err := s.Fees.Payment(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return Response{}, err
	}
	return s.paymentOfFeeResponse(ctx, m, fee, p, w.New)
}

const mediaHTML = "text/html"

//go:embed templates/receipt.html
var receiptText string

var receiptTemplate = template.Must(template.New("receipt").Parse(receiptText))

// feeReceipt is the FeeReceipt of openapi.yaml.
type feeReceipt struct {
	Receipt     int64   `json:"receipt_number"`
	PaymentID   string  `json:"payment_id"`
	FeeID       string  `json:"fee_id"`
	CoachName   *string `json:"coach_name"`
	StudentName string  `json:"student_name"`
	Title       string  `json:"title"`
	Amount      int64   `json:"amount"`
	Currency    string  `json:"currency"`
	AmountText  string  `json:"amount_text"`
	Method      string  `json:"method"`
	PaidOn      string  `json:"paid_on"`
	Note        *string `json:"note"`
	CreatedAt   string  `json:"created_at"`
	ReversedAt  *string `json:"reversed_at"`
	Reason      *string `json:"reversal_reason"`
}

// getReceipt serves GET /api/fees/{fee_id}/payments/{payment_id}/receipt, as JSON or as a
// page to print.
func (s *Server) getReceipt(ctx context.Context, r Request[noBody], id string) (Response, error) {
	paymentID, err := r.PathID("payment_id")
	if err != nil {
		return Response{}, err
	}
	fee, err := s.Fees.Fee(ctx, r.Caller.Actor, id)
	if err != nil {
		return Response{}, err
	}
	p, err := fee.Payment(paymentID)
	if err != nil {
		return Response{}, err
	}
	profile, err := s.Coaches.Profile(ctx, r.Caller.Actor)
	if err != nil {
		return Response{}, err
	}
	receipt := feeReceipt{
		Receipt: p.Receipt, PaymentID: p.ID, FeeID: fee.ID, CoachName: wire.OrNull(profile.Name), StudentName: fee.StudentName, Title: fee.Title,
		Amount: p.Amount, Currency: fee.Currency, AmountText: team.FormatAmount(p.Amount, fee.Currency), Method: string(p.Method), PaidOn: string(p.PaidOn),
		Note: wire.OrNull(p.Note), CreatedAt: wire.Timestamp(p.CreatedAt), ReversedAt: wire.TimestampOrNull(p.ReversedAt), Reason: wire.OrNull(p.Reason),
	}
	if wire.Preferred(r.Header, "application/json", mediaHTML) == mediaHTML {
		zone := team.Zone(cmp.Or(profile.TimeZone, s.Coaches.DefaultTimeZone))
		return receiptPage(receipt, team.DateOf(p.ReversedAt, zone))
	}
	return endpoint.OK(receipt), nil
}

// receiptPage returns the page of a receipt. reversedOn is the date in the coach's time zone; the page shows it
// only if the payment was reversed.
func receiptPage(receipt feeReceipt, reversedOn team.Date) (Response, error) {
	var page bytes.Buffer
	if err := receiptTemplate.Execute(&page, map[string]any{"Receipt": receipt, "ReversedOn": reversedOn}); err != nil {
		return Response{}, err
	}
	return Response{Raw: page.Bytes(), Header: http.Header{
		"Content-Type": {mediaHTML + "; charset=utf-8"}, "Content-Security-Policy": {"default-src 'none'; style-src 'unsafe-inline'; sandbox allow-modals"},
	}}, nil
}
