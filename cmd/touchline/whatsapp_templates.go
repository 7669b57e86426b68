package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/platform/config"
)

// printWhatsAppTemplates prints the requests that create the templates of WhatsApp messages at
// Meta, one on each line.
func printWhatsAppTemplates(_ context.Context, cfg *config.Config, stdout, _ io.Writer) error {
	encoder := json.NewEncoder(stdout)
	encoder.SetEscapeHTML(false)
	for _, t := range whatsapp.NewTemplates(cfg.Brand, cfg.PublicURL) {
		if err := encoder.Encode(t); err != nil {
			return fmt.Errorf("print template %s: %w", t.Name, err)
		}
	}
	return nil
}
