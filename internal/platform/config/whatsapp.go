package config

import (
	"fmt"
	"slices"
	"strings"
)

// What leaves by WhatsApp.
const (
	// WhatsAppOTP are OTPs.
	WhatsAppOTP = "otp"
	// WhatsAppRequest are approval requests and their reminders.
	WhatsAppRequest = "request"
)

// SendsByWhatsApp reports whether messages of a kind leave by WhatsApp first.
func (c *Config) SendsByWhatsApp(kind string) bool { return slices.Contains(c.WhatsApp, kind) }

func (c *Config) checkWhatsApp() []string {
	var messages []string
	for _, kind := range c.WhatsApp {
		if kind != WhatsAppOTP && kind != WhatsAppRequest {
			messages = append(messages, fmt.Sprintf("%q must be otp or request", kind))
		}
	}
	return messages
}

// requiredForWhatsApp returns a message if something leaves by WhatsApp and a value that this
// needs is not set.
func (c *Config) requiredForWhatsApp(value string) []string {
	if value == "" && len(c.WhatsApp) > 0 && len(c.checkWhatsApp()) == 0 {
		return []string{"must be set, because WHATSAPP is"}
	}
	return nil
}

func (c *Config) checkWhatsAppPhoneID() []string {
	if strings.ContainsFunc(c.WhatsAppPhoneID, isNoDigit) {
		return []string{"must be the digits of the phone number id, which is not the number"}
	}
	return c.requiredForWhatsApp(c.WhatsAppPhoneID)
}
