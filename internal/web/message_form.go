package web

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/input"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// writeMessagePage serves GET /coach/messages/write, for a player or batch and with a template
// that the query may name.
func (p *Pages) writeMessagePage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	if err := p.Coaches.Complete(ctx, by); err != nil {
		if fault.CodeOf(err) == "profile_incomplete" {
			return Redirect("/coach/profile"), nil
		}
		return Response{}, err
	}
	values := url.Values{"audience": {string(team.ToGuardians)}, "channels": {string(team.SMS), string(team.InApp)}}
	SetRecipient(values, r)
	if id := r.Value("template"); endpoint.IsID(id) {
		t, err := p.Messages.Template(ctx, by, id)
		if err != nil && !fault.IsMissing(err) {
			return Response{}, err
		}
		values.Set("text", t.Text)
	}
	return p.messageForm(ctx, r, by, r.Restored(&Form{Values: values}))
}

// messageForm returns the form of a message.
func (p *Pages) messageForm(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	v, err := p.CoachView(ctx, r, "messages", "message_form.title", by)
	if err != nil {
		return Response{}, err
	}
	choice, err := p.RecipientChoice(ctx, by, f)
	if err != nil {
		return Response{}, err
	}
	templates, err := p.Messages.Templates(ctx, by, team.Page{Limit: team.MaxTemplates})
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, teamMessagesPath+"/write"
	v.Data = map[string]any{
		"Choice": choice, "Templates": templates, "Channels": p.messageChannels(),
		"Audiences": []team.Audience{team.ToGuardians, team.ToStudents, team.ToBoth}, "MaxText": team.MaxText,
	}
	return FormPage("message_form", v), nil
}

// messageChannels returns the channels of the service.
func (p *Pages) messageChannels() []team.Channel {
	return slices.DeleteFunc(slices.Clone(team.Channels), func(c team.Channel) bool { return c == team.Chat && !p.Messages.HasChat })
}

// Chosen reports whether the form has a value of a field that may have several.
func (v *View) Chosen(field, value string) bool { return slices.Contains(v.Form.Values[field], value) }

// messageFields maps the pointers of input.Message to the fields of the form.
var messageFields = map[string]string{
	"/to": "for", "/to/player_ids": "for", "/to/batch_id": "for", "/channels": "channels", "/channels/0": "channels", "/channels/1": "channels", "/channels/2": "channels",
}

// writeMessage serves POST /coach/messages/write: with step=send it sends the message, with
// step=change it shows the form again, with template=… also with the text of that template, else a
// preview.
func (p *Pages) writeMessage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	f := &Form{Values: r.Form}
	switch {
	case r.Value("step") == "change":
		return p.messageForm(ctx, r, by, f)
	case r.Value("template") != "":
		return p.useTemplate(ctx, r, by, f)
	}
	if err := p.Coaches.Complete(ctx, by); err != nil {
		return Response{}, err
	}
	var faults wire.Faults
	draft := readMessage(r, &faults)
	err := faults.Err()
	var plan *team.Plan
	var allowed int
	switch {
	case err != nil:
	case r.Value("step") == "send" && endpoint.IsID(r.Value(RequestField)):
		m, failure := p.Messages.SendOnce(ctx, by, r.Value(RequestField), draft)
		if failure == nil {
			return Redirect(teamMessagesPath + "/" + m.ID + "?done=sent"), nil
		}
		err = failure
	default:
		plan, allowed, err = p.Messages.Preview(ctx, by, draft)
	}
	if err == nil {
		return p.messagePreview(ctx, r, by, f, plan, allowed)
	}
	switch code := fault.CodeOf(err); {
	case code == "batch_archived" || fault.IsMissing(err):
		f.Add("for", p.NewView(r, "message_form.title").MustT("message_form.gone"))
	case code == "message_limit" || code == "tier_limit":
		p.AddError(r, f, "", err)
	case !p.AddFaults(r, f, err, messageFields):
		return Response{}, err
	}
	return p.messageForm(ctx, r, by, f)
}

// useTemplate shows the form with the text of a template. A text that the coach wrote stays before
// it, and the text of another template is replaced.
func (p *Pages) useTemplate(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	templates, err := p.Messages.Templates(ctx, by, team.Page{Limit: team.MaxTemplates})
	if err != nil {
		return Response{}, err
	}
	written := strings.ReplaceAll(r.Value("text"), "\r\n", "\n")
	if slices.ContainsFunc(templates, func(t team.Template) bool { return t.Text == written }) {
		written = ""
	}
	for _, t := range templates {
		if t.ID == r.Value("template") {
			r.Form.Set("text", strings.TrimSpace(written+"\n"+t.Text))
		}
	}
	return p.messageForm(ctx, r, by, f)
}

// readMessage reads the form into the body that the API takes.
func readMessage(r *Request, f *wire.Faults) team.Draft {
	to := map[string]any{}
	switch kind, id, _ := strings.Cut(r.Value("for"), ":"); {
	case kind == "all":
		to["all"] = true
	case kind == "batch" && endpoint.IsID(id):
		to["batch_id"] = id
	case kind == "player" && endpoint.IsID(id):
		to["player_ids"] = []any{id}
	}
	channels := []any{}
	for _, c := range r.Form["channels"] {
		channels = append(channels, c)
	}
	body := map[string]any{"to": to, "audience": r.Value("audience"), "text": r.Value("text"), "channels": channels}
	var in input.Message
	wire.Bind(body, &in, f)
	return in.Read(f)
}

// messagePreview shows what a message would do, with a button that sends it.
func (p *Pages) messagePreview(ctx context.Context, r *Request, by actor.Actor, f *Form, plan *team.Plan, allowed int) (Response, error) {
	v, err := p.CoachView(ctx, r, "messages", "message_preview.title", by)
	if err != nil {
		return Response{}, err
	}
	const shown = 100
	totals, leftOut := plan.Totals(), plan.PeopleLeftOut()
	leftOut = leftOut[:min(len(leftOut), shown)]
	v.Form, v.Path = f, teamMessagesPath+"/write"
	v.Data = map[string]any{
		"Totals": totals, "Reached": totals.People, "Variants": plan.Variants(), "LeftOut": leftOut, "MoreLeftOut": totals.PeopleLeftOut - len(leftOut),
		"Allowed": allowed, "TooMany": allowed >= 0 && totals.Segments > allowed, "RequestID": p.Messages.NewID(), "Channels": r.Form["channels"],
	}
	return Page("message_preview", v), nil
}
