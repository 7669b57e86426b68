package web

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/input"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// addPlayerPage serves GET /coach/players/add.
func (p *Pages) addPlayerPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	if err := p.Coaches.Complete(ctx, by); err != nil {
		if fault.CodeOf(err) == "profile_incomplete" {
			return Redirect("/coach/profile"), nil
		}
		return Response{}, err
	}
	return p.addPlayerForm(ctx, r, by, r.Restored(&Form{Values: url.Values{"batch": r.Form["batch"]}}))
}

func (p *Pages) addPlayerForm(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	v, err := p.CoachView(ctx, r, "players", "add.title", by)
	if err != nil {
		return Response{}, err
	}
	batches, err := p.BatchNames(ctx, by, offeredBatches)
	if err != nil {
		return Response{}, err
	}
	v.Form = f
	v.Path = "/coach/players/add"
	v.Data = map[string]any{"Batches": batches, "Chosen": f.Values["batch"]}
	return FormPage("add_player", v), nil
}

// playerFields maps the pointers of input.Player to the fields of the form.
var playerFields = map[string]string{
	"/student/full_name": "student_name", "/student/date_of_birth": "date_of_birth", "/student/contact_number": "student_number",
	"/student/medical_information": "medical", "/student/language": "student_language", "/guardian": "guardian_name", "/guardian/name": "guardian_name",
	"/guardian/relationship": "relationship", "/guardian/mobile_number": "guardian_number", "/guardian/email": "guardian_email",
	"/guardian/language": "guardian_language", "/batch_ids": "batches",
}

// addPlayer serves POST /coach/players/add. The same form sent twice leads to the player
// that the first one added.
func (p *Pages) addPlayer(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	if err := p.Coaches.Complete(ctx, by); err != nil {
		return Response{}, err
	}
	var faults wire.Faults
	in := playerForm(r, &faults)
	student, guardian := in.Read(input.Reader{Phones: p.Phones, Now: p.Now(), Faults: &faults})
	err := faults.Err()
	if err == nil {
		player, added := p.Approvals.Add(ctx, by, student, guardian, chosenBatches(r)...)
		if added == nil {
			return Redirect(coachPlayer(player.ID) + "?added=yes"), nil
		}
		err = added
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == "player_exists" {
		if id, ok := f.Extra["player_id"].(string); ok {
			return p.addedBefore(ctx, by, id)
		}
	}
	f := &Form{Values: r.Form}
	if !p.addPlayerFaults(r, f, err) {
		return Response{}, err
	}
	return p.addPlayerForm(ctx, r, by, f)
}

// sameForm is how long the same form counts as sent twice by mistake.
const sameForm = time.Minute

// addedBefore redirects to the page of a player that the coach has already. A player that was
// added in the last minute was added by the same form.
func (p *Pages) addedBefore(ctx context.Context, by actor.Actor, id string) (Response, error) {
	player, err := p.Approvals.Player(ctx, by, id)
	if err != nil {
		return Response{}, err
	}
	if p.Now().Sub(player.CreatedAt) < sameForm {
		return Redirect(coachPlayer(id) + "?added=yes"), nil
	}
	return Redirect(coachPlayer(id) + "?added=before"), nil
}

// playerForm reads the form into the body that the API takes.
func playerForm(r *Request, f *wire.Faults) input.Player {
	student := map[string]any{}
	SetGiven(student, "full_name", r.Value("student_name"))
	SetGiven(student, "date_of_birth", r.Value("date_of_birth"))
	SetGiven(student, "contact_number", r.Value("student_number"))
	SetGiven(student, "medical_information", r.Value("medical"))
	SetGiven(student, "language", r.Value("student_language"))
	body := map[string]any{"student": student}
	guardian := map[string]any{}
	SetGiven(guardian, "name", r.Value("guardian_name"))
	SetGiven(guardian, "relationship", r.Value("relationship"))
	SetGiven(guardian, "mobile_number", r.Value("guardian_number"))
	SetGiven(guardian, "email", r.Value("guardian_email"))
	if len(guardian) > 0 {
		SetGiven(guardian, "language", r.Value("guardian_language"))
		body["guardian"] = guardian
	}
	var in input.Player
	wire.Bind(body, &in, f)
	return in
}

// chosenBatches returns the batches that are selected in a form.
func chosenBatches(r *Request) []string {
	ids := slices.DeleteFunc(slices.Clone(r.Form["batch"]), func(id string) bool { return !endpoint.IsID(id) })
	return ids[:min(len(ids), team.MaxBatchesOfPlayer)]
}

// SetGiven sets a member unless the field of the form is empty.
func SetGiven(object map[string]any, name, value string) {
	if value != "" {
		object[name] = value
	}
}

// coachPlayer returns the page of a player for its coach.
func coachPlayer(id string) string { return "/coach/players/" + id }
