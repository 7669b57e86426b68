package web

import (
	"context"
	"html/template"
	"net/url"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/qr"
	"github.com/touchline/touchline/internal/team"
)

// familyFeeRoutes lists the pages of a family about the fees of a player.
func (p *Pages) familyFeeRoutes() []Route {
	var routes []Route
	for _, role := range approval.Parties {
		list := "/me/" + string(role) + "/players/{player_id}/fees"
		routes = append(
			routes,
			Route{Method: "GET", Pattern: list, Handle: p.signedIn(role, p.familyFees)},
			Route{Method: "GET", Pattern: list + "/{fee_id}", Handle: p.signedIn(role, p.familyFee)},
			Route{Method: "GET", Pattern: list + "/{fee_id}/receipts/{payment_id}", Handle: p.signedIn(role, p.familyReceipt)},
		)
	}
	return routes
}

// familyFees serves GET …/fees: the fees of a player, or what a yes would show.
func (p *Pages) familyFees(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.load(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	after := team.FeePosition{DueOn: team.Date(r.Value("after_day")), ID: r.Value("after")}
	fees, err := p.FeeServices.List(ctx, by, d.ID, team.FeePage{Limit: feesPerPage + 1, After: after})
	if err != nil && fault.KindOf(err) != fault.Forbidden {
		return Response{}, err
	}
	next := ""
	if len(fees) > feesPerPage {
		fees = fees[:feesPerPage]
		last := fees[feesPerPage-1]
		next = d.Path + "/fees?" + url.Values{"after": {last.ID}, "after_day": {string(last.DueOn)}}.Encode()
	}
	v := p.signedInView(r, "family_fees.title", by)
	v.Data = map[string]any{"Answer": d, "Fees": fees, "Next": next, "Closed": err != nil}
	return page("family_fees", v), nil
}

// paymentView is how a party can pay a fee by UPI.
type paymentView struct {
	Link     template.URL
	Image    template.HTML
	UPIID    string
	Name     string
	NewUntil time.Time
}

// familyFee serves GET …/fees/{fee_id}: one fee, its payments, and how to pay it.
func (p *Pages) familyFee(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, fee, closed, err := p.loadFamilyFee(ctx, r, by)
	if err != nil || closed {
		return redirect(d.Path + "/fees"), err
	}
	v := p.signedInView(r, "family_fee.title", by)
	var pay *paymentView
	if payee := fee.Payee; payee != nil {
		link := payee.Link(fee.Fee)
		image, err := qr.SVG(link, v.mustT("family_fee.qr"))
		if err != nil {
			return Response{}, err
		}
		// Link has encoded every parameter.
		pay = &paymentView{template.URL(link), image, payee.UPIID, payee.Name, payee.NewUntil(p.Now())}
	}
	v.Data = map[string]any{"Answer": d, "Fee": fee, "Pay": pay}
	return page("family_fee", v), nil
}

// familyReceipt serves GET …/fees/{fee_id}/receipts/{payment_id}.
func (p *Pages) familyReceipt(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	paymentID, err := r.PathID("payment_id")
	if err != nil {
		return Response{}, err
	}
	d, fee, closed, err := p.loadFamilyFee(ctx, r, by)
	if err != nil || closed {
		return redirect(d.Path + "/fees"), err
	}
	payment, err := fee.Fee.Payment(paymentID)
	if err != nil {
		return Response{}, err
	}
	v := p.signedInView(r, "receipt.title", by)
	v.Data = receiptView{Back: d.Path + "/fees/" + fee.ID, Coach: d.Coach, Fee: fee.Fee, Payment: *payment}
	return page("receipt", v), nil
}

// loadFamilyFee reads the fee in the path. closed reports that the party may not see it now.
func (p *Pages) loadFamilyFee(ctx context.Context, r *Request, by actor.Actor) (d answerPage, fee team.FamilyFee, closed bool, err error) {
	feeID, err := r.PathID("fee_id")
	if err != nil {
		return d, fee, false, err
	}
	if d, err = p.load(ctx, r, by); err != nil {
		return d, fee, false, err
	}
	fee, err = p.FeeServices.Fee(ctx, by, d.ID, feeID)
	if fault.KindOf(err) == fault.Forbidden {
		return d, fee, true, nil
	}
	return d, fee, false, err
}
