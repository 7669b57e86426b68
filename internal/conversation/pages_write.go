package conversation

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// writePage serves GET /coach/messages/write, for a player or batch and with a template
// that the query may name.
func (p pages) writePage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.Coaches.Complete(ctx, by); err != nil {
		if fault.CodeOf(err) == "profile_incomplete" {
			return web.Redirect("/coach/profile"), nil
		}
		return web.Response{}, err
	}
	values := url.Values{"audience": {string(ToGuardians)}, "channels": {string(SMS), string(InApp)}}
	web.SetRecipient(values, r)
	if id := r.Value("template"); endpoint.IsID(id) {
		t, err := p.Template(ctx, by, id)
		if err != nil && !fault.IsMissing(err) {
			return web.Response{}, err
		}
		values.Set("text", t.Text)
	}
	return p.form(ctx, r, by, r.Restored(&web.Form{Values: values}))
}

// form returns the form of a message.
func (p pages) form(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	v := p.site.CoachView(r, "messages", "message_form.title", by)
	choice, err := p.site.RecipientChoice(ctx, by, f)
	if err != nil {
		return web.Response{}, err
	}
	templates, err := p.Templates(ctx, by, "", MaxTemplates)
	if err != nil {
		return web.Response{}, err
	}
	v.Form, v.Path = f, messagesPath+"/write"
	v.Data = map[string]any{"Choice": choice, "Templates": templates, "Channels": p.channels(), "Audiences": []Audience{ToGuardians, ToStudents, ToBoth}}
	return web.FormPage("message_form", v), nil
}

// channels returns the channels that a coach can choose.
func (s *Service) channels() []Channel {
	return slices.DeleteFunc(slices.Clone(Channels), func(c Channel) bool { return c == Chat && !s.HasChat })
}

// fields maps the pointers of a messageRequest to the fields of the form.
var fields = map[string]string{
	"/to": "for", "/to/player_ids": "for", "/to/batch_id": "for", "/channels": "channels", "/channels/0": "channels", "/channels/1": "channels", "/channels/2": "channels",
}

// write serves POST /coach/messages/write: with step=send it sends the message, with
// step=change it shows the form again, with template=… also with the text of that template, with step=shorten a
// preview with characters that take less room, else a preview.
func (p pages) write(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if len(r.Form["player"]) > 0 { // the ticked players replace what the list above them says
		web.SetRecipient(r.Form, r)
		r.Form.Del("player")
	}
	f := &web.Form{Values: r.Form}
	switch {
	case r.Value("step") == "change":
		return p.form(ctx, r, by, f)
	case r.Value("template") != "":
		return p.useTemplate(ctx, r, by, f)
	}
	if err := p.Coaches.Complete(ctx, by); err != nil {
		return web.Response{}, err
	}
	var faults wire.Faults
	draft := readDraft(r, &faults)
	err := faults.Err()
	var plan *Plan
	var allowed int
	switch {
	case err != nil:
	case r.Value("step") == "send" && endpoint.IsID(r.Value(web.RequestField)):
		m, failure := p.SendOnce(ctx, by, r.Value(web.RequestField), draft)
		if failure == nil {
			return web.Redirect(messagesPath + "/" + m.ID + "?done=sent"), nil
		}
		err = failure
	default:
		plan, allowed, err = p.Preview(ctx, by, draft)
	}
	if err == nil {
		return p.preview(ctx, r, by, f, plan, allowed)
	}
	switch code := fault.CodeOf(err); {
	case code == "batch_archived" || fault.IsMissing(err):
		f.Add("for", p.site.NewView(r, "message_form.title").MustT("message_form.gone"))
	case code == "message_limit" || code == "tier_limit":
		p.site.AddError(r, f, "", err)
	case !p.site.AddFaults(r, f, err, fields):
		return web.Response{}, err
	}
	return p.form(ctx, r, by, f)
}

// useTemplate shows the form with the text of a template. A text that the coach wrote stays before
// it, and the text of another template is replaced.
func (p pages) useTemplate(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	templates, err := p.Templates(ctx, by, "", MaxTemplates)
	if err != nil {
		return web.Response{}, err
	}
	written := strings.ReplaceAll(r.Value("text"), "\r\n", "\n")
	if slices.ContainsFunc(templates, func(t Template) bool { return t.Text == written }) {
		written = ""
	}
	for _, t := range templates {
		if t.ID == r.Value("template") {
			r.Form.Set("text", strings.TrimSpace(written+"\n"+t.Text))
		}
	}
	return p.form(ctx, r, by, f)
}

// readDraft reads the form into the body that the API takes.
func readDraft(r *web.Request, f *wire.Faults) Draft {
	to := map[string]any{}
	switch kind, id, _ := strings.Cut(r.Value("for"), ":"); {
	case kind == "all":
		to["all"] = true
	case kind == "batch" && endpoint.IsID(id):
		to["batch_id"] = id
	}
	if ids := web.Recipients(r.Value("for")); len(ids) > 0 {
		list := make([]any, len(ids))
		for i, id := range ids {
			list[i] = id
		}
		to["player_ids"] = list
	}
	channels := []any{}
	for _, c := range r.Form["channels"] {
		channels = append(channels, c)
	}
	body := map[string]any{"to": to, "audience": r.Value("audience"), "text": r.Value("text"), "channels": channels}
	var in messageRequest
	wire.Bind(body, &in, f)
	return in.read(f)
}

// preview shows what a message would do, with a button that sends it.
func (p pages) preview(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form, plan *Plan, allowed int) (web.Response, error) {
	v := p.site.CoachView(r, "messages", "message_preview.title", by)
	const shown = 100
	if shorter := plan.Long().Text; shorter != "" && r.Value("step") == "shorten" {
		r.Form.Set("text", shorter)
		r.Form.Set("step", "preview")
		return p.write(ctx, r, by)
	}
	totals, leftOut := plan.Totals(), plan.PeopleLeftOut()
	leftOut = leftOut[:min(len(leftOut), shown)]
	v.Form, v.Path = f, messagesPath+"/write"
	names, err := p.Approvals.NamesOf(ctx, by, web.Recipients(r.Value("for")))
	if err != nil {
		return web.Response{}, err
	}
	v.Data = map[string]any{
		"Ways": plan.Ways(), "OtherLanguages": plan.OtherLanguages(), "Names": names, "Totals": totals, "Reached": totals.People, "Variants": plan.Variants(), "LeftOut": leftOut, "MoreLeftOut": totals.PeopleLeftOut - len(leftOut),
		"Allowed": allowed, "TooMany": allowed >= 0 && totals.Segments > allowed, "RequestID": p.NewID(), "Channels": r.Form["channels"], "Long": plan.Long(),
		"Reason": func(reason string) string { return reasonText(v, reason) },
	}
	return web.Page("message_preview", v), nil
}

// templates serves GET /coach/messages/templates.
func (p pages) templates(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.templatesPage(ctx, r, by, r.Restored(new(web.Form)))
}

func (p pages) templatesPage(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	list, err := p.Templates(ctx, by, "", MaxTemplates)
	if err != nil {
		return web.Response{}, err
	}
	subscription, err := p.Subscriptions.Subscription(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "messages", "message_templates.title", by)
	v.Form, v.Path = f, messagesPath+"/templates"
	v.Data = map[string]any{
		"List": list, "MayAdd": subscription.Tier.Has(TemplatesFeature), "Done": v.TextOr("message_templates.done."+r.Value("done"), ""), "RequestID": p.NewID(),
	}
	return web.FormPage("message_templates", v), nil
}

// addTemplate serves POST /coach/messages/templates.
func (p pages) addTemplate(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	var faults wire.Faults
	var in templateRequest
	wire.Bind(map[string]any{"title": r.Value("title"), "text": r.Value("text")}, &in, &faults)
	text := readText(in.Text, &faults)
	err := faults.Err()
	if err == nil {
		err = p.site.OnceFor(ctx, r, by, r.Value(web.RequestField), r.Form, func(ctx context.Context) error {
			_, err := p.AddTemplate(ctx, by, in.Title, text)
			return err
		})
	}
	if err == nil {
		return web.Redirect(messagesPath + "/templates?done=added"), nil
	}
	f := &web.Form{Values: r.Form}
	if fault.CodeOf(err) == "tier_limit" {
		p.site.AddError(r, f, "", err)
	} else if !p.site.AddFaults(r, f, err, nil) {
		return web.Response{}, err
	}
	return p.templatesPage(ctx, r, by, f)
}

// deleteTemplate serves POST /coach/messages/templates/{template_id}/delete. The same
// form sent twice finds no template the second time, and succeeds.
func (p pages) deleteTemplate(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	err := p.DeleteTemplate(ctx, by, r.PathValue("template_id"))
	if err != nil && !fault.IsMissing(err) {
		return web.Response{}, err
	}
	return web.Redirect(messagesPath + "/templates?done=deleted"), nil
}
