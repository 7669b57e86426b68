package consent

import (
	"context"
	"errors"
	"strings"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// guardianEntry is the GuardianEntry of openapi.yaml: a guardian as the coach and the guardian see it.
type guardianEntry struct {
	GuardianID string `json:"guardian_id"`
	Position   int    `json:"position"`
	// Name to Language are absent for a guardian before its approval, because the number can be wrong.
	*guardianResponse
	Status          string              `json:"status"`
	State           approval.State      `json:"state"`
	StatusUpdatedAt *string             `json:"status_updated_at"`
	RequestID       *string             `json:"request_id"`
	AppEnabled      bool                `json:"app_enabled"`
	GuardianProof   approval.ProofState `json:"guardian_proof"`
}

// otherGuardian is what a party sees of a guardian who is someone else, in a GuardianEntry of openapi.yaml.
type otherGuardian struct {
	Relationship string `json:"relationship"`
	FirstName    string `json:"first_name"`
	Position     int    `json:"position"`
}

// guardians returns the guardians of p as the caller may see them. A party that has not approved sees only itself.
func (v view) guardians(p *approval.Player) []any {
	list := []any{}
	own := p.PartyOf(v.by)
	details := p.DisclosedTo(v.by) == approval.Details
	for i, g := range p.Guardians() {
		switch {
		case v.by.Role == actor.Coach || own != nil && own.Role == actor.Guardian && own.GuardianID == g.GuardianID:
			list = append(list, v.guardian(p, g, i+1, details))
		case details:
			list = append(list, otherGuardian{g.Relationship, g.FirstName(), i + 1})
		}
	}
	return list
}

// guardian returns a guardian with its consent.
func (v view) guardian(p *approval.Player, g *approval.Party, position int, details bool) guardianEntry {
	e := guardianEntry{
		GuardianID: g.GuardianID, Position: position, Status: g.Consent.State.Status(), State: g.Consent.State,
		StatusUpdatedAt: wire.TimestampOrNull(g.Consent.ChangedAt), AppEnabled: g.Consent.State == approval.Approved && !v.unproved(),
		GuardianProof: v.rules.ProofState(p, g, v.now),
	}
	if details {
		e.guardianResponse = &guardianResponse{g.Name, g.Relationship, string(g.Number), wire.OrNull(g.Email), wire.OrNull(g.Language)}
	}
	if r := g.OpenRequest(); r != nil {
		e.RequestID = &r.ID
	}
	return e
}

func (v view) unproved() bool { return v.rules.Unproved != nil && v.rules.Unproved() }

// guardianApproval returns what the answers of all guardians mean together. It is null for one of several guardians, because it
// would say what another one answered.
func (v view) guardianApproval(p *approval.Player) *string {
	if v.by.Role == actor.Guardian && len(p.Guardians()) > 1 {
		return nil
	}
	return wire.OrNull(string(p.GuardianApproval()))
}

// movedFaults returns err with the faults below one pointer moved below another.
func movedFaults(err error, from, to string) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	moved := *f
	moved.Fields = append([]fault.Field(nil), f.Fields...)
	for i := range moved.Fields {
		if rest, found := strings.CutPrefix(moved.Fields[i].Pointer, from); found {
			moved.Fields[i].Pointer = to + rest
		}
	}
	return &moved
}

// ofGuardian returns err with the faults of a guardian below a pointer: package approval names the guardians of a player.
func ofGuardian(err error, to string) error {
	err = movedFaults(err, "/guardian/", to)
	for _, i := range []string{"1", "2", "3"} {
		err = movedFaults(err, "/guardians/"+i+"/", to)
	}
	return err
}

// addGuardian serves POST /api/players/{player_id}/guardians.
func (h handlers) addGuardian(ctx context.Context, r api.Request[guardianBody], id string) (api.Response, error) {
	f := r.Faults
	person := r.Body.guardian(h.api.Reader(&f), "")
	if err := h.api.CheckFaults(ctx, r.Caller.Actor, id, f); err != nil {
		return api.Response{}, err
	}
	p, guardianID, err := h.AddGuardian(ctx, r.Caller.Actor, id, person)
	if err != nil {
		return api.Response{Subject: id}, ofGuardian(err, "/")
	}
	return h.guardianAdded(r.Caller, p, guardianID)
}

// guardianAdded returns the response with a new guardian.
func (h handlers) guardianAdded(caller api.Caller, p *approval.Player, guardianID string) (api.Response, error) {
	v := h.view(caller)
	for i, g := range p.Guardians() {
		if g.GuardianID == guardianID {
			return endpoint.Created("/api/players/"+p.ID+"/guardians/"+guardianID, v.guardian(p, g, i+1, true)).WithSubject(p.ID), nil
		}
	}
	return api.Response{}, fault.Missing()
}

// guardianChange is the GuardianChange of openapi.yaml.
type guardianChange struct {
	Name         *string          `json:"name" rule:"notnull,name,min=1,max=100"`
	Relationship *string          `json:"relationship" rule:"notnull,name,min=1,max=50"`
	MobileNumber *string          `json:"mobile_number" rule:"notnull,min=1,max=64"`
	Email        wire.Opt[string] `json:"email"`
	Language     wire.Opt[string] `json:"language" rule:"min=1,max=35"`
	// Position moves the guardian there; 1 makes it the first.
	Position *int `json:"position" rule:"notnull,min=1,max=4"`
}

// updateGuardian serves PATCH /api/players/{player_id}/guardians/{guardian_id}.
func (h handlers) updateGuardian(ctx context.Context, r api.Request[guardianChange], id string) (api.Response, error) {
	f := r.Faults
	guardianID, err := h.guardianIn(ctx, r.Meta, id)
	if err != nil {
		return api.Response{}, err
	}
	in := r.Body
	person := guardianPatchBody{in.Name, in.Relationship, in.MobileNumber, in.Email, in.Language}
	patch := approval.Patch{GuardianID: guardianID, Guardian: person.read(h.api.Reader(&f), ""), Position: in.Position}
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	if patch.MayOpenRequest() {
		if err := h.Coaches.Complete(ctx, r.Caller.Actor); err != nil {
			return api.Response{}, err
		}
	}
	p, err := h.Edit(ctx, r.Caller.Actor, id, patch)
	if err != nil {
		return api.Response{Subject: id}, ofGuardian(err, "/")
	}
	added, err := h.guardianAdded(r.Caller, p, guardianID)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(added.Body).WithSubject(id), nil
}

// guardianIn returns the guardian that a path names, or not_found unless the calling coach has the player and the guardian.
func (h handlers) guardianIn(ctx context.Context, m api.Meta, playerID string) (string, error) {
	guardianID, err := m.PathID("guardian_id")
	if err != nil {
		return "", err
	}
	p, err := h.Player(ctx, m.Caller.Actor, playerID)
	if err != nil {
		return "", err
	}
	for _, g := range p.Guardians() {
		if g.GuardianID == guardianID {
			return guardianID, nil
		}
	}
	return "", fault.Missing()
}

// removeGuardian serves DELETE /api/players/{player_id}/guardians/{guardian_id}.
func (h handlers) removeGuardian(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	f := r.Faults
	guardianID, err := h.guardianIn(ctx, r.Meta, id)
	if err != nil {
		return api.Response{}, err
	}
	next := api.QueryText(r.Query, "next", &f, wire.ParseRules("id"))
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	if err := h.RemoveGuardian(ctx, r.Caller.Actor, id, guardianID, next); err != nil {
		return api.Response{Subject: id}, err
	}
	return endpoint.NoContent().WithSubject(id), nil
}
