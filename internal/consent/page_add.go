package consent

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

// addPlayerPage serves GET /coach/players/add.
func (p pages) addPlayerPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.Coaches.Complete(ctx, by); err != nil {
		if fault.CodeOf(err) == "profile_incomplete" {
			return web.Redirect("/coach/profile"), nil
		}
		return web.Response{}, err
	}
	values := url.Values{"family": {web.IDOrNone(r.Value("family"))}}
	last, err := p.lastPlayer(ctx, by, r.Value("after"))
	if err != nil {
		return web.Response{}, err
	}
	setDefaults(values, last)
	if r.Form.Has("batch") {
		values["batch"] = r.Form["batch"]
	}
	return p.addPlayerForm(ctx, r, by, r.Restored(&web.Form{Values: values}))
}

func (p pages) addPlayerForm(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	v := p.site.CoachView(r, "players", "add.title", by)
	batches, err := store.BatchNames(ctx, p.DB, by.AccountID, offeredBatches)
	if err != nil {
		return web.Response{}, err
	}
	families, err := p.families(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	v.Form = f
	v.Path = "/coach/players/add"
	basis := cmp.Or(f.Values.Get("basis"), string(p.Rules.DefaultBasis()))
	v.Data = map[string]any{
		"Batches": batches, "Chosen": f.Values["batch"], "BasisKinds": approval.BasisKinds, "Basis": basis,
		"Guardian": guardianFieldsets(f), "HasRule": p.Rules.GuardianBelow > 0, "Adult": false,
		"Families": families, "More": hasMore(f), "Last": (*approval.Player)(nil),
	}
	if r.Method == "GET" && r.Value("after") != "" && len(f.Faults) == 0 {
		if v.Data.(map[string]any)["Last"], err = p.lastPlayer(ctx, by, r.Value("after")); err != nil {
			return web.Response{}, err
		}
	}
	return web.FormPage("add_player", v), nil
}

// playerFields maps the pointers of addPlayerRequest to the fields of the form.
var playerFields = map[string]string{
	"/student/full_name": "student_name", "/student/date_of_birth": "date_of_birth", "/student/contact_number": "student_number",
	"/student/medical_information": "medical", "/student/language": "student_language", "/guardian": "guardian_name", "/guardian/name": "guardian_name",
	"/guardian/relationship": "relationship", "/guardian/mobile_number": "guardian_number", "/guardian/email": "guardian_email",
	"/guardian/language": "guardian_language", "/guardian_rule": "guardian_rule", "/batch_ids": "batches", "/basis/kind": "basis", "/basis/note": "basis_note",
}

// addPlayer serves POST /coach/players/add. The same form sent twice leads to the player
// that the first one added.
func (p pages) addPlayer(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.Coaches.Complete(ctx, by); err != nil {
		return web.Response{}, err
	}
	var faults wire.Faults
	in, entered, err := p.playerForm(ctx, r, by, &faults)
	if err != nil {
		return web.Response{}, err
	}
	student, guardians := in.read(input.Reader{Phones: p.site.Phones, Now: p.Now(), Faults: &faults})
	if len(guardians) == 0 && faults.Has("/student/date_of_birth") { // one list names what a child needs, too
		faults.Add("/guardian", "required", approval.GuardianNeeded)
	}
	if err = faults.Err(); err == nil {
		player, added := p.AddWith(ctx, by, student, guardians, chosenBatches(r)...)
		if added == nil {
			return afterAdding(r, player.ID, "yes"), nil
		}
		err = added
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == "player_exists" {
		if id, ok := f.Extra["player_id"].(string); ok {
			return p.addedBefore(ctx, r, by, id)
		}
	}
	f := &web.Form{Values: r.Form}
	if !p.addPlayerFaults(r, f, err, addFields(entered), "guardian_number") {
		return web.Response{}, err
	}
	return p.addPlayerForm(ctx, r, by, f)
}

// sameForm is how long the same form counts as sent twice by mistake.
const sameForm = time.Minute

// addedBefore redirects to the page of a player that the coach has already. A player that was
// added in the last minute was added by the same form.
func (p pages) addedBefore(ctx context.Context, r *web.Request, by actor.Actor, id string) (web.Response, error) {
	player, err := p.Player(ctx, by, id)
	if err != nil {
		return web.Response{}, err
	}
	if p.Now().Sub(player.CreatedAt) < sameForm {
		return afterAdding(r, id, "yes"), nil
	}
	return web.Redirect(web.CoachPlayer(id) + "?added=before"), nil
}

// afterAdding leads to the page of the new player, or to an empty form if the coach pressed "Add and next".
func afterAdding(r *web.Request, id, added string) web.Response {
	if r.Value("next") == "yes" {
		return web.Redirect("/coach/players/add?after=" + id)
	}
	return web.Redirect(web.CoachPlayer(id) + "?added=" + added)
}

// playerForm reads the form into the body that the API takes. entered are the suffixes of the guardians that it has. A
// chosen family stands in place of guardians in the form.
func (p pages) playerForm(ctx context.Context, r *web.Request, by actor.Actor, f *wire.Faults) (in addPlayerRequest, entered []string, err error) {
	student := map[string]any{}
	web.SetGiven(student, "full_name", r.Value("student_name"))
	web.SetGiven(student, "date_of_birth", r.Value("date_of_birth"))
	web.SetGiven(student, "contact_number", r.Value("student_number"))
	web.SetGiven(student, "medical_information", r.Value("medical"))
	web.SetGiven(student, "language", r.Value("student_language"))
	body := map[string]any{"student": student}
	if kind := r.Value("basis"); kind != "" {
		basis := map[string]any{"kind": kind}
		if kind == string(approval.OtherBasis) { // the field is hidden with another kind
			web.SetGiven(basis, "note", r.Value("basis_note"))
		}
		body["basis"] = basis
	}
	web.SetGiven(body, "guardian_rule", r.Value("guardian_rule"))
	if id := web.IDOrNone(r.Value("family")); id != "" {
		if err := p.sameGuardians(ctx, by, id, body); err != nil {
			return in, nil, err
		}
		wire.Bind(body, &in, f)
		return in, nil, nil
	}
	var guardians []any
	for _, suffix := range guardianSuffixes {
		if g := guardianIn(r, suffix); g != nil {
			if r.Value("relationship"+suffix) == "" && suffix == "" {
				g["relationship"] = p.site.NewView(r, "add.title").MustT("add.relationship.default")
			}
			guardians, entered = append(guardians, g), append(entered, suffix)
		}
	}
	if len(guardians) > 0 {
		body["guardians"] = guardians
	}
	wire.Bind(body, &in, f)
	return in, entered, nil
}

// chosenBatches returns the batches that are selected in a form.
func chosenBatches(r *web.Request) []string {
	ids := slices.DeleteFunc(slices.Clone(r.Form["batch"]), func(id string) bool { return !endpoint.IsID(id) })
	return ids[:min(len(ids), team.MaxBatchesOfPlayer)]
}
