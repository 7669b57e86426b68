package web

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/input"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// messageTemplates serves GET /coach/messages/templates.
func (p *Pages) messageTemplates(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.messageTemplatesPage(ctx, r, by, r.Restored(new(Form)))
}

func (p *Pages) messageTemplatesPage(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	list, err := p.Messages.Templates(ctx, by, team.Page{Limit: team.MaxTemplates})
	if err != nil {
		return Response{}, err
	}
	subscription, err := p.Subscriptions.Subscription(ctx, by)
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "messages", "message_templates.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, teamMessagesPath+"/templates"
	v.Data = map[string]any{
		"List": list, "MayAdd": subscription.Tier.Has(team.TemplatesFeature), "Done": v.TextOr("message_templates.done."+r.Value("done"), ""),
		"RequestID": p.Messages.NewID(), "MaxText": team.MaxText,
	}
	return FormPage("message_templates", v), nil
}

// addMessageTemplate serves POST /coach/messages/templates.
func (p *Pages) addMessageTemplate(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	var faults wire.Faults
	var in input.Template
	wire.Bind(map[string]any{"title": r.Value("title"), "text": r.Value("text")}, &in, &faults)
	title, text := in.Read(&faults)
	err := faults.Err()
	if err == nil {
		err = p.OnceFor(ctx, r, by, r.Value(RequestField), r.Form, func(ctx context.Context) error {
			_, err := p.Messages.AddTemplate(ctx, by, title, text)
			return err
		})
	}
	if err == nil {
		return Redirect(teamMessagesPath + "/templates?done=added"), nil
	}
	f := &Form{Values: r.Form}
	if fault.CodeOf(err) == "tier_limit" {
		p.AddError(r, f, "", err)
	} else if !p.AddFaults(r, f, err, nil) {
		return Response{}, err
	}
	return p.messageTemplatesPage(ctx, r, by, f)
}

// deleteMessageTemplate serves POST /coach/messages/templates/{template_id}/delete. The same
// form sent twice finds no template the second time, and succeeds.
func (p *Pages) deleteMessageTemplate(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	id, err := r.PathID("template_id")
	if err == nil {
		err = p.Messages.DeleteTemplate(ctx, by, id)
	}
	if err != nil && !fault.IsMissing(err) {
		return Response{}, err
	}
	return Redirect(teamMessagesPath + "/templates?done=deleted"), nil
}
