package coaching

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// profilePage serves GET /coach/profile.
func (p pages) profilePage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	profile, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	return p.Form(ctx, p.site, r, by, profile, r.Restored(ProfileValues(profile)))
}

// ProfilePath is the page of the profile.
const ProfilePath = "/coach/profile"

// ProfileFields are the fields of the form of the profile.
var ProfileFields = []string{"name", "email", "bio", "sports", "time_zone", "experience_years"}

// ProfileValues returns the form with the values of a profile.
func ProfileValues(profile coach.Profile) *web.Form {
	values := url.Values{
		"name": {profile.Name}, "email": {profile.Email}, "bio": {profile.Bio}, "sports": {strings.Join(profile.Sports, ", ")}, "time_zone": {profile.TimeZone}, "experience_years": {""},
	}
	if profile.Experience != nil {
		values.Set("experience_years", strconv.Itoa(*profile.Experience))
	}
	return &web.Form{Values: values}
}

// Form returns the page of the profile with a form.
func (s Service) Form(ctx context.Context, site *web.Pages, r *web.Request, by actor.Actor, profile coach.Profile, f *web.Form) (web.Response, error) {
	v := site.CoachView(r, "profile", "profile.title", by)
	v.Form = f
	v.Path = ProfilePath
	certificates := slices.DeleteFunc(slices.Clone(profile.Documents), func(d coach.Document) bool { return !d.Kind.Certifies() })
	v.Data = map[string]any{
		"Profile": profile, "Missing": profile.Missing(s.Coaches.Required), "Done": r.URL.Query().Get("done"),
		"Picture": profile.Picture(), "Certificates": certificates, "RequestID": s.Auth.NewID(), "KYC": s.Subscriptions.Tiers.KYC,
		"Unmarked": profile.Unmarked(), "EmailRequired": slices.Contains(s.Coaches.Required, "email"), "Zones": web.OfferedZones(f), "DefaultZone": s.Coaches.DefaultTimeZone,
	}
	return web.FormPage("profile", v), nil
}

// saveProfile serves POST /coach/profile. A coach whose profile becomes complete goes to
// the start of the console.
func (p pages) saveProfile(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	before, err := p.Coaches.Profile(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	if r.Form.Has("open") {
		return p.site.KeepTyped(r, web.Redirect("/coach/documents/add"), ProfilePath, ProfileValues(before).Values), nil
	}
	if r.Form.Has("cancel_name") {
		if _, err := p.Coaches.Edit(ctx, by, coach.Patch{CancelName: true}); err != nil {
			return web.Response{}, err
		}
		return web.Redirect("/coach/profile?done=name_cancelled"), nil
	}
	var faults wire.Faults
	patch := readProfile(r, &faults)
	var saved coach.Profile
	if err = faults.Err(); err == nil {
		saved, err = p.Coaches.Edit(ctx, by, patch)
	}
	if err != nil {
		f := &web.Form{Values: r.Form}
		if fault.CodeOf(err) == "name_limit" {
			p.site.AddError(r, f, "name", err)
		} else if !p.site.AddFaults(r, f, err, nil) {
			return web.Response{}, err
		}
		return p.Form(ctx, p.site, r, by, before, f)
	}
	if len(before.Missing(p.Coaches.Required)) > 0 {
		return web.Redirect("/coach"), nil
	}
	if saved.NamePending != "" && saved.NamePending != before.NamePending {
		return web.Redirect("/coach/profile?done=name_asked"), nil
	}
	return web.Redirect("/coach/profile?done=saved"), nil
}

// readProfile reads the form. An empty field clears its value.
func readProfile(r *web.Request, f *wire.Faults) coach.Patch {
	text := func(field, rules string) *string {
		value := wire.ParseRules(rules).Text(r.Value(field), "/"+field, f)
		return &value
	}
	patch := coach.Patch{
		Name: text("name", "name,min=1,max=100"), Email: text("email", "max=254"), Bio: text("bio", "lines,min=1,max=2000"),
	}
	sports := []string{}
	for _, sport := range strings.Split(r.Value("sports"), ",") {
		if sport = wire.ParseRules("max=50").Text(sport, "/sports", f); sport != "" {
			sports = append(sports, sport)
		}
	}
	switch {
	case len(sports) == 0:
		f.Add("/sports", "too_short", "Name a sport.")
	case len(sports) > coach.MaxSports:
		f.Add("/sports", "too_long", "Name fewer sports.")
	}
	patch.Sports = &sports
	years, err := strconv.Atoi(wire.Visible(r.Value("experience_years"), false))
	if err != nil || years < 0 || years > coach.MaxExperience {
		f.Add("/experience_years", "invalid_years", "Write a number from 0 to 80.")
	}
	experience := &years
	patch.Experience = &experience
	if zone := r.Value("time_zone"); r.Form.Has("time_zone") {
		if zone != "" {
			input.CheckTimeZone(&zone, f)
		}
		patch.TimeZone = &zone
	}
	input.CheckProfile(patch, f)
	return patch
}
