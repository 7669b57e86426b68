package api

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/qr"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/wire"
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

// familyFeeDetails is the FamilyFeeDetails of openapi.yaml.
type familyFeeDetails struct {
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

func (s *Server) newFamilyFee(f team.FamilyFee) familyFeeResponse {
	r := familyFeeResponse{
		FeeID: f.ID, PlayerID: f.PlayerID, Title: f.Title, Amount: f.Amount, Currency: f.Currency, DueOn: string(f.DueOn),
		Paid: f.Paid, Balance: f.Balance(), State: string(f.State),
	}
	if p := f.Payee; p != nil {
		r.Payment = &paymentLink{
			UPILink: p.Link(f.Fee), QRPath: "/api/me/players/" + f.PlayerID + "/fees/" + f.ID + "/qr", UPIID: p.UPIID, PayeeName: p.Name,
			Amount: f.Balance(), Currency: f.Currency, Reference: team.UPIReference(f.ID), NewUntil: wire.TimestampOrNull(p.NewUntil(s.Now())),
		}
	}
	return r
}

// listFamilyFees serves GET /api/me/players/{player_id}/fees.
func (s *Server) listFamilyFees(ctx context.Context, r Request[noBody], playerID string) (Response, error) {
	f := r.Faults
	page := s.page(r.Meta, &f)
	if len(f) > 0 {
		// 404 and 403 come before 422.
		if _, err := s.FeeServices.List(ctx, r.Caller.Actor, playerID, team.FeePage{Limit: 1}); err != nil {
			return Response{}, err
		}
		return Response{}, f.Err()
	}
	fees, err := s.FeeServices.List(ctx, r.Caller.Actor, playerID, team.FeePage{Limit: page.ReadLimit(), After: page.After.fee()})
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, fees, s.newFamilyFee, func(f team.FamilyFee) keyset { return byFee(f.Fee) }), nil
}

// getFamilyFee serves GET /api/me/players/{player_id}/fees/{fee_id}.
func (s *Server) getFamilyFee(ctx context.Context, r Request[noBody], playerID string) (Response, error) {
	fee, err := s.familyFee(ctx, r, playerID)
	if err != nil {
		return Response{}, err
	}
	d := familyFeeDetails{s.newFamilyFee(fee), []familyPayment{}}
	for _, p := range fee.Payments {
		d.Payments = append(d.Payments, familyPayment{p.ID, p.Receipt, p.Amount, string(p.Method), string(p.PaidOn), wire.TimestampOrNull(p.ReversedAt)})
	}
	return endpoint.OK(d), nil
}

// familyFeeQR serves GET /api/me/players/{player_id}/fees/{fee_id}/qr.
func (s *Server) familyFeeQR(ctx context.Context, r Request[noBody], playerID string) (Response, error) {
	fee, err := s.familyFee(ctx, r, playerID)
	if err != nil {
		return Response{}, err
	}
	if fee.Payee == nil {
		return Response{}, fault.Missing()
	}
	code, err := qr.SVG(fee.Payee.Link(fee.Fee), "UPI "+team.FormatAmount(fee.Balance(), fee.Currency))
	if err != nil {
		return Response{}, err
	}
	return Response{Raw: []byte(code), Header: http.Header{"Content-Type": {mediaSVG}}}, nil
}

func (s *Server) familyFee(ctx context.Context, r Request[noBody], playerID string) (team.FamilyFee, error) {
	feeID, err := r.PathID("fee_id")
	if err != nil {
		return team.FamilyFee{}, err
	}
	return s.FeeServices.Fee(ctx, r.Caller.Actor, playerID, feeID)
}

// feeReminderResponse is the FeeReminder of openapi.yaml.
type feeReminderResponse struct {
	FeeID    string           `json:"fee_id"`
	Reminded []string         `json:"reminded"`
	LeftOut  []feePartyReason `json:"left_out"`
	Left     int              `json:"reminders_left"`
}

type feePartyReason struct {
	Party  string `json:"party"`
	Reason string `json:"reason"`
}

// remindFee serves POST /api/fees/{fee_id}/remind.
func (s *Server) remindFee(ctx context.Context, r Request[noBody], id string) (Response, error) {
	if err := s.feeFaults(ctx, r.Meta, id, r.Faults); err != nil {
		return Response{}, err
	}
	sent, err := s.FeeServices.Remind(ctx, r.Caller.Actor, id)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Accepted(newFeeReminder(sent)), nil
}

// feeAccessReasons say why a party was not reminded.
var feeAccessReasons = map[team.Access]string{
	team.ApprovalPending: "approval_pending", team.ApprovalRequired: "approval_required", team.NotInTier: "tier_limit", team.NotLinked: "not_linked",
}

func newFeeReminder(sent team.FeeReminder) feeReminderResponse {
	r := feeReminderResponse{FeeID: sent.Fee.ID, Reminded: []string{}, LeftOut: []feePartyReason{}, Left: sent.Left}
	for _, p := range sent.Parties {
		if p.Access == team.Granted {
			r.Reminded = append(r.Reminded, string(p.Role))
		} else {
			r.LeftOut = append(r.LeftOut, feePartyReason{string(p.Role), feeAccessReasons[p.Access]})
		}
	}
	return r
}

// rebuildFeeReminder returns the response of remindFee again, with the approvals as they are
// now.
func (s *Server) rebuildFeeReminder(ctx context.Context, m meta, w idempotency.Work) (Response, error) {
	sent, err := s.FeeServices.Reminder(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Accepted(newFeeReminder(sent)), nil
}

// listFeeRepeats serves GET /api/fee-repeats.
func (s *Server) listFeeRepeats(ctx context.Context, r Request[noBody]) (Response, error) {
	f := r.Faults
	page := s.page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	repeats, err := s.Fees.Repeats(ctx, r.Caller.Actor, page.After.ID, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, repeats, newFeeRepeatResponse, func(r *team.FeeRepeat) keyset { return keyset{ID: r.ID} }), nil
}

// endFeeRepeat serves DELETE /api/fee-repeats/{repeat_id}.
func (s *Server) endFeeRepeat(ctx context.Context, r Request[noBody], id string) (Response, error) {
	if err := s.Fees.EndRepeat(ctx, r.Caller.Actor, id); err != nil {
		return Response{}, err
	}
	return endpoint.NoContent(), nil
}
