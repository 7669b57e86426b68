package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/phone"
)

// Money is an amount of SMS_BUDGET or SMS_PRICES in 1/10,000 of the unit of their currency.
type Money int64

const (
	moneyUnit     = 10_000
	moneyDecimals = 4
	// maxMoney is 10 million, so that sums of amounts fit into 64 bits.
	maxMoney = 10_000_000 * moneyUnit
)

// Units returns the amount in units of the currency.
func (m Money) Units() float64 { return float64(m) / moneyUnit }

// String returns the amount as an operator would write it, such as 0.12.
func (m Money) String() string {
	return strconv.FormatFloat(m.Units(), 'f', -1, 64)
}

var errMoney = errors.New("must be an amount such as 500 or 0.12, with at most 4 decimals, up to 10000000")

func parseMoney(text string) (Money, error) {
	whole, decimals, _ := strings.Cut(text, ".")
	if len(decimals) > moneyDecimals {
		return 0, errMoney
	}
	n, err := strconv.ParseUint(whole+decimals+strings.Repeat("0", moneyDecimals-len(decimals)), 10, 63)
	if err != nil || whole == "" || n > maxMoney {
		return 0, errMoney
	}
	return Money(n), nil
}

// Budget has the budgets of SMS_BUDGET, which are apart; 0 is no limit.
type Budget struct {
	// SMS is for all messages but calls.
	SMS, Calls Money
}

const callsOption = "calls="

// What a price is for. A price of an SMS segment has "".
const (
	priceOfCall = "call"
	// priceOfChat is the price of a WhatsApp template of the category utility, and priceOfChatOTP that of the category authentication.
	priceOfChat    = "whatsapp"
	priceOfChatOTP = "whatsapp_otp"
)

// String returns the budgets as an operator would write them.
func (b Budget) String() string {
	text := none
	if b.SMS > 0 {
		text = b.SMS.String()
	}
	if b.Calls > 0 {
		text += "," + callsOption + b.Calls.String()
	}
	return text
}

// parseBudget parses an amount or none, and the amount for calls after it.
func parseBudget(text string) (any, error) {
	var b Budget
	sms, calls, hasCalls := strings.Cut(text, ",")
	var err error
	sms = strings.TrimSpace(sms)
	if sms != none {
		b.SMS, err = parseMoney(sms)
	}
	if hasCalls && err == nil {
		calls, found := strings.CutPrefix(strings.TrimSpace(calls), callsOption)
		b.Calls, err = parseMoney(calls)
		if !found || err != nil || b.Calls == 0 {
			err = errors.New("must be an amount, and the one for calls after it: 500,calls=100")
		}
	}
	return b, err
}

// SMSPrice is the price of an SMS segment, of a call or of a WhatsApp message to a country. The country * is every other one.
type SMSPrice struct {
	Country string
	// Of is empty for an SMS segment, else call, whatsapp or whatsapp_otp.
	Of    string
	Price Money
	// Currency is empty for the currency of DEFAULT_REGION.
	Currency string
}

// String returns the price as an operator would write it.
func (p SMSPrice) String() string { return p.name() + "=" + p.Price.String() + p.Currency }

func (p SMSPrice) name() string {
	if p.Of != "" {
		return p.Country + "/" + p.Of
	}
	return p.Country
}

// parsePrices parses <country>=<price><currency> of each segment, and <country>/call=…, …/whatsapp=… and …/whatsapp_otp=…
func parsePrices(text string) (any, error) {
	var prices []SMSPrice
	var errs []error
	for _, part := range parseList(text) {
		country, price, _ := strings.Cut(part, "=")
		country, of, hasOf := strings.Cut(strings.TrimSpace(country), "/")
		country, of = strings.ToUpper(country), strings.ToLower(of)
		price = strings.TrimSpace(price)
		number := strings.TrimRight(price, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
		amount, err := parseMoney(number)
		p := SMSPrice{country, of, amount, price[len(number):]}
		switch {
		case country != "*" && !phone.KnownRegion(country), hasOf && !slices.Contains([]string{priceOfCall, priceOfChat, priceOfChatOTP}, of):
			errs = append(errs, fmt.Errorf("%q must be written as IN=0.12 or *=4.00, or IN/call=0.60 for a call, IN/whatsapp=0.12 and IN/whatsapp_otp=0.12", part))
		case err != nil:
			errs = append(errs, fmt.Errorf("the price of %s %w", p.name(), err))
		case slices.ContainsFunc(prices, func(other SMSPrice) bool { return other.name() == p.name() }):
			errs = append(errs, fmt.Errorf("%s has two prices", p.name()))
		case p.Currency != "" && !isCurrency(p.Currency):
			errs = append(errs, fmt.Errorf("the price of %s must end with an ISO 4217 currency of three capital letters, such as USD", country))
		case len(prices) > 0 && prices[0].Currency != p.Currency:
			errs = append(errs, errors.New("the prices must have one currency"))
		}
		prices = append(prices, p)
	}
	return prices, errors.Join(errs...)
}

// SegmentPrice returns the price of an SMS segment to a number, or 0 without SMS_PRICES.
func (c *Config) SegmentPrice(n phone.Number) Money {
	price, _ := c.price(n, "")
	return price
}

// ChatPrice returns the price of a WhatsApp message in a template of the category utility: the price of an SMS segment if SMS_PRICES
// has none.
func (c *Config) ChatPrice(n phone.Number) Money {
	if price, found := c.price(n, priceOfChat); found {
		return price
	}
	return c.SegmentPrice(n)
}

// ChatOTPPrice returns what an OTP by WhatsApp counts: the price of its template, or of an SMS segment if that is dearer, because it
// leaves by SMS if WhatsApp cannot deliver it.
func (c *Config) ChatOTPPrice(n phone.Number) Money {
	price, _ := c.price(n, priceOfChatOTP)
	return max(price, c.SegmentPrice(n))
}

// CallPrice returns the price of a call to a number: the price of an SMS segment if SMS_PRICES has none
// for calls.
func (c *Config) CallPrice(n phone.Number) Money {
	if price, found := c.price(n, priceOfCall); found {
		return price
	}
	return c.SegmentPrice(n)
}

func (c *Config) price(n phone.Number, of string) (price Money, found bool) {
	region := ""
	if len(c.SMSPrices) > 0 {
		region = n.Region()
	}
	for _, p := range c.SMSPrices {
		switch {
		case p.Of != of:
		case p.Country == region:
			return p.Price, true
		case p.Country == "*":
			price, found = p.Price, true
		}
	}
	return price, found
}

// checkPrices checks that each number that may get an SMS has a price.
func (c *Config) checkPrices() []string {
	priced := func(country string) bool {
		return slices.ContainsFunc(c.SMSPrices, func(p SMSPrice) bool { return p.Country == country && p.Of == "" })
	}
	if len(c.SMSPrices) == 0 || priced("*") {
		return nil
	}
	var messages []string
	for _, country := range c.Countries {
		if !priced(country) {
			messages = append(messages, fmt.Sprintf("must have a price for %s, which COUNTRIES allows", country))
		}
	}
	return messages
}

func (c *Config) checkBudget() []string {
	switch {
	case c.SMSBudget != Budget{} && len(c.SMSPrices) == 0:
		return []string{"needs SMS_PRICES"}
	case c.SMSBudget.SMS > 0 && c.SMSBudget.Calls == 0 && c.HasVoice() && !c.VoiceLog():
		return []string{"needs a budget for calls too, because VOICE makes calls: " + c.SMSBudget.SMS.String() + ",calls=100"}
	}
	return nil
}
