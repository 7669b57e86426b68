package consent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// edit is a form that changes a player: the player with its only guardian, or one of the guardians.
type edit struct {
	template, title, path string
	player                *approval.Player
	// guardian is the guardian whose fields the form has, or nil.
	guardian *approval.Party
	fields   []editField
	// stored are the values of the fields as they are stored.
	stored url.Values
	// removes says that a form whose fields of the guardian are all empty removes the guardian.
	removes bool
}

// playerEdit returns the form of a player, with the fields of the guardian g if withGuardian. Several guardians have a form each.
func playerEdit(player *approval.Player, withGuardian bool, g *approval.Party) edit {
	e := edit{
		template: "edit_player", title: "edit.title", path: web.CoachPlayer(player.ID) + "/edit",
		player: player, fields: studentFields, stored: studentValues(player), removes: true,
	}
	if withGuardian {
		e.fields, e.guardian = slices.Concat(studentFields, guardianFields), g
		maps.Copy(e.stored, guardianValues(g))
	} else {
		e.fields = append(slices.Clone(studentFields), ruleField)
		e.stored.Set(ruleField.Field, string(player.Rule))
	}
	return e
}

// studentValues returns the fields of the student as they are stored.
func studentValues(player *approval.Player) url.Values {
	s, own := player.Student, player.Party(actor.Student)
	values := url.Values{
		"student_name": {s.FullName}, "date_of_birth": {s.DateOfBirth.String()}, "student_number": {""}, "medical": {s.Medical}, "student_language": {own.Language},
	}
	if own.Number != "" {
		values.Set("student_number", own.Number.Format())
	}
	return values
}

// guardianValues returns the fields of a guardian as they are stored; g may be nil.
func guardianValues(g *approval.Party) url.Values {
	if g == nil {
		return nil
	}
	return url.Values{
		"guardian_name": {g.Name}, "relationship": {g.Relationship}, "guardian_number": {g.Number.Format()},
		"guardian_email": {g.Email}, "guardian_language": {g.Language},
	}
}

// editPlayerPage serves GET /coach/players/{player_id}/edit. The form shows the medical text, which
// is a reading of it.
func (p pages) editPlayerPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.Medical(ctx, by, r.PathValue("player_id"), approval.ReadToEdit)
	if err != nil {
		return web.Response{}, err
	}
	e := playerEdit(player, len(player.Guardians()) < 2, player.Guardian())
	return p.editForm(r, by, e, r.Restored(&web.Form{Values: e.stored}), approval.EditEffect{}), nil
}

// editForm returns the page with the form. If effect is not empty, it returns the check
// page, which explains the effect on the consents.
func (p pages) editForm(r *web.Request, by actor.Actor, e edit, f *web.Form, effect approval.EditEffect) web.Response {
	v := p.site.CoachView(r, "players", e.title, by)
	v.Form = f
	v.Path = e.path
	v.Data = map[string]any{
		"Player": e.player, "Guardian": e.guardian, "Adult": e.player.Adult(p.Now()), "Effect": effect, "Fields": e.fields, "Shown": e.shown(f),
		"HasRule": p.Rules.GuardianBelow > 0, "Entry": guardianFieldset{},
	}
	if effect.Any() {
		return web.Page("edit_player_check", v)
	}
	return web.FormPage(e.template, v)
}

// editPlayer serves POST …/edit.
func (p pages) editPlayer(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	guardian := player.Guardian()
	if shown := r.Value("guardian_id"); shown != "" { // the form may be older than another first guardian
		if guardian, err = guardianOf(player, shown); err != nil {
			f := &web.Form{Values: r.Form}
			p.site.AddError(r, f, "", errChangedMeanwhile)
			return p.playerPage(ctx, r, by, f)
		}
	}
	return p.saveEdit(ctx, r, by, playerEdit(player, len(player.Guardians()) < 2 || r.Form.Has("guardian_name"), guardian))
}

// saveEdit saves a form. A change that ends or asks for a consent is saved only after the coach has confirmed the check page. The
// same form sent twice changes nothing more.
func (p pages) saveEdit(ctx context.Context, r *web.Request, by actor.Actor, e edit) (web.Response, error) {
	if r.Value("back") == "yes" {
		return p.editForm(r, by, e, &web.Form{Values: r.Form}, approval.EditEffect{}), nil
	}
	var effect approval.EditEffect
	var faults wire.Faults
	patch := e.read(r, &faults).read(input.Reader{Phones: p.site.Phones, Now: p.Now(), Faults: &faults})
	err := faults.Err()
	if e.guardian != nil {
		patch.GuardianID = e.guardian.GuardianID
	}
	if err == nil && patch.MayOpenRequest() {
		err = p.Coaches.Complete(ctx, by)
	}
	if err == nil {
		effect, err = p.PreviewEdit(ctx, by, e.player.ID, patch)
	}
	if err == nil && (!effect.Any() || r.Value("checked") == "yes") {
		if _, err = p.Edit(ctx, by, e.player.ID, patch); err == nil {
			return web.Redirect(web.CoachPlayer(e.player.ID) + "?tab=details&done=saved"), nil
		}
	}
	f := &web.Form{Values: r.Form}
	if err != nil {
		effect = approval.EditEffect{}
		if !p.addPlayerFaults(r, f, ofGuardian(err, "/guardian/"), playerFields, "relationship", "guardian_number") {
			return web.Response{}, err
		}
	}
	return p.editForm(r, by, e, f, effect), nil
}

// addPlayerFaults shows an error that the coach can correct in the form of a player. It
// returns false if err is another error.
func (p pages) addPlayerFaults(r *web.Request, f *web.Form, err error, fields map[string]string, needed ...string) bool {
	if p.site.AddFaults(r, f, err, fields) {
		// Without any of the needed fields there is no guardian, which is one fault.
		missing := f.Fault("guardian_name")
		for _, name := range needed {
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

// editField is a field of a form and the member of playerPatchBody that it changes, in an object or, if that is empty, itself.
type editField struct {
	Field          string
	object, member string
	optional       bool // an empty field clears the member
}

var (
	studentFields = []editField{
		{"student_name", "student", "full_name", false},
		{"date_of_birth", "student", "date_of_birth", false},
		{"student_number", "student", "contact_number", true},
		{"medical", "student", "medical_information", true},
		{"student_language", "student", "language", true},
	}
	guardianFields = []editField{
		{"guardian_name", "guardian", "name", false},
		{"relationship", "guardian", "relationship", false},
		{"guardian_number", "guardian", "mobile_number", false},
		{"guardian_email", "guardian", "email", true},
		{"guardian_language", "guardian", "language", true},
	}
	ruleField = editField{"guardian_rule", "", "guardian_rule", false}
)

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

// shown returns the hidden fields of the form f: those that were sent, or of what is stored.
func (e edit) shown(f *web.Form) map[string]string {
	shown := map[string]string{}
	if e.guardian != nil {
		shown["guardian_id"] = e.guardian.GuardianID
	}
	for _, field := range e.fields {
		shown[shownField+field.Field] = digest(e.stored.Get(field.Field))
	}
	for name := range shown {
		if sent := f.Values[name]; len(sent) > 0 {
			shown[name] = sent[0]
		}
	}
	return shown
}

// read reads the fields that differ from what is stored, and from what the form showed, into the body that the API takes.
func (e edit) read(r *web.Request, f *wire.Faults) playerPatchBody {
	body := map[string]any{}
	guardian := false
	for _, field := range e.fields {
		value, shown := r.Value(field.Field), shownField+field.Field
		guardian = guardian || field.object == "guardian" && value != "" && field.Field != "guardian_language"
		if strings.ReplaceAll(value, "\r\n", "\n") == e.stored.Get(field.Field) || r.Form.Has(shown) && digest(value) == r.Value(shown) {
			continue
		}
		object, _ := body[field.object].(map[string]any)
		switch {
		case field.object == "":
			object = body
		case object == nil:
			object = map[string]any{}
			body[field.object] = object
		}
		object[field.member] = value
		if value == "" && field.optional {
			object[field.member] = nil
		}
	}
	if e.removes && !guardian {
		delete(body, "guardian")
		if e.guardian != nil && (!r.Form.Has(shownField+"guardian_name") || r.Value(shownField+"guardian_name") != "") {
			body["guardian"] = nil
		}
	}
	var in playerPatchBody
	wire.Bind(body, &in, f)
	return in
}
