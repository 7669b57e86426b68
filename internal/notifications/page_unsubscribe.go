package notifications

import (
	"context"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// unsubscribePage serves GET /unsubscribe/{token}: it asks to confirm, or offers mail again to an
// address that gets none. It changes nothing, because scanners fetch links.
func (p pages) unsubscribePage(ctx context.Context, r *web.Request) (web.Response, error) {
	address, ok := p.site.MailAddress(r.PathValue("token"))
	if !ok {
		return web.Response{}, fault.Missing()
	}
	stopped, err := p.Preferences.AddressStopped(ctx, address)
	if err != nil {
		return web.Response{}, err
	}
	return p.mailPage(r, address, stopped), nil
}

// mailPage returns the page for the holder of an address, who can stop mail or allow it again.
func (p pages) mailPage(r *web.Request, address string, stopped bool) web.Response {
	v := p.site.NewView(r, "unsubscribe.title")
	v.Data = map[string]any{"Address": message.MaskAddress(address), "Token": r.PathValue("token"), "Allowed": r.URL.Query().Has("allowed")}
	if stopped {
		return web.Page("unsubscribed", v)
	}
	return web.Page("unsubscribe", v)
}

// unsubscribe serves POST /unsubscribe/{token}: it ends mail to the address. Mail programs
// send it without a page (RFC 8058), browsers from the page. It may be repeated.
func (p pages) unsubscribe(ctx context.Context, r *web.Request) (web.Response, error) {
	address, ok := p.site.MailAddress(r.PathValue("token"))
	if !ok {
		return web.Response{}, fault.Missing()
	}
	if err := p.Preferences.StopAddress(ctx, address); err != nil {
		return web.Response{}, err
	}
	return p.mailPage(r, address, true), nil
}

// allowMail serves POST /unsubscribe/{token}/allow: mail to the address leaves again. It may be
// repeated.
func (p pages) allowMail(ctx context.Context, r *web.Request) (web.Response, error) {
	address, ok := p.site.MailAddress(r.PathValue("token"))
	if !ok {
		return web.Response{}, fault.Missing()
	}
	if err := p.Preferences.AllowAddress(ctx, address); err != nil {
		return web.Response{}, err
	}
	return web.Redirect("/unsubscribe/" + r.PathValue("token") + "?allowed"), nil
}
