package web

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/wire"
)

// partyView is one party on the page of a player.
type partyView struct {
	Party    actor.Role
	Name     string
	Number   phone.Number
	Consent  approval.Consent
	Request  *approval.Request // the newest, or nil
	Optional bool              // the guardian of an adult
}

// Open returns the open request, or nil.
func (v partyView) Open() *approval.Request {
	if v.Request != nil && v.Request.State == approval.RequestPending {
		return v.Request
	}
	return nil
}

// Disputed reports whether the party said that the number is wrong.
func (v partyView) Disputed() bool {
	return v.Request != nil && v.Request.State == approval.RequestDisputed
}

// CanAsk reports whether the coach can send a question, because none is open.
func (v partyView) CanAsk() bool {
	return v.Number != "" && v.Open() == nil && v.Consent.State != approval.Approved
}

// player serves GET /coach/players/{player_id}: both parties with their deliveries, and
// the history.
func (p *Pages) player(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.playerPage(ctx, r, by, new(Form))
}

func (p *Pages) playerPage(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	id, err := r.PathID("player_id")
	if err != nil {
		return Response{}, err
	}
	player, history, err := p.Approvals.Status(ctx, by, id)
	if err != nil {
		return Response{}, err
	}
	v, err := p.coachView(ctx, r, "players", "player.title", by)
	if err != nil {
		return Response{}, err
	}
	var parties []partyView
	for _, party := range approval.Parties {
		if party == actor.Guardian && player.Guardian == nil {
			continue
		}
		approver := player.Approver(party)
		view := partyView{Party: party, Name: player.Student.FullName, Number: player.Number(party), Consent: approver.Consent, Request: approver.Request}
		if party == actor.Guardian {
			view.Name, view.Optional = player.Guardian.Name, player.Adult(p.Now())
		}
		parties = append(parties, view)
	}
	v.Form = f
	v.Path = coachPlayer(id)
	v.Data = map[string]any{
		"Player": player, "Parties": parties, "History": history, "Adult": player.Adult(p.Now()),
		"Done": r.URL.Query().Get("done"), "Added": r.URL.Query().Get("added"),
	}
	resp := page("player", v)
	if len(f.Faults) > 0 {
		resp.Status = http.StatusUnprocessableEntity
	}
	return resp, nil
}

// party returns the party that a form names.
func (r *Request) party() (actor.Role, error) {
	party := actor.Role(r.Value("party"))
	if party != actor.Guardian && party != actor.Student {
		return "", fault.Missing()
	}
	return party, nil
}

// remind serves POST …/remind: it repeats the open question of a party.
func (p *Pages) remind(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.changePlayer(ctx, r, by, "reminded", func(id string, party actor.Role) error {
		_, _, err := p.Approvals.Remind(ctx, by, id, party)
		return err
	})
}

// ask serves POST …/ask: it sends a question to a party, to a corrected number if the form
// has one.
func (p *Pages) ask(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.changePlayer(ctx, r, by, "asked", func(id string, party actor.Role) error {
		if err := p.Coaches.Complete(ctx, by); err != nil {
			return err
		}
		var faults wire.Faults
		var correction approval.Patch
		reader := input.Reader{Phones: p.Phones, Now: p.Now(), Faults: &faults}
		if number := reader.Number("/number", r.Value("number")); number != "" {
			if party == actor.Guardian {
				correction.Guardian = &approval.GuardianPatch{Number: &number}
			} else {
				correction.Student.Number = &number
			}
		}
		if err := faults.Err(); err != nil {
			return err
		}
		_, _, err := p.Approvals.Send(ctx, by, id, party, correction, nil)
		return err
	})
}

// cancelRequest serves POST …/cancel: it takes an open question back.
func (p *Pages) cancelRequest(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.changePlayer(ctx, r, by, "cancelled", func(string, actor.Role) error {
		_, err := p.Approvals.Cancel(ctx, by, r.Value("request"))
		return err
	})
}

// noteCall serves POST …/call: it notes that the coach called the party.
func (p *Pages) noteCall(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.changePlayer(ctx, r, by, "called", func(string, actor.Role) error {
		var faults wire.Faults
		note := wire.ParseRules("lines,max=500").Text(r.Value("note"), "/note", &faults)
		if err := faults.Err(); err != nil {
			return err
		}
		_, err := p.Approvals.FollowUp(ctx, by, r.Value("request"), note)
		return err
	})
}

// changePlayer calls change and goes back to the page of the player. An error that the
// coach can mend shows on that page.
func (p *Pages) changePlayer(ctx context.Context, r *Request, by actor.Actor, done string, change func(id string, party actor.Role) error) (Response, error) {
	id, err := r.PathID("player_id")
	if err != nil {
		return Response{}, err
	}
	party, err := r.party()
	if err != nil {
		return Response{}, err
	}
	err = change(id, party)
	if err == nil {
		return redirect(coachPlayer(id) + "?done=" + done), nil
	}
	f := &Form{Values: r.Form}
	if !p.addFaults(r, f, err, map[string]string{"/number": string(party) + "-number", "/guardian/mobile_number": "guardian-number", "/student/contact_number": "student-number"}) {
		switch fault.KindOf(err) {
		case fault.Conflict, fault.TooMany, fault.Forbidden:
			f.Add("", p.errorText(r, err))
		default:
			return Response{}, err
		}
	}
	return p.playerPage(ctx, r, by, f)
}
