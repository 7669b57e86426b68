package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/operator"
)

func webhookCommands() []command {
	id := []string{"<webhook_id>"}
	details := func(f *flag.FlagSet) {
		f.String("url", "", "https URL of the endpoint")
		f.String("description", "", "what the endpoint is, for operators")
		f.String("events", "", "events to send, separated by commas; all if it is empty: "+strings.Join(operator.EventTypes(operator.ChangeTypes), ","))
	}
	return []command{
		{words: "webhook create", help: "send changes to an endpoint; print its secret once", run: createWebhook, flags: details, needsKey: true},
		{words: "webhook list", help: "list the webhooks, newest first", run: listWebhooks},
		{words: "webhook update", args: id, help: "change the URL, the description or the events", run: updateWebhook, flags: details},
		{words: "webhook disable", args: id, help: "send nothing; the webhook keeps its position in the feed", run: disableWebhook},
		{words: "webhook enable", args: id, help: "send again, from where it stopped; changes are kept for 90 days", run: enableWebhook},
		{words: "webhook rotate-secret", args: id, help: "replace the secret; print the new one once", run: rotateWebhookSecret, needsKey: true, flags: func(f *flag.FlagSet) {
			f.String("overlap-in", operator.DefaultSecretOverlap.String(), "how long the old secret also signs messages, at most 168h; 0s ends it at once")
		}},
		{words: "webhook test", args: id, help: "send a test message", run: testWebhook},
		{words: "webhook replay", args: id, help: "send the messages of a range of time again, with their ids", run: replayWebhook, flags: func(f *flag.FlagSet) {
			f.String("from", "", "beginning, such as 2026-03-02T09:00:00Z")
			f.String("to", "", "end; now if it is empty")
		}},
		{words: "webhook log", args: id, help: "list the messages of a webhook, the newest event first", run: logWebhook, flags: func(f *flag.FlagSet) {
			f.Bool("failed", false, "only messages that failed")
		}},
		{words: "webhook delete", args: id, help: "delete a webhook and its messages", run: deleteWebhook},
	}
}

// webhookPatch returns the changes that the flags name.
func webhookPatch(sh *shell) operator.WebhookPatch {
	var p operator.WebhookPatch
	sh.flags.Visit(func(f *flag.Flag) {
		value := f.Value.String()
		switch f.Name {
		case "url":
			p.URL = &value
		case "description":
			p.Description = &value
		case "events":
			events := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
			p.Events = &events
		}
	})
	return p
}

func createWebhook(ctx context.Context, sh *shell, _ []string) error {
	w, secret, err := sh.Webhooks.Create(ctx, sh.by, webhookPatch(sh))
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.stderr, "Webhook %s sends %s to %s from now on. Its secret is not shown again:\n", w.ID, strings.Join(operator.EventTypes(w.Sent()), ", "), w.URL)
	fmt.Fprintln(sh.stdout, secret)
	return nil
}

func listWebhooks(ctx context.Context, sh *shell, _ []string) error {
	webhooks, err := sh.Webhooks.List(ctx, sh.by, "", listLimit)
	if err != nil {
		return err
	}
	return printTable(sh, "ID\tURL\tDESCRIPTION\tEVENTS\tSTATE\tLAST ACCEPTED\tFAILING SINCE", webhooks, func(w operator.Webhook) []any {
		events, state, failing := "all", "enabled", "-"
		if len(w.Types) > 0 {
			events = strings.Join(operator.EventTypes(w.Types), ",")
		}
		if !w.Enabled() {
			state = fmt.Sprintf("disabled %s (%s)", formatTime(w.DisabledAt), w.DisabledReason)
		}
		if !w.FailingSince.IsZero() {
			failing = formatTime(w.FailingSince)
		}
		return []any{w.ID, w.URL, orDash(w.Description), events, state, formatTime(w.AcceptedAt), failing}
	})
}

func updateWebhook(ctx context.Context, sh *shell, args []string) error {
	p := webhookPatch(sh)
	if p == (operator.WebhookPatch{}) {
		return errUsage("name what to change: --url, --description or --events")
	}
	return saveWebhook(ctx, sh, args[0], p, "was changed")
}

func disableWebhook(ctx context.Context, sh *shell, args []string) error {
	enabled := false
	return saveWebhook(ctx, sh, args[0], operator.WebhookPatch{Enabled: &enabled}, "is disabled")
}

func enableWebhook(ctx context.Context, sh *shell, args []string) error {
	enabled := true
	return saveWebhook(ctx, sh, args[0], operator.WebhookPatch{Enabled: &enabled}, "is enabled")
}

func saveWebhook(ctx context.Context, sh *shell, id string, p operator.WebhookPatch, done string) error {
	w, err := sh.Webhooks.Update(ctx, sh.by, id, p)
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.stdout, "Webhook %s to %s %s.\n", w.ID, w.URL, done)
	return nil
}

func rotateWebhookSecret(ctx context.Context, sh *shell, args []string) error {
	overlap, err := time.ParseDuration(sh.text("overlap-in"))
	if err != nil {
		return errUsage("--overlap-in must be a duration such as 24h or 0s")
	}
	if overlap < 0 || overlap > operator.MaxSecretOverlap {
		return errUsage("--overlap-in: The overlap must be between 0s and %.0fh.", operator.MaxSecretOverlap.Hours())
	}
	w, secret, err := sh.Webhooks.Rotate(ctx, sh.by, args[0], overlap)
	if err != nil {
		return err
	}
	old := "The old secret has ended."
	if !w.OldSecretEndsAt.IsZero() {
		old = "Messages are signed with the old secret too until " + formatTime(w.OldSecretEndsAt) + "."
	}
	fmt.Fprintf(sh.stderr, "%s The new secret of webhook %s is not shown again:\n", old, w.ID)
	fmt.Fprintln(sh.stdout, secret)
	return nil
}

func testWebhook(ctx context.Context, sh *shell, args []string) error {
	m, err := sh.Webhooks.Test(ctx, sh.by, args[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.stdout, "Message %s is queued. The result is in: touchline admin webhook log %s\n", m.ID, args[0])
	return nil
}

func replayWebhook(ctx context.Context, sh *shell, args []string) error {
	from, err := time.Parse(time.RFC3339, sh.text("from"))
	if err != nil {
		return errUsage("--from must be a time such as 2026-03-02T09:00:00Z")
	}
	var to time.Time
	if text := sh.text("to"); text != "" {
		if to, err = time.Parse(time.RFC3339, text); err != nil {
			return errUsage("--to must be a time such as 2026-03-02T09:00:00Z")
		}
	}
	n, err := sh.Webhooks.Replay(ctx, sh.by, args[0], from, to)
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.stdout, "%d messages are queued. The service sends them while the webhook is enabled.\n", n)
	return nil
}

func logWebhook(ctx context.Context, sh *shell, args []string) error {
	messages, err := sh.Webhooks.Log(ctx, sh.by, args[0], operator.WebhookLogSearch{FailedOnly: sh.text("failed") == "true"}, listLimit)
	if err != nil {
		return err
	}
	return printTable(sh, "MESSAGE\tEVENT\tAT\tSTATE\tATTEMPTS\tLAST RESPONSE\tNEXT ATTEMPT", messages, func(m operator.WebhookMessage) []any {
		response, next := "-", "-"
		switch {
		case m.Error != "":
			response = m.Error
		case m.Status != 0:
			response = fmt.Sprint(m.Status)
		}
		if m.State == operator.MessageQueued {
			next = formatTime(m.DueAt)
		}
		return []any{m.ID, m.EventType(), formatTime(m.At), m.State, m.Attempts, response, next}
	})
}

func deleteWebhook(ctx context.Context, sh *shell, args []string) error {
	if err := sh.Webhooks.Delete(ctx, sh.by, args[0]); err != nil {
		return err
	}
	fmt.Fprintf(sh.stdout, "Webhook %s is deleted.\n", args[0])
	return nil
}
