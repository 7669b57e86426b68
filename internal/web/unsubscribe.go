package web

import (
	"context"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/fault"
)

// unsubscribeRoutes are the pages behind the link that every mail has, and behind its header
// List-Unsubscribe.
func (p *Pages) unsubscribeRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/unsubscribe/{token}", Handle: p.unsubscribePage},
		{Method: "POST", Pattern: "/unsubscribe/{token}", Handle: p.unsubscribe, Urgent: true, Multipart: true},
		{Method: "POST", Pattern: "/unsubscribe/{token}/allow", Handle: p.allowMail},
	}
}

// unsubscribePage serves GET /unsubscribe/{token}: it asks to confirm, or offers mail again to an
// address that gets none. It changes nothing, because scanners fetch links.
func (p *Pages) unsubscribePage(ctx context.Context, r *Request) (Response, error) {
	address, ok := p.MailAddress(r.PathValue("token"))
	if !ok {
		return Response{}, fault.Missing()
	}
	stopped, err := p.Preferences.AddressStopped(ctx, address)
	if err != nil {
		return Response{}, err
	}
	return p.mailPage(r, address, stopped), nil
}

// mailPage returns the page for the holder of an address, who can stop mail or allow it again.
func (p *Pages) mailPage(r *Request, address string, stopped bool) Response {
	v := p.NewView(r, "unsubscribe.title")
	v.Data = map[string]any{"Address": message.MaskAddress(address), "Token": r.PathValue("token"), "Allowed": r.URL.Query().Has("allowed")}
	if stopped {
		return Page("unsubscribed", v)
	}
	return Page("unsubscribe", v)
}

// unsubscribe serves POST /unsubscribe/{token}: it ends mail to the address. Mail programs
// send it without a page (RFC 8058), browsers from the page. It may be repeated.
func (p *Pages) unsubscribe(ctx context.Context, r *Request) (Response, error) {
	address, ok := p.MailAddress(r.PathValue("token"))
	if !ok {
		return Response{}, fault.Missing()
	}
	if err := p.Preferences.StopAddress(ctx, address); err != nil {
		return Response{}, err
	}
	return p.mailPage(r, address, true), nil
}

// allowMail serves POST /unsubscribe/{token}/allow: mail to the address leaves again. It may be
// repeated.
func (p *Pages) allowMail(ctx context.Context, r *Request) (Response, error) {
	address, ok := p.MailAddress(r.PathValue("token"))
	if !ok {
		return Response{}, fault.Missing()
	}
	if err := p.Preferences.AllowAddress(ctx, address); err != nil {
		return Response{}, err
	}
	return Redirect("/unsubscribe/" + r.PathValue("token") + "?allowed"), nil
}
