package consent

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/web"
)

// notMeDone is where the form of notMe leads.
const notMeDone = "/a/not-me"

// notMe serves GET /a/{token}/not-me: it asks the visitor to confirm that the question reached
// the wrong person.
func (p pages) notMe(_ context.Context, r *web.Request, link approval.LinkState) (web.Response, error) {
	v := p.site.NewView(r, "not_me.title")
	v.InlineStyle = true
	v.Data = p.newQuestion(r, link)
	return web.Page("not_me", v), nil
}

// refuseByLink serves POST /a/{token}/not-me: it ends the question without a sign-in, or mail
// to the address if the link left by mail. The same form sent twice has the same effect.
func (p pages) refuseByLink(ctx context.Context, r *web.Request) (web.Response, error) {
	token := r.PathValue("token")
	if !plausible(token) {
		return p.closedLink(r), nil
	}
	link, err := p.Link(ctx, vault.HashToken(token))
	if err != nil {
		return web.Response{}, err
	}
	var w approval.Wording
	if link.Open {
		q, err := p.shownQuestion(ctx, r, link)
		if err == nil {
			w, err = p.wording(r, "link-text", q)
		}
		if err != nil {
			return web.Response{}, err
		}
		w.Version = seenVersion(r)
	}
	err = p.DisputeByLink(ctx, vault.HashToken(token), w)
	switch fault.KindOf(err) {
	case fault.NotFound: // the link did not leave to the asked number, or is not valid
		return p.stopAddressOfLink(ctx, r, vault.HashToken(token))
	case fault.Conflict:
		return p.closedLink(r), nil
	}
	if err != nil {
		return web.Response{}, err
	}
	return web.Redirect(notMeDone), nil
}

// refusedByLink serves GET /a/not-me. The form leads to this page, so that a reload does not
// send the form again. A token is never as short as "not-me".
func (p pages) refusedByLink(_ context.Context, r *web.Request) (web.Response, error) {
	v := p.site.NewView(r, "not_me.title")
	v.InlineStyle = true
	return web.Page("not_me_done", v), nil
}

// stopAddressOfLink ends mail to the address to which a link left, for a person whom the
// question reached by mistake. It does nothing else: the question is to a number.
func (p pages) stopAddressOfLink(ctx context.Context, r *web.Request, linkHash []byte) (web.Response, error) {
	stopped, err := player.StopAddressOfLink(ctx, p.DB, linkHash, p.Now())
	if err != nil {
		return web.Response{}, err
	}
	if !stopped {
		link, err := p.Link(ctx, linkHash)
		return p.notOpen(r, link.Old), err
	}
	v := p.site.NewView(r, "not_me.title")
	v.InlineStyle, v.Data = true, map[string]any{}
	return web.Page("unsubscribed", v).With(http.StatusOK), nil
}
