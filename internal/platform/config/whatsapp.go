package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/phone"
)

// What leaves by WhatsApp.
const (
	// WhatsAppOTP are OTPs.
	WhatsAppOTP = "otp"
	// WhatsAppRequest are approval requests and their reminders.
	WhatsAppRequest = "request"
	// WhatsAppChat are messages of coaches on the channel chat. They leave by WhatsApp with each of these
	// values; this one is for a service whose other messages do not.
	WhatsAppChat = "chat"
	// whatsAppLog shows messages in development in place of sending them.
	whatsAppLog = "log"
)

// HasWhatsApp reports whether the service has a transport for WhatsApp.
func (c *Config) HasWhatsApp() bool { return len(c.WhatsApp) > 0 }

// WhatsAppLog reports whether WhatsApp messages are shown in development in place of being sent.
func (c *Config) WhatsAppLog() bool { return slices.Contains(c.WhatsApp, whatsAppLog) }

// SendsByWhatsApp reports whether messages of a kind leave by WhatsApp first.
func (c *Config) SendsByWhatsApp(kind string) bool {
	return slices.Contains(c.WhatsApp, kind) || kind == WhatsAppRequest && c.WhatsAppLog()
}

func (c *Config) checkWhatsApp() []string {
	var messages []string
	for _, kind := range c.WhatsApp {
		if !slices.Contains([]string{WhatsAppOTP, WhatsAppRequest, WhatsAppChat, whatsAppLog}, kind) {
			messages = append(messages, fmt.Sprintf("%q must be otp, request, chat or log", kind))
		}
	}
	switch {
	case !c.WhatsAppLog():
	case len(c.WhatsApp) > 1:
		messages = append(messages, "log shows all messages and sends none, so nothing else can be set with it")
	case !IsLoopback(c.Addr) || c.isSet("PUBLIC_URL"):
		messages = append(messages, "log is for development: it needs an ADDR on loopback and no PUBLIC_URL. Set otp, request or chat to send messages")
	}
	return messages
}

// WhatsAppAccount is an account in the WhatsApp Cloud API.
type WhatsAppAccount struct {
	// PhoneID is the id of the sender's number.
	PhoneID Secret
	// Token is an access token with the permission whatsapp_business_messaging.
	Token Secret
	// AppSecret is the secret of the app at Meta; it verifies Meta's calls.
	AppSecret Secret
	// VerifyToken is the token with which Meta verifies the address for its calls.
	VerifyToken Secret
	// Number is the number of the account, such as +919812300000, to which people write for a code, or empty.
	Number string
}

// String returns dots, or "" for an empty account.
func (a WhatsAppAccount) String() string { return a.Token.String() }

const whatsAppForm = "must be written as phone_id=<digits>,token=…,app_secret=…,verify_token=…, with ,number=+<digits> if people may ask for a code by WhatsApp"

// whatsAppLogNumber is the number of the service in development. No person has it.
const whatsAppLogNumber = "+919900000000"

// WhatsAppNumber returns the number to which people write for a code by WhatsApp, or "" if they can not.
func (c *Config) WhatsAppNumber() phone.Number {
	switch {
	case c.WhatsAppLog():
		return whatsAppLogNumber
	case c.HasWhatsApp():
		return phone.Number(c.WhatsAppAccount.Number)
	}
	return ""
}

// parseWhatsAppAccount parses parts that commas or lines separate.
func parseWhatsAppAccount(text string) (any, error) {
	var a WhatsAppAccount
	parts := map[string]*Secret{"phone_id": &a.PhoneID, "token": &a.Token, "app_secret": &a.AppSecret, "verify_token": &a.VerifyToken}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		name, value, _ := strings.Cut(part, "=")
		if strings.TrimSpace(name) == "number" && a.Number == "" {
			a.Number = strings.TrimSpace(value)
			if digits, plus := strings.CutPrefix(a.Number, "+"); !plus || len(digits) < 8 || len(digits) > 15 || strings.ContainsFunc(digits, isNoDigit) {
				return nil, errors.New("number must be the number of the account with its country, such as +919812300000")
			}
			continue
		}
		field := parts[strings.TrimSpace(name)]
		if field == nil || *field != "" {
			return nil, errors.New(whatsAppForm)
		}
		*field = Secret(strings.TrimSpace(value))
	}
	for _, field := range parts {
		if *field == "" {
			return nil, errors.New(whatsAppForm)
		}
	}
	if strings.ContainsFunc(a.PhoneID.Reveal(), isNoDigit) {
		return nil, errors.New("phone_id must be the digits of the phone number id, which is not the number")
	}
	return a, nil
}

func (c *Config) checkWhatsAppAccount() []string {
	if c.WhatsAppAccount == (WhatsAppAccount{}) && len(c.WhatsApp) > 0 && !c.WhatsAppLog() && len(c.checkWhatsApp()) == 0 {
		return []string{"must be set, because WHATSAPP is"}
	}
	return nil
}
