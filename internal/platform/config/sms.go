package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// smsLog is the SMS that prints messages.
const smsLog = "log"

// SMSProviders returns the providers of SMS in their order. A comma separates them; a URL
// writes one as %2C.
func (c *Config) SMSProviders() []string { return splitSMS(c.SMS.Reveal()) }

func splitSMS(text string) []string {
	providers := strings.Split(text, ",")
	for i, p := range providers {
		p = strings.TrimSpace(p)
		if strings.HasPrefix(p, "http://") || strings.HasPrefix(p, "https://") {
			p = "http:" + p // the URL alone means the same
		}
		providers[i] = p
	}
	return providers
}

// uses reports whether SMS has a provider of a kind.
func (c *Config) uses(kind string) bool {
	return slices.ContainsFunc(c.SMSProviders(), func(p string) bool { return p == kind || strings.HasPrefix(p, kind+":") })
}

func (c *Config) checkSMS() []string {
	providers := c.SMSProviders()
	var messages []string
	for i, p := range providers {
		message := checkProvider(p)
		if message == "" && p == smsLog && len(providers) > 1 {
			message = "log must be alone: it sends nothing"
		}
		if message != "" && len(providers) > 1 {
			message = fmt.Sprintf("provider %d: %s", i+1, message)
		}
		messages = append(messages, optional(message)...)
	}
	return messages
}

// checkProvider checks one provider. Its messages do not repeat the text, which may contain a
// key.
func checkProvider(text string) string {
	const supported = "this release supports log, http:<url>, kannel:<url>, twilio and msg91"
	kind, rest, hasURL := strings.Cut(text, ":")
	u, err := url.Parse(rest)
	isURL := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
	switch {
	case text == smsLog:
		return ""
	case kind == "http" || kind == "https":
		if kind == "https" || !isURL {
			return "after http: comes the whole URL, as in http:https://gateway.example/send"
		}
		return ""
	case kind == "kannel":
		if !isURL || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return "after kannel: comes the URL of sendsms without user and query, as in kannel:http://127.0.0.1:13013/cgi-bin/sendsms"
		}
		return ""
	case kind == "twilio" || kind == "msg91":
		if hasURL && (!isURL || u.User != nil || u.RawQuery != "" || u.Fragment != "") {
			return fmt.Sprintf("%s needs no URL; another than the usual one is written as %s:https://api.example", kind, kind)
		}
		return ""
	case isName(kind):
		return fmt.Sprintf("there is no provider %s; %s", kind, supported)
	default:
		return "there is no such provider; " + supported
	}
}

// requiredFor returns a message if SMS has a provider of a kind, and the value that it needs
// is not set.
func (c *Config) requiredFor(kind, value string) []string {
	if value == "" && c.uses(kind) && len(c.checkSMS()) == 0 {
		return []string{"must be set, because SMS is " + kind}
	}
	return nil
}

var twilioAccountSID = regexp.MustCompile(`^AC[0-9a-fA-F]{32}$`)

func (c *Config) checkTwilioAccountSID() []string {
	if c.TwilioAccountSID != "" && !twilioAccountSID.MatchString(c.TwilioAccountSID) {
		return []string{"must be the account SID: AC and 32 hexadecimal digits"}
	}
	return c.requiredFor("twilio", c.TwilioAccountSID)
}

// checkSMSSender accepts a phone number of up to 15 digits, or the 11 characters that a
// network carries of a name.
func checkSMSSender(s string) string {
	number := strings.TrimPrefix(s, "+")
	switch {
	case s == "":
		return ""
	case !strings.ContainsFunc(number, isNoDigit) && len(number) >= 3 && len(number) <= 15:
		return ""
	case len(s) <= 11 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }):
		return ""
	default:
		return "must be a number of 3 to 15 digits, or up to 11 letters and digits"
	}
}

var replySecret = regexp.MustCompile(`^[A-Za-z0-9_-]{16,}$`)

func checkReplySecret(s string) string {
	if s != "" && !replySecret.MatchString(s) {
		return "must be at least 16 letters and digits"
	}
	return ""
}

// checkTwilioSender accepts the id of a messaging service, too.
func (c *Config) checkTwilioSender() []string {
	if missing := c.requiredFor("twilio", c.TwilioSender); missing != nil {
		return missing
	}
	if strings.HasPrefix(c.TwilioSender, "MG") && len(c.TwilioSender) == 34 {
		return nil
	}
	if checkSMSSender(c.TwilioSender) != "" {
		return []string{"must be a number of 3 to 15 digits, up to 11 letters and digits, or the SID of a messaging service (MG and 32 characters)"}
	}
	return nil
}

func (c *Config) checkEntity() []string {
	if missing := c.requiredFor("msg91", c.MSG91EntityID); missing != nil {
		return missing
	}
	if strings.ContainsFunc(c.MSG91EntityID, isNoDigit) {
		return []string{"must be the digits of the entity id"}
	}
	return nil
}

func (c *Config) checkTemplates() []string {
	if len(c.MSG91Templates) == 0 {
		return c.requiredFor("msg91", "")
	}
	return nil
}

func (c *Config) checkRates() []string {
	var messages []string
	for _, r := range c.SMSRates {
		if !c.uses(r.Provider) {
			messages = append(messages, fmt.Sprintf("%s is not a provider of SMS", r.Provider))
		}
	}
	return messages
}

func isNoDigit(r rune) bool { return r < '0' || r > '9' }

// isName reports whether s looks like the name of a provider. An error may print it; it
// must not print a key that was set by mistake.
func isName(s string) bool {
	return s != "" && len(s) <= 16 && !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
}

// SMSRate is how many messages a second a provider takes.
type SMSRate struct {
	Provider  string
	PerSecond float64
}

// String returns the rate as an operator would write it.
func (r SMSRate) String() string {
	return r.Provider + "=" + strconv.FormatFloat(r.PerSecond, 'f', -1, 64)
}

// maxRate is more than any provider takes.
const maxRate = 10_000

// parseRates parses <provider>=<messages a second> of each provider.
func parseRates(text string) (any, error) {
	var rates []SMSRate
	var errs []error
	for _, part := range parseList(text) {
		provider, number, _ := strings.Cut(part, "=")
		provider = strings.TrimSpace(provider)
		rate, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		switch {
		case err != nil || !isProviderName(provider) || !(rate > 0 && rate <= maxRate):
			errs = append(errs, fmt.Errorf("%q must be written as twilio=10, at most %d messages a second", part, maxRate))
		case slices.ContainsFunc(rates, func(r SMSRate) bool { return r.Provider == provider }):
			errs = append(errs, fmt.Errorf("%s has two rates", provider))
		}
		rates = append(rates, SMSRate{provider, rate})
	}
	return rates, errors.Join(errs...)
}

func isProviderName(s string) bool {
	return slices.Contains([]string{"http", "kannel", "twilio", "msg91"}, s)
}

// SMSTemplate is a template that is registered with a provider.
type SMSTemplate struct {
	// Key is its name and language, such as otp_coach.en.
	Key string
	// ProviderID is its id at the provider, RegistryID that in the registry of India (DLT).
	ProviderID, RegistryID string
}

// String returns the template as an operator would write it.
func (t SMSTemplate) String() string { return t.Key + "=" + t.ProviderID + "/" + t.RegistryID }

// parseTemplates parses <name>.<language>=<id>/<DLT id> of each template.
func parseTemplates(text string) (any, error) {
	var templates []SMSTemplate
	var errs []error
	for _, part := range parseList(text) {
		key, ids, _ := strings.Cut(part, "=")
		id, registry, _ := strings.Cut(ids, "/")
		t := SMSTemplate{strings.TrimSpace(key), strings.TrimSpace(id), strings.TrimSpace(registry)}
		name, language, _ := strings.Cut(t.Key, ".")
		switch {
		case name == "" || language == "" || t.ProviderID == "" || t.RegistryID == "" || strings.ContainsFunc(t.RegistryID, isNoDigit):
			errs = append(errs, fmt.Errorf("%q must be written as otp_coach.en=<id of MSG91>/<DLT id>", part))
		case slices.ContainsFunc(templates, func(other SMSTemplate) bool { return other.Key == t.Key }):
			errs = append(errs, fmt.Errorf("%s has two ids", t.Key))
		}
		templates = append(templates, t)
	}
	return templates, errors.Join(errs...)
}
