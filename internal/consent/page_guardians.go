package consent

import (
	"context"
	"net/url"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// guardianRoutes are the pages of the guardians of the player at path.
func (p pages) guardianRoutes(path string) []web.Route {
	add, one := path+"/guardians/add", path+"/guardians/{guardian_id}"
	return []web.Route{
		{Method: "GET", Pattern: add, Handle: p.site.SignedIn(actor.Coach, p.addGuardianPage)},
		{Method: "POST", Pattern: add, Handle: p.site.SignedIn(actor.Coach, p.addGuardian)},
		{Method: "GET", Pattern: one, Handle: p.site.SignedIn(actor.Coach, p.guardianPage)},
		{Method: "POST", Pattern: one, Handle: p.site.SignedIn(actor.Coach, p.editGuardian)},
		{Method: "POST", Pattern: one + "/first", Handle: p.site.SignedIn(actor.Coach, p.makeFirst)},
		{Method: "GET", Pattern: one + "/remove", Handle: p.site.SignedIn(actor.Coach, p.removeGuardianPage)},
		{Method: "POST", Pattern: one + "/remove", Handle: p.site.SignedIn(actor.Coach, p.removeGuardian)},
	}
}

// guardianOf returns a guardian of a player, or not_found.
func guardianOf(player *approval.Player, id string) (*approval.Party, error) {
	guardians := player.Guardians()
	if i := slices.IndexFunc(guardians, func(g *approval.Party) bool { return g.GuardianID == id }); i >= 0 {
		return guardians[i], nil
	}
	return nil, fault.Missing()
}

// guardianInPath returns the player and the guardian of a path.
func (p pages) guardianInPath(ctx context.Context, r *web.Request, by actor.Actor) (*approval.Player, *approval.Party, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return nil, nil, err
	}
	g, err := guardianOf(player, r.PathValue("guardian_id"))
	return player, g, err
}

// guardianEdit returns the form of a guardian.
func guardianEdit(player *approval.Player, g *approval.Party) edit {
	return edit{
		template: "edit_guardian", title: "edit_guardian.title", path: web.CoachPlayer(player.ID) + "/guardians/" + g.GuardianID,
		player: player, guardian: g, fields: guardianFields, stored: guardianValues(g),
	}
}

// guardianPage serves GET …/guardians/{guardian_id}.
func (p pages) guardianPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, g, err := p.guardianInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	e := guardianEdit(player, g)
	return p.editForm(r, by, e, r.Restored(&web.Form{Values: e.stored}), approval.EditEffect{}), nil
}

// editGuardian serves POST …/guardians/{guardian_id}.
func (p pages) editGuardian(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, g, err := p.guardianInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	return p.saveEdit(ctx, r, by, guardianEdit(player, g))
}

// addGuardianPage serves GET …/guardians/add.
func (p pages) addGuardianPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	return p.addGuardianForm(r, by, player, r.Restored(new(web.Form))), nil
}

func (p pages) addGuardianForm(r *web.Request, by actor.Actor, player *approval.Player, f *web.Form) web.Response {
	v := p.site.CoachView(r, "players", "add_guardian.title", by)
	v.Form = f
	v.Path = web.CoachPlayer(player.ID) + "/guardians/add"
	v.Data = map[string]any{"Player": player, "Entry": guardianFieldset{}, "Full": len(player.Guardians()) >= approval.MaxGuardians}
	return web.FormPage("add_guardian", v)
}

// addGuardian serves POST …/guardians/add. The same form sent twice leads to the guardian that the first one added.
func (p pages) addGuardian(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	if err := p.Coaches.Complete(ctx, by); err != nil {
		return web.Response{}, err
	}
	var faults wire.Faults
	var in guardianBody
	wire.Bind(guardianIn(r, ""), &in, &faults)
	person := in.guardian(input.Reader{Phones: p.site.Phones, Now: p.Now(), Faults: &faults}, "")
	for _, g := range player.Guardians() {
		if g.Name == person.Name && g.Number == person.Number && p.Now().Sub(g.Consent.PendingSince) < sameForm {
			return web.Redirect(web.CoachPlayer(player.ID) + "?done=guardian_added"), nil
		}
	}
	err = movedFaults(faults.Err(), "/", "/guardian/")
	if err == nil {
		if _, _, err = p.AddGuardian(ctx, by, player.ID, person); err == nil {
			return web.Redirect(web.CoachPlayer(player.ID) + "?done=guardian_added"), nil
		}
	}
	f := &web.Form{Values: r.Form}
	if !p.addPlayerFaults(r, f, ofGuardian(err, "/guardian/"), playerFields, "relationship", "guardian_number") {
		return web.Response{}, err
	}
	return p.addGuardianForm(r, by, player, f), nil
}

// makeFirst serves POST …/guardians/{guardian_id}/first.
func (p pages) makeFirst(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, g, err := p.guardianInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	first := 1
	if _, err := p.Edit(ctx, by, player.ID, approval.Patch{GuardianID: g.GuardianID, Position: &first}); err != nil {
		return web.Response{}, err
	}
	return web.Redirect(web.CoachPlayer(player.ID) + "?tab=details&done=saved"), nil
}

// removeGuardianPage serves GET …/guardians/{guardian_id}/remove: it says what ends, and asks who becomes the first.
func (p pages) removeGuardianPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, g, err := p.guardianInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	return p.removeGuardianForm(r, by, player, g, &web.Form{Values: url.Values{}}), nil
}

func (p pages) removeGuardianForm(r *web.Request, by actor.Actor, player *approval.Player, g *approval.Party, f *web.Form) web.Response {
	v := p.site.CoachView(r, "players", "remove_guardian.title", by)
	v.Form = f
	others := slices.DeleteFunc(player.Guardians(), func(o *approval.Party) bool { return o.GuardianID == g.GuardianID })
	v.Path = web.CoachPlayer(player.ID) + "/guardians/" + g.GuardianID + "/remove"
	data := map[string]any{"Player": player, "Guardian": g, "Others": others, "Needed": len(others) == 0 && !player.Adult(p.Now()), "AsksFirst": false}
	data["AsksFirst"] = len(others) > 0 && player.Guardian().GuardianID == g.GuardianID
	v.Data = data
	return web.FormPage("remove_guardian", v)
}

// removeGuardian serves POST …/guardians/{guardian_id}/remove. The same form sent twice finds no guardian the second time, and
// succeeds.
func (p pages) removeGuardian(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	removed := web.Redirect(web.CoachPlayer(player.ID) + "?done=guardian_removed")
	g, err := guardianOf(player, r.PathValue("guardian_id"))
	if err != nil {
		return removed, nil
	}
	err = p.RemoveGuardian(ctx, by, player.ID, g.GuardianID, web.IDOrNone(r.Value("next")))
	if err == nil || fault.KindOf(err) == fault.NotFound {
		return removed, nil
	}
	f := &web.Form{Values: r.Form}
	if fault.CodeOf(err) == "first_guardian" {
		p.site.AddError(r, f, "next", err)
	} else if !p.site.AddFaults(r, f, err, nil) {
		return web.Response{}, err
	}
	return p.removeGuardianForm(r, by, player, g, f), nil
}
