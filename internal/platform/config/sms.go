package config

import (
	"cmp"
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

// SMSProvider is a provider of SMS with the account at it.
type SMSProvider struct {
	Kind           string
	URL            string
	User, Password string
	Sender         string
	EntityID       string
	ReplySecret    string
	Rate           float64
}

// smsForms are the supported providers, with the options in their URL and an example. The options
// come after ?, options of http after #, because what is after ? belongs to the gateway.
var smsForms = map[string]struct {
	options []string
	example string
}{
	"http":   {[]string{"rate"}, "http:https://gateway.example/send"},
	"kannel": {[]string{"from", "reply_secret", "rate"}, "kannel:http://user:password@127.0.0.1:13013/cgi-bin/sendsms"},
	"twilio": {[]string{"from", "rate"}, "twilio:https://<account SID>:<auth token>@api.twilio.com?from=<sender>"},
	"msg91":  {[]string{"header", "entity_id", "rate"}, "msg91:https://<auth key>@control.msg91.com?header=<header>&entity_id=<digits>"},
}

// SMSProviders returns the providers of SMS in their order. A comma separates them; a URL
// writes one as %2C.
func (c *Config) SMSProviders() []SMSProvider {
	var providers []SMSProvider
	for _, text := range splitSMS(c.SMS.Reveal()) {
		p, _ := parseProvider(text)
		providers = append(providers, p)
	}
	return providers
}

// SMSNumber returns the number from which SMS leave, if what people send to it reaches the service, or "". A provider that
// receives SMS without an address for them is not counted: kannel without reply_secret.
func (c *Config) SMSNumber() string {
	for _, p := range c.SMSProviders() {
		receives := p.Kind == "twilio" || p.Kind == "kannel" && p.ReplySecret != ""
		if receives && p.Sender != "" && !strings.ContainsFunc(strings.TrimPrefix(p.Sender, "+"), isNoDigit) {
			return p.Sender
		}
	}
	return ""
}

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

func (c *Config) checkSMS() []string {
	texts := splitSMS(c.SMS.Reveal())
	var messages []string
	for i, text := range texts {
		_, message := parseProvider(text)
		if message == "" && text == smsLog && len(texts) > 1 {
			message = "log must be alone: it sends nothing"
		}
		if message != "" && len(texts) > 1 {
			message = fmt.Sprintf("provider %d: %s", i+1, message)
		}
		messages = append(messages, optional(message)...)
	}
	return messages
}

// parseProvider parses one provider. Its messages do not repeat the text, which may contain a
// key.
func parseProvider(text string) (p SMSProvider, message string) {
	const supported = "this release supports log, http:<url>, kannel:<url>, twilio:<url> and msg91:<url>"
	kind, address, _ := strings.Cut(text, ":")
	form, known := smsForms[kind]
	u, err := url.Parse(address)
	switch {
	case text == smsLog:
		return SMSProvider{Kind: smsLog}, ""
	case !known && isName(kind):
		return p, fmt.Sprintf("there is no provider %s; %s", kind, supported)
	case !known:
		return p, "there is no such provider; " + supported
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return p, "must be written as " + form.example
	}
	p.Kind = kind
	options := u.RawQuery
	if kind == "http" {
		options = u.EscapedFragment()
		p.URL, _, _ = strings.Cut(address, "#")
	} else {
		p.User = u.User.Username()
		p.Password, _ = u.User.Password()
		u.User, u.RawQuery = nil, ""
		p.URL = u.String()
	}
	return p, p.parseOptions(options, form.options)
}

// parseOptions sets the options that the URL of a provider has, and returns what is wrong with the
// account.
func (p *SMSProvider) parseOptions(text string, accepted []string) string {
	options, err := url.ParseQuery(strings.ReplaceAll(text, "+", "%2B")) // + begins a number
	for name, values := range options {
		if !slices.Contains(accepted, name) || len(values) != 1 {
			err = errors.Join(err, errors.New("option"))
		}
	}
	if err != nil {
		return fmt.Sprintf("%s accepts the options %s", p.Kind, strings.Join(accepted, ", "))
	}
	if rate := options.Get("rate"); rate != "" {
		p.Rate, err = strconv.ParseFloat(rate, 64)
		if err != nil || !(p.Rate > 0 && p.Rate <= maxRate) {
			return fmt.Sprintf("the rate must be messages a second, at most %d", maxRate)
		}
	}
	p.Sender, p.ReplySecret, p.EntityID = cmp.Or(options.Get("from"), options.Get("header")), options.Get("reply_secret"), options.Get("entity_id")
	switch p.Kind {
	case "kannel":
		return p.checkKannel()
	case "twilio":
		return p.checkTwilio()
	case "msg91":
		return p.checkMSG91()
	default:
		return ""
	}
}

var replySecret = regexp.MustCompile(`^[A-Za-z0-9_-]{16,}$`)

func (p *SMSProvider) checkKannel() string {
	switch {
	case p.User == "" || p.Password == "":
		return "kannel needs the user and the password of a sendsms-user: " + smsForms["kannel"].example
	case p.Sender != "" && !isSMSSender(p.Sender):
		return "the option from must be a number of 3 to 15 digits, or up to 11 letters and digits"
	case p.ReplySecret != "" && !replySecret.MatchString(p.ReplySecret):
		return "the option reply_secret must be at least 16 letters and digits"
	default:
		return ""
	}
}

var twilioAccountSID = regexp.MustCompile(`^AC[0-9a-fA-F]{32}$`)

func (p *SMSProvider) checkTwilio() string {
	isService := strings.HasPrefix(p.Sender, "MG") && len(p.Sender) == 34
	switch {
	case !twilioAccountSID.MatchString(p.User) || p.Password == "":
		return "twilio needs the account SID (AC and 32 hexadecimal digits) and the auth token: " + smsForms["twilio"].example
	case !isService && !isSMSSender(p.Sender):
		return "the option from must be a number of 3 to 15 digits, up to 11 letters and digits, or the SID of a messaging service (MG and 32 characters)"
	default:
		return ""
	}
}

func (p *SMSProvider) checkMSG91() string {
	switch {
	case p.User == "" || p.Sender == "":
		return "msg91 needs the auth key and the header: " + smsForms["msg91"].example
	case p.EntityID == "" || strings.ContainsFunc(p.EntityID, isNoDigit):
		return "the option entity_id must be the digits of the entity id in the registry of India (DLT)"
	default:
		return ""
	}
}

// isSMSSender accepts a phone number of up to 15 digits, or the 11 characters that a network
// carries of a name.
func isSMSSender(s string) bool {
	number := strings.TrimPrefix(s, "+")
	isNumber := !strings.ContainsFunc(number, isNoDigit) && len(number) >= 3 && len(number) <= 15
	return isNumber || s != "" && len(s) <= 11 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (c *Config) checkTemplates() []string {
	isMSG91 := func(p SMSProvider) bool { return p.Kind == "msg91" }
	if len(c.MSG91Templates) == 0 && slices.ContainsFunc(c.SMSProviders(), isMSG91) && len(c.checkSMS()) == 0 {
		return []string{"must be set, because SMS has msg91"}
	}
	return nil
}

func isNoDigit(r rune) bool { return r < '0' || r > '9' }

// isName reports whether s looks like the name of a provider. An error may print it; it
// must not print a key that was set by mistake.
func isName(s string) bool {
	return s != "" && len(s) <= 16 && !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
}

// maxRate is more than any provider takes, in messages a second.
const maxRate = 10_000

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
