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

// printSMSTemplates prints the text of each SMS in the spelling of the registry of India (DLT) and
// in the format of MSG91.
func printSMSTemplates(_ context.Context, cfg *config.Config, c *cobra.Command) error {
	variable := func(text, replacement string) string { return templateVariable.ReplaceAllString(text, replacement) }
	for _, t := range message.SMSTemplates(cfg.Brand, message.OTPEnding{Host: message.OTPHost(cfg.PublicURL), AppHash: cfg.AppHash()}) {
		if asJSON(c) {
			err := printJSON(c.OutOrStdout(), map[string]string{"key": t.Key(), "dlt": variable(t.Text, "{#var#}"), "msg91": variable(t.Text, "##$1##")})
			if err != nil {
				return err
			}
			continue
		}
		indented := strings.ReplaceAll(t.Text, "\n", "\n         ")
		c.Printf("%s\n  DLT    %s\n  MSG91  %s\n", t.Key(),
			variable(indented, "{#var#}"), variable(indented, "##$1##"))
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
