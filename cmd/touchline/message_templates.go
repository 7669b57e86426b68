package main

import (
	"context"
	"encoding/json"
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
	for _, t := range message.SMSTemplates(cfg.Brand, message.OTPEnding{Host: message.OTPHost(cfg.PublicURL), AppHash: cfg.AppHash()}) {
		indented := strings.ReplaceAll(t.Text, "\n", "\n         ")
		c.Printf("%s\n  DLT    %s\n  MSG91  %s\n", t.Key(),
			templateVariable.ReplaceAllString(indented, "{#var#}"), templateVariable.ReplaceAllString(indented, "##$1##"))
	}
	return nil
}

// printWhatsAppTemplates prints the requests that create the templates of WhatsApp messages at
// Meta, one on each line.
func printWhatsAppTemplates(_ context.Context, cfg *config.Config, c *cobra.Command) error {
	encoder := json.NewEncoder(c.OutOrStdout())
	encoder.SetEscapeHTML(false)
	for _, t := range whatsapp.NewTemplates(cfg.Brand, cfg.PublicURL) {
		if err := encoder.Encode(t); err != nil {
			return fmt.Errorf("print template %s: %w", t.Name, err)
		}
	}
	return nil
}
