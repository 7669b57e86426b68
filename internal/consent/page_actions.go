package consent

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// formParty is the party that a form names: guardian (the first), student, or the id of a guardian.
type formParty struct {
	role       actor.Role
	guardianID string
}

// key is the name of the party in forms.
func (p formParty) key() string {
	if p.guardianID != "" {
		return p.guardianID
	}
	return string(p.role)
}

// partyOf returns the party that a form names.
func partyOf(r *web.Request) (formParty, error) {
	switch name := r.Value("party"); {
	case name == string(actor.Guardian) || name == string(actor.Student):
		return formParty{role: actor.Role(name)}, nil
	case endpoint.IsID(name):
		return formParty{actor.Guardian, name}, nil
	}
	return formParty{}, fault.Missing()
}

// remind serves POST …/remind: it repeats the open question of a party, once for each time
// that the form was rendered. The note of a call that the coach was writing stays.
func (p pages) remind(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	resp, err := p.changePlayer(ctx, r, by, "reminded", func(id string, party formParty) error {
		_, err := p.RemindAfter(ctx, by, id, party.role, party.guardianID, r.Time("last"))
		return err
	})
	if err != nil || resp.Redirect == "" {
		return resp, err
	}
	return p.site.KeepTyped(r, resp, web.CoachPlayer(r.PathValue("player_id")), url.Values{"note": {""}, "party": r.Form["party"]}), nil
}

// ask serves POST …/ask: it sends a question to a party, to a corrected number if the form
// has one. The second of two equal forms finds the question of the first. A form that is
// older than the response of the party changes nothing.
func (p pages) ask(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.changePlayer(ctx, r, by, "asked", func(id string, party formParty) error {
		if err := p.Coaches.Complete(ctx, by); err != nil {
			return err
		}
		var faults wire.Faults
		correction := approval.Patch{GuardianID: party.guardianID}
		reader := input.Reader{Phones: p.site.Phones, Now: p.Now(), Faults: &faults}
		number := reader.Number("/number", r.Value("number"))
		if number != "" {
			if party.role == actor.Guardian {
				correction.Guardian = &approval.GuardianPatch{Number: &number}
			} else {
				correction.Student.Number = &number
			}
		}
		if err := faults.Err(); err != nil {
			return err
		}
		err := p.SendShown(ctx, by, id, party.role, correction, approval.Shown{
			Response: approval.State(r.Value("response")), RequestID: r.Value("request"), SentAt: r.Time("last"),
		})
		if fault.CodeOf(err) == "request_superseded" {
			player, readErr := p.Player(ctx, by, id)
			if readErr != nil {
				return readErr
			}
			if a := player.Find(party.role, party.guardianID); a != nil && a.OpenRequest() != nil && (number == "" || number == a.Number) {
				return nil
			}
			return errChangedMeanwhile
		}
		return err
	})
}

// errChangedMeanwhile says that the party was asked or responded after the form was rendered.
var errChangedMeanwhile = fault.New(fault.Conflict, "changed_meanwhile", "The question was answered or sent meanwhile. The page shows how things are now.")

// cancelRequest serves POST …/cancel: it takes an open question back.
func (p pages) cancelRequest(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.changePlayer(ctx, r, by, "cancelled", func(string, formParty) error {
		_, err := p.Cancel(ctx, by, r.Value("request"))
		if fault.CodeOf(err) == "no_open_request" {
			request, readErr := p.Request(ctx, by, r.Value("request"))
			if readErr == nil && request.State == approval.RequestCancelled {
				return nil
			}
		}
		return err
	})
}

// noteCall serves POST …/call: it notes that the coach called the party.
func (p pages) noteCall(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.changePlayer(ctx, r, by, "called", func(string, formParty) error {
		var faults wire.Faults
		note := wire.ParseRules("lines,max=500").Text(r.Value("note"), "/note", &faults)
		if err := faults.Err(); err != nil {
			return err
		}
		_, err := p.FollowUp(ctx, by, r.Value("request"), note)
		return err
	})
}

// callParty serves POST …/call-now: it has a party called, which hears the open question. The second of two
// equal forms finds the call of the first.
func (p pages) callParty(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.changePlayer(ctx, r, by, "calling", func(id string, party formParty) error {
		if err := p.Coaches.Complete(ctx, by); err != nil {
			return err
		}
		_, err := p.Call(ctx, by, r.Value("request"))
		if fault.CodeOf(err) == "call_limit" {
			t, readErr := p.Timeline(ctx, by, id)
			if readErr == nil {
				if a := t.Player.Find(party.role, party.guardianID); a != nil && a.CallFacts.Last.After(r.Time("last")) {
					return nil
				}
			}
		}
		return err
	})
}

// changePlayer calls change and goes back to the page of the player, or to Today if the
// form came from there. An error that the coach can correct shows on the page of the player.
func (p pages) changePlayer(ctx context.Context, r *web.Request, by actor.Actor, done string, change func(id string, party formParty) error) (web.Response, error) {
	id := r.PathValue("player_id")
	party, err := partyOf(r)
	if err != nil {
		return web.Response{}, err
	}
	err = change(id, party)
	if err == nil && (done == "reminded" || done == "asked") {
		var stopped bool
		if stopped, err = p.StoppedBy(ctx, by, id, party.role, party.guardianID); stopped {
			done += "_stopped"
		}
	}
	if err == nil {
		if r.Value("back") == "today" {
			return web.Redirect("/coach?done=" + done), nil
		}
		return web.Redirect(web.CoachPlayer(id) + "?done=" + done), nil
	}
	f := &web.Form{Values: r.Form}
	if !p.site.AddFaults(r, f, ofGuardian(err, "/guardian/"), map[string]string{
		"/number": party.key() + "-number", "/guardian/mobile_number": party.key() + "-number", "/student/contact_number": "student-number", "/note": party.key() + "-note",
	}) {
		switch fault.KindOf(err) {
		case fault.Conflict, fault.TooMany, fault.Forbidden:
			p.site.AddError(r, f, "", err)
		default:
			return web.Response{}, err
		}
	}
	return p.playerPage(ctx, r, by, f)
}
