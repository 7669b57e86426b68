package doctor

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/mail"
	"github.com/touchline/touchline/internal/message/push"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/vault"
)

// sms checks each provider of SMS.
func (c *checkup) sms(ctx context.Context) []Result {
	var results []Result
	for _, p := range c.cfg.SMSProviders() {
		if p.Kind != "log" {
			results = append(results, c.account(ctx, "SMS", p)...)
			results = append(results, c.registry(p.Kind)...)
			continue
		}
		if c.cfg.Development() {
			return one(ok("SMS is log, for development: messages are printed and not sent."))
		}
		return one(failed("SMS is log: no message is sent, and the terminal shows every OTP. Set SMS to a gateway."))
	}
	return results
}

// registry names the texts that a gateway cannot send to India: those that the registry refuses, and at MSG91 those without a
// template.
func (c *checkup) registry(gateway string) (results []Result) {
	if !c.cfg.CountryAllowed("IN") {
		return nil
	}
	known := map[string]bool{}
	for _, t := range c.cfg.MSG91Templates {
		known[t.Key] = true
	}
	var refused, missing []string
	for _, t := range message.SMSTemplates(c.cfg.Brand, c.cfg.PublicURL, c.cfg.AppHash()) {
		switch {
		case t.Unregistrable() != "":
			refused = append(refused, t.Key())
		case !known[t.Key()]:
			missing = append(missing, t.Key())
		}
	}
	switch gateway {
	case "http", "kannel":
		return one(warning("%s: texts to numbers of India leave as free text, shortened: fill in the templates of touchline sms-templates there, or networks of India may not deliver them. "+
			"The registry of India refuses these: %s.", gateway, strings.Join(refused, ", ")))
	case "twilio":
		return one(warning("twilio: texts to numbers of India leave as touchline sms-templates prints them: register them for its sender. The registry of India refuses "+
			"these, which leave as free text, and networks of India may not deliver that: %s.", strings.Join(refused, ", ")))
	}
	results = one(warning("msg91: the registry of India refuses these texts, which leave by another provider, by e-mail and in the app: %s. touchline sms-templates says why.",
		strings.Join(refused, ", ")))
	if len(missing) > 0 {
		results = append(results, warning("msg91: MSG91_TEMPLATES has no %s. Such a text leaves in English, or by another provider. Variables need types since January 2026: register the texts of touchline sms-templates.",
			strings.Join(missing, ", ")))
	}
	return results
}

// account checks the account at a provider of SMS or calls. setting names it.
func (c *checkup) account(ctx context.Context, setting string, p config.SMSProvider) []Result {
	host := hostOf(p.URL)
	checked, err := sms.Check(ctx, sms.Account(p))
	var first Result
	switch {
	case err != nil:
		first = failed("%s: %v. Correct %s, or ask the provider.", p.Kind, err, setting)
	case checked.Account:
		first = ok("%s: %s accepts the account.", p.Kind, host)
	default:
		first = ok("%s: %s accepts connections; it has no call that checks the account and sends nothing.", p.Kind, host)
	}
	return append(one(first), c.clockDiffers(host, checked.Date)...)
}

// hostOf returns the host of a URL, which may contain a password.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the gateway"
	}
	return u.Host
}

func (c *checkup) whatsApp(ctx context.Context) []Result {
	switch {
	case !c.cfg.HasWhatsApp():
		return one(ok("WHATSAPP is none."))
	case c.cfg.WhatsAppLog():
		return one(ok("WHATSAPP is log, for development: messages are shown and not sent."))
	}
	a := c.cfg.WhatsAppAccount
	sender, err := whatsapp.NewSender(whatsapp.Config{API: c.cfg.Endpoints.WhatsApp, PhoneID: a.PhoneID.Reveal(), Token: a.Token.Reveal()})
	if err == nil {
		err = sender.Check(ctx)
	}
	if err != nil {
		return one(failed("%v: correct WHATSAPP_ACCOUNT.", err))
	}
	return one(ok("WhatsApp accepts the access token for the number."))
}

func (c *checkup) voice(ctx context.Context) []Result {
	switch {
	case !c.cfg.HasVoice():
		return one(ok("VOICE is off."))
	case c.cfg.VoiceLog():
		return one(ok("VOICE is log, for development: calls are shown and not made."))
	}
	return c.account(ctx, "VOICE", c.cfg.VoiceProvider())
}

func (c *checkup) mail(ctx context.Context) []Result {
	m := c.cfg.MailServer()
	if m.URL == "" {
		return one(ok("MAIL is off."))
	}
	sender, err := mail.New(mail.Config{Server: m.URL, Password: m.Password, CAFile: m.CAFile, From: m.From, FromName: c.cfg.Brand, Now: c.now})
	if err == nil {
		err = sender.Check(ctx)
	}
	if err != nil {
		return one(failed("%v: correct MAIL, or the mail server.", err))
	}
	return one(ok("The mail server %s accepts the connection and the account.", hostOf(m.URL)))
}

// push checks the key for browsers and the service account for apps.
func (c *checkup) push(ctx context.Context) []Result {
	results := c.vapid(ctx)
	a, set := c.cfg.ServiceAccount()
	if !set {
		return append(results, ok("FCM_SERVICE_ACCOUNT is not set: apps get no push messages."))
	}
	fcm, err := push.NewFCM(push.FCMConfig{
		API: c.cfg.Endpoints.FCM, ProjectID: a.ProjectID, Email: a.ClientEmail, KeyID: a.PrivateKeyID, PrivateKey: a.PrivateKey, TokenURL: a.TokenURI, Now: c.now,
	})
	if err == nil {
		err = fcm.Check(ctx)
	}
	if err != nil {
		return append(results, failed("%v: correct FCM_SERVICE_ACCOUNT, or the account at Google.", err))
	}
	return append(results, ok("Google accepts the service account of FCM."))
}

// vapid checks that there is a key for push messages to browsers. The check of the master key says whether it can be decrypted.
func (c *checkup) vapid(ctx context.Context) []Result {
	if c.db == nil {
		return needsDatabase()
	}
	keys, err := auth.NewInstallation(c.db).Secrets(ctx)
	switch {
	case err != nil:
		return one(failed("The keys cannot be read: %v.", err))
	case slices.ContainsFunc(keys, func(s auth.Secret) bool { return s.Purpose == string(vault.ForVAPID) }):
		return one(ok("The key for push messages to browsers exists."))
	}
	return one(ok("The key for push messages to browsers does not exist yet: the next start makes it."))
}
