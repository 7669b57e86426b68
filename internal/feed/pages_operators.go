package feed

import (
	"context"
	"embed"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the console's pages of webhooks.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// console serves the pages of operators.
type console struct {
	*Service
	site *web.Console
}

// pageTestTimeout limits a test of an endpoint on a page, whose requests end after 10 s.
const pageTestTimeout = 8 * time.Second

// ConsolePages returns the pages of operators.
func (s *Service) ConsolePages(site *web.Console) []web.Route {
	c := console{s, site}
	return []web.Route{
		{Method: "GET", Pattern: "/webhooks", Handle: site.Scope(operator.Webhooks, c.list)},
		{Method: "POST", Pattern: "/webhooks", Handle: site.Scope(operator.Webhooks, c.create)},
		{Method: "GET", Pattern: "/webhooks/{webhook_id}", Handle: site.Scope(operator.Webhooks, c.show)},
		{Method: "POST", Pattern: "/webhooks/{webhook_id}", Handle: site.Scope(operator.Webhooks, c.change)},
	}
}

// list serves GET /webhooks: the webhooks, newest first, and the form for a new one.
func (c console) list(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	return c.listPage(ctx, r, by, new(web.Form), nil)
}

func (c console) listPage(ctx context.Context, r *web.Request, by actor.Operator, f *web.Form, tested *WebhookAttempt) (web.Response, error) {
	found, err := c.Webhooks.List(ctx, by, web.IDOrNone(r.Value("after")), web.ListPage)
	if err != nil {
		return web.Response{}, err
	}
	v := c.site.NewView(r, "webhooks", "operator.webhooks.title")
	v.Form, v.Path = f, "/webhooks"
	v.Data = map[string]any{"Webhooks": found, "Last": web.LastOfFull(found), "Tested": tested}
	return web.FormPage("operator_webhooks", v), nil
}

// create serves POST /webhooks: it tests the URL of the form, or saves a webhook for it and shows its secret once.
func (c console) create(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	address, description := r.Value("url"), r.Value("description")
	f := &web.Form{Values: r.Form}
	if r.Value("action") == "test" {
		limited, cancel := context.WithTimeout(ctx, pageTestTimeout)
		defer cancel()
		attempt, err := c.Webhooks.TestURL(limited, by, address, "")
		if fault.KindOf(err) == fault.Invalid {
			return c.refused(ctx, r, by, f, err)
		}
		if err != nil {
			return web.Response{}, err
		}
		return c.listPage(ctx, r, by, f, &attempt)
	}
	w, secret, err := c.Webhooks.Create(ctx, by, WebhookPatch{URL: &address, Description: &description})
	if fault.KindOf(err) == fault.Invalid {
		return c.refused(ctx, r, by, f, err)
	}
	if err != nil {
		return web.Response{}, err
	}
	return c.page(ctx, r, by, w.ID, new(web.Form), secret)
}

// refused shows the form of a new webhook with its faults.
func (c console) refused(ctx context.Context, r *web.Request, by actor.Operator, f *web.Form, err error) (web.Response, error) {
	v := c.site.NewView(r, "webhooks", "operator.webhooks.title")
	if e, ok := errors.AsType[*fault.Error](err); ok {
		for _, field := range e.Fields {
			name := strings.TrimPrefix(field.Pointer, "/")
			f.Add(name, v.MustT("operator.webhooks."+name+".fault"))
		}
	}
	return c.listPage(ctx, r, by, f, nil)
}

// show serves GET /webhooks/{webhook_id}: one webhook and its log.
func (c console) show(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	return c.page(ctx, r, by, r.PathValue("webhook_id"), new(web.Form), "")
}

func (c console) page(ctx context.Context, r *web.Request, by actor.Operator, id string, f *web.Form, secret string) (web.Response, error) {
	w, err := c.Webhooks.Find(ctx, by, id)
	if err != nil {
		return web.Response{}, err
	}
	search := WebhookLogSearch{FailedOnly: r.Value("state") == MessageFailed}
	if at, err := time.Parse(time.RFC3339Nano, r.Value("at")); err == nil {
		search.After = WebhookLogCursor{At: at, ID: r.Value("after")}
	}
	log, err := c.Webhooks.Log(ctx, by, id, search, web.ListPage)
	if err != nil {
		return web.Response{}, err
	}
	v := c.site.NewView(r, "webhooks", "operator.webhooks.title")
	v.Form, v.Path = f, "/webhooks/"+id
	v.Data = map[string]any{"Webhook": w, "Secret": secret, "Log": log, "Last": web.LastOfFull(log), "FailedOnly": search.FailedOnly, "Done": r.Value("done")}
	return web.FormPage("operator_webhook", v), nil
}

// change serves POST /webhooks/{webhook_id}: it enables, disables or tests a webhook, or replays the last hours.
func (c console) change(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	id, action := r.PathValue("webhook_id"), r.Value("action")
	v, f := c.site.NewView(r, "webhooks", "operator.webhooks.title"), &web.Form{Values: r.Form}
	var err error
	switch action {
	case "enable", "disable":
		enabled := action == "enable"
		_, err = c.Webhooks.Update(ctx, by, id, WebhookPatch{Enabled: &enabled})
	case "test":
		_, err = c.Webhooks.Test(ctx, by, id)
	case "replay":
		hours, parsed := strconv.Atoi(r.Value("hours"))
		if parsed != nil || hours < 1 || hours > int(ChangesKept.Hours()) {
			f.Add("hours", v.MustT("operator.webhook.hours.fault"))
			return c.page(ctx, r, by, id, f, "")
		}
		_, err = c.Webhooks.Replay(ctx, by, id, c.Now().Add(-time.Duration(hours)*time.Hour), time.Time{})
	default:
		return web.Redirect("/webhooks/" + id), nil
	}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind == fault.Conflict {
		state, _ := e.Extra["state"].(string)
		f.Add("", v.TextOr("operator.webhook."+state+".fault", e.Message))
		return c.page(ctx, r, by, id, f, "")
	}
	if err != nil {
		return web.Response{}, err
	}
	return web.Redirect("/webhooks/" + id + "?done=" + action), nil
}
