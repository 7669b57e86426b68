package identity

import (
	"context"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// console serves the page of operators.
type console struct {
	*Service
	site *web.Console
}

// ConsolePages returns the page on which operators record checks of papers and see proofs to look at.
func (s *Service) ConsolePages(site *web.Console) []web.Route {
	c := console{s, site}
	return []web.Route{
		{Method: "GET", Pattern: "/guardian-proofs", Handle: site.Scope(operator.KYC, c.show)},
		{Method: "POST", Pattern: "/guardian-proofs", Handle: site.Scope(operator.KYC, c.record)},
	}
}

// show serves GET /guardian-proofs.
func (c console) show(ctx context.Context, r *web.Request, _ actor.Operator) (web.Response, error) {
	return c.page(ctx, r, new(web.Form))
}

func (c console) page(ctx context.Context, r *web.Request, f *web.Form) (web.Response, error) {
	found, err := c.Flagged(ctx, r.Value("after"), web.ListPage)
	if err != nil {
		return web.Response{}, err
	}
	v := c.site.NewView(r, "kyc", "operator.proofs.title")
	v.Form, v.Path = f, "/guardian-proofs"
	v.Data = map[string]any{"Flagged": found, "Last": web.LastOfFull(found), "Done": r.URL.Query().Get("done"), "Fits": []NameFit{SameName, SimilarName, OtherName}}
	return web.FormPage("operator_proofs", v), nil
}

// record serves POST /guardian-proofs.
func (c console) record(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	f := &web.Form{Values: r.Form}
	number, err := c.site.Phones.Parse(r.Value("number"))
	fit := NameFit(r.Value("name_fit"))
	v := c.site.NewView(r, "kyc", "operator.proofs.title")
	if err != nil || fit != SameName && fit != SimilarName && fit != OtherName {
		f.Add("number", v.MustT("operator.proofs.invalid"))
		return c.page(ctx, r, f)
	}
	if _, _, err := c.RecordPapers(ctx, by, number, fit); fault.KindOf(err) == fault.NotFound {
		f.Add("number", v.MustT("operator.proofs.unknown"))
		return c.page(ctx, r, f)
	} else if err != nil {
		return web.Response{}, err
	}
	return web.Redirect("/guardian-proofs?done=yes"), nil
}
