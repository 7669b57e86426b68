package fee

import (
	"context"
	"html/template"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/qr"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

// familyRow is a fee in the list of a family, with its state today in words.
type familyRow struct {
	FamilyFee
	Status web.Status
}

// familyFees serves GET …/fees: the fees of a player, or what a yes would show.
func (p pages) familyFees(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := p.site.Question(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	fees, err := p.ListForFamily(ctx, by, d.ID, readPage(r))
	if err != nil && fault.KindOf(err) != fault.Forbidden {
		return web.Response{}, err
	}
	fees, more := moreFees(fees, func(f FamilyFee) *Fee { return f.Fee })
	next := ""
	if more != nil {
		next = d.Path + "/fees?" + more.Encode()
	}
	v := p.site.SignedInView(r, "family_fees.title", by)
	v.TitleName = d.Student
	rows := make([]familyRow, len(fees))
	for i, f := range fees {
		rows[i] = familyRow{f, statusOf(v, f.Fee, p.Now(), ".part")}
	}
	v.Data = map[string]any{"Answer": d, "Fees": rows, "Next": next, "Closed": err != nil}
	return web.Page("family_fees", v), nil
}

// paymentView is how a party can pay a fee by UPI.
type paymentView struct {
	Link     template.URL
	Image    template.HTML
	UPIID    string
	Name     string
	Amount   string // of the balance, as payment apps take it
	NewUntil time.Time
}

// familyFee serves GET …/fees/{fee_id}: one fee, its payments, and how to pay it.
func (p pages) familyFee(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, fee, closed, err := p.loadFamilyFee(ctx, r, by)
	if err != nil || closed {
		return web.Redirect(d.Path + "/fees"), err
	}
	v := p.site.SignedInView(r, "family_fee.title", by)
	v.TitleName = d.Student
	var pay *paymentView
	if payee := fee.Payee; payee != nil {
		link := payee.Link(fee.Fee)
		image, err := qr.SVG(link, v.MustT("family_fee.qr"))
		if err != nil {
			return web.Response{}, err
		}
		// Link has encoded every parameter.
		pay = &paymentView{template.URL(link), image, payee.UPIID, payee.Name, team.FormatAmount(fee.Balance(), fee.Currency), payee.NewUntil(p.Now())}
	}
	v.Data = map[string]any{"Answer": d, "Fee": familyRow{fee, statusOf(v, fee.Fee, p.Now(), ".part")}, "Pay": pay}
	return web.Page("family_fee", v), nil
}

// familyReceipt serves GET …/fees/{fee_id}/receipts/{payment_id}.
func (p pages) familyReceipt(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	d, fee, closed, err := p.loadFamilyFee(ctx, r, by)
	if err != nil || closed {
		return web.Redirect(d.Path + "/fees"), err
	}
	payment, err := fee.Payment(r.PathValue("payment_id"))
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.SignedInView(r, "receipt.title", by)
	v.TitleName = d.Student
	v.Data = receiptView{Back: d.Path + "/fees/" + fee.ID, Coach: d.Coach, Fee: fee.Fee, Payment: *payment, Today: team.Date(v.Today())}
	return web.Page("receipt", v), nil
}

// loadFamilyFee reads the fee in the path. closed reports that the party may not see it now.
func (p pages) loadFamilyFee(ctx context.Context, r *web.Request, by actor.Actor) (d web.Question, fee FamilyFee, closed bool, err error) {
	feeID := r.PathValue("fee_id")
	if d, err = p.site.Question(ctx, r, by); err != nil {
		return d, fee, false, err
	}
	fee, err = p.FeeForFamily(ctx, by, d.ID, feeID)
	if fault.KindOf(err) == fault.Forbidden {
		return d, fee, true, nil
	}
	return d, fee, false, err
}
