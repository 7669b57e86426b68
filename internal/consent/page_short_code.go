package consent

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/signin"
	"github.com/touchline/touchline/internal/web"
)

// shortCodePage serves GET /a: it asks for a short code and the number that was asked.
func (p pages) shortCodePage(_ context.Context, r *web.Request) (web.Response, error) {
	return p.shortCodeForm(r, &web.Form{Values: r.Form}), nil
}

func (p pages) shortCodeForm(r *web.Request, f *web.Form) web.Response {
	v := p.site.NewView(r, "short_code.title")
	v.InlineStyle = true
	v.Form = f
	v.Path = "/a"
	v.Data = map[string]any{"OffersEmail": p.SignIn.OffersEmail(r, f)}
	return web.FormPage("short_code", v)
}

// enterShortCode serves POST /a. A code leaves by SMS only if the short code and the
// number belong together; the response is the same in both cases.
func (p pages) enterShortCode(ctx context.Context, r *web.Request) (web.Response, error) {
	v, f := p.site.NewView(r, "short_code.title"), &web.Form{Values: r.Form}
	if r.Value("code") == "" {
		f.Add("code", v.MustT("short_code.code.fault"))
	}
	number, err := p.site.Phones.Parse(r.Value("number"))
	if err != nil {
		f.Add("number", v.MustT("sign_in.number.fault"))
	}
	if len(f.Faults) > 0 {
		return p.shortCodeForm(r, f), nil
	}
	link, err := p.FindByShortCode(ctx, r.Value("code"), number, r.Address)
	if limit, ok := errors.AsType[*fault.Error](err); ok && limit.Kind == fault.TooMany {
		f.Add("code", v.MustT("short_code.limit", "Wait", v.Wait(limit.RetryAfter)))
		p.site.LimitedBy(r, f, err)
		return p.shortCodeForm(r, f), nil
	}
	if !link.Open {
		link.Party, link.PlayerID = actor.Guardian, uuid.Nil.String() // no page is reached: the code does not exist
	}
	pending := signin.SignIn{Role: link.Party, Number: number, Silent: !link.Open, FromLink: true, ByEmail: signin.ByEmail(r), Next: web.PlayerPath(link.Party, link.PlayerID) + "/answer"}
	if err != nil {
		return web.Response{}, err
	}
	resp, sent, err := p.SignIn.AskForCode(ctx, p.site, r, pending, f, "code")
	if err == nil && !sent {
		return p.shortCodeForm(r, f), nil
	}
	return resp, err
}
