package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// FamilyPage shows a page of a player to a party, with the data that read returns. A party
// that has not approved sees what a yes would open instead, with service as the example, and
// no data.
func (p *Pages) FamilyPage(ctx context.Context, r *Request, by actor.Actor, name, service string, read func(Question) (map[string]any, error)) (Response, error) {
	d, err := p.Question(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	v := p.SignedInView(r, name+".title", by)
	v.TitleName = d.Student
	data, err := read(d)
	switch code := fault.CodeOf(err); code {
	case "approval_pending", "approval_required", "tier_limit":
		services := slices.DeleteFunc(slices.Clone(d.Services), func(s string) bool { return s != service })
		v.Data = map[string]any{"Question": d, "Name": name, "Services": services, "NotInTier": code == "tier_limit"}
		return Page("locked", v).With(http.StatusForbidden), nil
	}
	if err != nil {
		return Response{}, err
	}
	data["Back"], data["Student"], data["CoachName"], data["WholeHistory"] = d.Path, d.Student, d.Coach, p.WholeHistory
	if form, ok := data["Form"].(*Form); ok {
		v.Form, v.Path = form, r.URL.Path
	}
	v.Data = data
	return FormPage(name, v), nil
}
