package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/platform/config"
)

var templateVariable = regexp.MustCompile(`\{([a-z_]+)\}`)

// printSMSTemplates prints the text of each SMS in the spelling of the registry of India (DLT), whose variables have
// types, and in the format of MSG91. It says which text the registry would refuse, and what leaves instead.
func printSMSTemplates(_ context.Context, cfg *config.Config, c *cobra.Command) error {
	refused := 0
	for _, t := range message.SMSTemplates(cfg.Brand, cfg.PublicURL, cfg.AppHash()) {
		dlt, msg91, why := t.DLT(), templateVariable.ReplaceAllString(t.Text, "##$1##"), t.Unregistrable()
		if why != "" {
			refused++
		}
		if asJSON(c) {
			entry := map[string]any{"key": t.Key(), "dlt": dlt, "msg91": msg91, "variable_percent": t.VariableShare(), "registrable": why == ""}
			if why != "" {
				entry["reason"] = why
			}
			if err := printJSON(c.OutOrStdout(), entry); err != nil {
				return err
			}
			continue
		}
		indent := func(text string) string { return strings.ReplaceAll(text, "\n", "\n         ") }
		c.Printf("%s (%d %% variables)\n", t.Key(), t.VariableShare())
		if why != "" {
			c.Printf("  NOT TO REGISTER: %s\n", why)
		}
		c.Printf("  DLT    %s\n  MSG91  %s\n", indent(dlt), indent(msg91))
	}
	if refused > 0 && !asJSON(c) {
		c.Printf("\nThe registry of India would refuse the %d texts marked NOT TO REGISTER. MSG91 does not send them: they leave by the next provider of SMS,\n"+
			"and without one by WhatsApp, e-mail and in the app alone. Twilio sends them to numbers of India as free text, which networks of India may\n"+
			"refuse, and the other texts exactly as registered. Kannel and a gateway of http get all texts as free text. See docs/operating.md, section SMS in India.\n", refused)
	}
	return nil
}

// printWhatsAppTemplates prints the requests that create the templates of WhatsApp messages at
// Meta, one on each line. They are JSON with and without --json.
func printWhatsAppTemplates(_ context.Context, cfg *config.Config, c *cobra.Command) error {
	for _, t := range whatsapp.NewTemplates(cfg.Brand, cfg.PublicURL) {
		if err := printJSON(c.OutOrStdout(), t); err != nil {
			return fmt.Errorf("print template %s: %w", t.Name, err)
		}
	}
	return nil
}
