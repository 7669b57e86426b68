package web

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// shortCodePage serves GET /a: it asks for a short code and the number that was asked.
func (p *Pages) shortCodePage(_ context.Context, r *Request) (Response, error) {
	return p.shortCodeForm(r, &Form{Values: r.Form}), nil
}

func (p *Pages) shortCodeForm(r *Request, f *Form) Response {
	v := p.NewView(r, "short_code.title")
	v.InlineStyle = true
	v.Form = f
	v.Path = "/a"
	v.Data = map[string]any{"OffersEmail": p.offersEmail(r, f)}
	return Page("short_code", v).withFaults(f)
}

// enterShortCode serves POST /a. A code leaves by SMS only if the short code and the
// number belong together; the response is the same in both cases.
func (p *Pages) enterShortCode(ctx context.Context, r *Request) (Response, error) {
	v, f := p.NewView(r, "short_code.title"), &Form{Values: r.Form}
	if r.Value("code") == "" {
		f.Add("code", v.MustT("short_code.code.fault"))
	}
	number, err := p.Phones.Parse(r.Value("number"))
	if err != nil {
		f.Add("number", v.MustT("sign_in.number.fault"))
	}
	if len(f.Faults) > 0 {
		return p.shortCodeForm(r, f), nil
	}
	link, err := p.Approvals.FindByShortCode(ctx, r.Value("code"), number, r.Address)
	if limit, ok := errors.AsType[*fault.Error](err); ok && limit.Kind == fault.TooMany {
		f.Add("code", v.MustT("short_code.limit", "Wait", v.Wait(limit.RetryAfter)))
		p.LimitedBy(r, f, err)
		return p.shortCodeForm(r, f), nil
	}
	if !link.Open {
		link.Party, link.PlayerID = actor.Guardian, uuid.Nil.String() // no page is reached: the code does not exist
	}
	pending := pendingSignIn{Role: link.Party, Number: number, Silent: !link.Open, FromLink: true, ByEmail: byEmail(r), Next: playerPath(link.Party, link.PlayerID) + "/answer"}
	if err == nil {
		err = p.sendCode(ctx, r, pending)
	}
	if err != nil {
		if !isLimit(err) {
			return Response{}, err
		}
		p.AddError(r, f, "code", err)
		return p.shortCodeForm(r, f), nil
	}
	return p.toCode(pending)
}
