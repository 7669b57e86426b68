package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/platform/config"
)

var templateVariable = regexp.MustCompile(`\{([a-z_]+)\}`)

// printSMSTemplates prints the text of each SMS in the spelling of the registry of India (DLT) and
// in that of MSG91.
func printSMSTemplates(_ context.Context, cfg *config.Config, stdout, _ io.Writer) error {
	for _, t := range notify.SMSTemplates(cfg.Brand, notify.OTPEnding{Host: notify.OTPHost(cfg.PublicURL), AppHash: cfg.AppHash()}) {
		indented := strings.ReplaceAll(t.Text, "\n", "\n         ")
		fmt.Fprintf(stdout, "%s\n  DLT    %s\n  MSG91  %s\n", t.Key(),
			templateVariable.ReplaceAllString(indented, "{#var#}"), templateVariable.ReplaceAllString(indented, "##$1##"))
	}
	return nil
}
