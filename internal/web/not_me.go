package web

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/fault"
)

// notMeDone is where the form of notMe leads.
const notMeDone = "/a/not-me"

// notMe serves GET /a/{token}/not-me: it asks the visitor to confirm that the question reached
// the wrong person.
func (p *Pages) notMe(_ context.Context, r *Request, link approval.LinkState) (Response, error) {
	v := p.NewView(r, "not_me.title")
	v.InlineStyle = true
	v.Data = p.newQuestion(r, link)
	return Page("not_me", v), nil
}

// refuseByLink serves POST /a/{token}/not-me: it ends the question without a sign-in, or mail
// to the address if the link left by mail. The same form sent twice has the same effect.
func (p *Pages) refuseByLink(ctx context.Context, r *Request) (Response, error) {
	token := r.PathValue("token")
	if !plausible(token) {
		return p.closedLink(r), nil
	}
	err := p.Approvals.DisputeByLink(ctx, auth.HashLink(token))
	switch fault.KindOf(err) {
	case fault.NotFound: // the link did not leave to the asked number, or is not valid
		return p.stopAddressOfLink(ctx, r, auth.HashLink(token))
	case fault.Conflict:
		return p.closedLink(r), nil
	}
	if err != nil {
		return Response{}, err
	}
	return Redirect(notMeDone), nil
}

// refusedByLink serves GET /a/not-me. The form leads to this page, so that a reload does not
// send the form again. A token is never as short as "not-me".
func (p *Pages) refusedByLink(_ context.Context, r *Request) (Response, error) {
	v := p.NewView(r, "not_me.title")
	v.InlineStyle = true
	return Page("not_me_done", v), nil
}
