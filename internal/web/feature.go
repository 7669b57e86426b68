package web

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
)

// FeatureNeeded shows which tier has a feature. It returns err if it is not tier_limit.
func (p *Pages) FeatureNeeded(r *Request, by actor.Actor, feature string, err error) (Response, error) {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != "tier_limit" {
		return Response{}, err
	}
	v := p.CoachView(r, "players", "feature.title", by)
	title := func(name any) string {
		text, _ := name.(string)
		tier, _ := p.Tiers.Named(text)
		return tier.Title
	}
	v.Data = map[string]any{"Feature": feature, "Tier": title(f.Extra["tier"]), "Needed": title(f.Extra["needed_tier"])}
	return Page("feature", v).With(http.StatusForbidden), nil
}

// Download sends a file while it is written.
func Download(name, mediaType string, write func(ctx context.Context, out io.Writer) error) Response {
	return Response{Write: func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), httpx.FileTimeout)
		defer cancel()
		return httpx.Download(w, r, name, mediaType, func(out io.Writer) error { return write(ctx, out) })
	}}
}
