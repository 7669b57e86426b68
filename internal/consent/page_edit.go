package consent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// editPlayerPage serves GET /coach/players/{player_id}/edit. The form shows the medical text, which
// is a reading of it.
func (p pages) editPlayerPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.Medical(ctx, by, r.PathValue("player_id"), approval.ReadToEdit)
	if err != nil {
		return web.Response{}, err
	}
	return p.editPlayerForm(ctx, r, by, player, r.Restored(&web.Form{Values: playerValues(player)}), approval.EditEffect{})
}

// playerValues returns the form of a player as it is stored.
func playerValues(player *approval.Player) url.Values {
	s, own := player.Student, player.Party(actor.Student)
	values := url.Values{
		"student_name": {s.FullName}, "date_of_birth": {s.DateOfBirth.String()}, "student_number": {""}, "medical": {s.Medical}, "student_language": {own.Language},
	}
	if own.Number != "" {
		values.Set("student_number", own.Number.Format())
	}
	if g := player.Guardian(); g != nil {
		values.Set("guardian_name", g.Name)
		values.Set("relationship", g.Relationship)
		values.Set("guardian_number", g.Number.Format())
		values.Set("guardian_email", g.Email)
		values.Set("guardian_language", g.Language)
	}
	return values
}

// editPlayerForm returns the page with the form. If effect is not empty, it returns the check
// page, which explains the effect on the consents.
func (p pages) editPlayerForm(ctx context.Context, r *web.Request, by actor.Actor, player *approval.Player, f *web.Form, effect approval.EditEffect) (web.Response, error) {
	v := p.site.CoachView(r, "players", "edit.title", by)
	v.Form = f
	v.Path = web.CoachPlayer(player.ID) + "/edit"
	v.Data = map[string]any{"Player": player, "Adult": player.Adult(p.Now()), "Effect": effect, "Fields": editFields, "Shown": shownValues(f, player)}
	if effect.Any() {
		return web.Page("edit_player_check", v), nil
	}
	return web.FormPage("edit_player", v), nil
}

// editPlayer serves POST …/edit. A change that ends or asks for a consent is saved only
// after the coach has confirmed the check page. The same form sent twice changes nothing more.
func (p pages) editPlayer(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	if r.Value("back") == "yes" {
		return p.editPlayerForm(ctx, r, by, player, &web.Form{Values: r.Form}, approval.EditEffect{})
	}
	var effect approval.EditEffect
	var faults wire.Faults
	patch := readPlayerPatch(r, player, &faults).read(input.Reader{Phones: p.site.Phones, Now: p.Now(), Faults: &faults})
	if err = faults.Err(); err == nil && patch.MayOpenRequest() {
		err = p.site.Coaches.Complete(ctx, by)
	}
	if err == nil {
		effect, err = p.PreviewEdit(ctx, by, player.ID, patch)
	}
	if err == nil && (!effect.Any() || r.Value("checked") == "yes") {
		if _, err = p.Edit(ctx, by, player.ID, patch); err == nil {
			return web.Redirect(web.CoachPlayer(player.ID) + "?tab=details&done=saved"), nil
		}
	}
	f := &web.Form{Values: r.Form}
	if err != nil {
		effect = approval.EditEffect{}
		if !p.addPlayerFaults(r, f, err) {
			return web.Response{}, err
		}
	}
	return p.editPlayerForm(ctx, r, by, player, f, effect)
}

// addPlayerFaults shows an error that the coach can correct in the form of a player. It
// returns false if err is another error.
func (p pages) addPlayerFaults(r *web.Request, f *web.Form, err error) bool {
	if p.site.AddFaults(r, f, err, playerFields) {
		// Without any of the three fields there is no guardian, which is one fault.
		missing := f.Fault("guardian_name")
		for _, name := range []string{"relationship", "guardian_number"} {
			if missing != "" && r.Value("guardian_name")+r.Value(name) == "" && f.Fault(name) == "" {
				f.Add(name, missing)
			}
		}
		return true
	}
	if _, ok := errors.AsType[*fault.Error](err); !ok {
		return false
	}
	switch fault.KindOf(err) {
	case fault.Conflict, fault.Forbidden:
		p.site.AddError(r, f, "", err)
		return true
	}
	return false
}

// editFields maps the fields of the form to the members of playerPatchBody.
var editFields = []struct {
	Field          string
	object, member string
	optional       bool // an empty field clears the member
}{
	{"student_name", "student", "full_name", false},
	{"date_of_birth", "student", "date_of_birth", false},
	{"student_number", "student", "contact_number", true},
	{"medical", "student", "medical_information", true},
	{"student_language", "student", "language", true},
	{"guardian_name", "guardian", "name", false},
	{"relationship", "guardian", "relationship", false},
	{"guardian_number", "guardian", "mobile_number", false},
	{"guardian_email", "guardian", "email", true},
	{"guardian_language", "guardian", "language", true},
}

// shownField is the prefix of hidden fields. Each has the digest of the value that the form showed
// at first. Another device may have changed the player since: a field that the coach left unchanged
// must not undo that change.
const shownField = "shown_"

// digest returns a short hash of the value of a field, "" of an empty one.
func digest(value string) string {
	if value = strings.TrimSpace(strings.ReplaceAll(value, "\r\n", "\n")); value == "" {
		return ""
	}
	hash := sha256.Sum256([]byte(value))
	return hex.EncodeToString(hash[:8])
}

// shownValues returns the hidden fields of the form f: those that were sent, or the stored player.
func shownValues(f *web.Form, player *approval.Player) map[string]string {
	shown, stored := map[string]string{}, playerValues(player)
	for _, field := range editFields {
		shown[shownField+field.Field] = digest(stored.Get(field.Field))
		if sent := f.Values[shownField+field.Field]; len(sent) > 0 {
			shown[shownField+field.Field] = sent[0]
		}
	}
	return shown
}

// readPlayerPatch reads the fields that differ from the player, and from what the form showed,
// into the body that the API takes. A guardian that the form showed is removed if all its fields
// are empty.
func readPlayerPatch(r *web.Request, player *approval.Player, f *wire.Faults) playerPatchBody {
	before := playerValues(player)
	body := map[string]any{}
	guardian := false
	for _, field := range editFields {
		value, shown := r.Value(field.Field), shownField+field.Field
		guardian = guardian || field.object == "guardian" && value != "" && field.Field != "guardian_language"
		if strings.ReplaceAll(value, "\r\n", "\n") == before.Get(field.Field) || r.Form.Has(shown) && digest(value) == r.Value(shown) {
			continue
		}
		object, _ := body[field.object].(map[string]any)
		if object == nil {
			object = map[string]any{}
			body[field.object] = object
		}
		object[field.member] = value
		if value == "" && field.optional {
			object[field.member] = nil
		}
	}
	if !guardian {
		delete(body, "guardian")
		if player.Guardian() != nil && (!r.Form.Has(shownField+"guardian_name") || r.Value(shownField+"guardian_name") != "") {
			body["guardian"] = nil
		}
	}
	var in playerPatchBody
	wire.Bind(body, &in, f)
	return in
}
