package team

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/touchline/touchline/internal/platform/wire"
)

// The currencies whose minor unit is not a hundredth (ISO 4217).
var (
	wholeCurrencies      = []string{"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"}
	thousandthCurrencies = []string{"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"}
)

// currencies are the codes of ISO 4217 that people pay with.
var currencies = strings.Fields(`
	AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY
	COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR
	IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR
	MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD
	SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD
	XCG XOF XPF YER ZAR ZMW ZWG`)

// KnownCurrency reports whether code is a currency of ISO 4217.
func KnownCurrency(code string) bool {
	_, found := slices.BinarySearch(currencies, code)
	return found
}

// Decimals returns how many decimals the minor unit of a currency is.
func Decimals(currency string) int {
	switch {
	case slices.Contains(wholeCurrencies, currency):
		return 0
	case slices.Contains(thousandthCurrencies, currency):
		return 3
	}
	return 2
}

// FormatAmount writes an amount of minor units as a decimal number, as in 1500.00.
func FormatAmount(amount int64, currency string) string {
	decimals := Decimals(currency)
	if decimals == 0 {
		return strconv.FormatInt(amount, 10)
	}
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	digits := fmt.Sprintf("%0*d", decimals+1, amount)
	point := len(digits) - decimals
	return sign + digits[:point] + "." + digits[point:]
}

// wholeAmount matches a number without decimals, with commas or spaces between its groups of digits
// or none: 1500, 1,500, 1 500, 1,00,000, 1,000,000.
var wholeAmount = regexp.MustCompile(`^([0-9]+|[0-9]{1,3}((,[0-9]{2,3}){0,3},|( [0-9]{2,3}){0,3} )[0-9]{3})$`)

// currencySigns are what people write for a currency beside its code, the longest first.
var currencySigns = map[string][]string{
	"INR": {"रुपये", "रु.", "रु", "rs.", "rs", "₹", "₨"},
	"USD": {"us$", "$"}, "EUR": {"€"}, "GBP": {"£"}, "LKR": {"rs.", "rs"}, "PKR": {"rs.", "rs"}, "NPR": {"rs.", "rs", "रु.", "रु"}, "BDT": {"৳"},
}

// ParseAmount reads an amount as people write it in a form, such as 1,500, ₹1,50,000.00 or
// Rs. 1500/-, in minor units. code is "too_large" for more than 64 bits,
// "ambiguous_amount" for digits with misplaced commas, points or spaces (the author of 12,50 means
// 12.50, and the author of 1.500 may mean 1500), and "invalid_amount" for other texts.
func ParseAmount(text, currency string) (amount int64, code string) {
	number := trimCurrency(strings.Join(strings.FieldsFunc(wire.Visible(text, false), unicode.IsSpace), " "), currency)
	whole, fraction, _ := strings.Cut(number, ".")
	decimals := Decimals(currency)
	if !wholeAmount.MatchString(whole) || len(fraction) > decimals || !isDigits(fraction) {
		if strings.Trim(number, "0123456789., ") == "" && strings.ContainsAny(number, "0123456789") {
			return 0, "ambiguous_amount"
		}
		return 0, "invalid_amount"
	}
	digits := strings.NewReplacer(",", "", " ", "").Replace(whole) + fraction + strings.Repeat("0", decimals-len(fraction))
	amount, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, "too_large"
	}
	return amount, ""
}

// trimCurrency removes the sign or code of the currency before or after a number, and the /- that
// ends amounts in India.
func trimCurrency(text, currency string) string {
	text = strings.TrimSpace(strings.TrimSuffix(strings.ToLower(text), "/-"))
	for _, sign := range append([]string{strings.ToLower(currency)}, currencySigns[currency]...) {
		if rest, found := strings.CutPrefix(text, sign); found {
			return strings.TrimSpace(rest)
		}
		if rest, found := strings.CutSuffix(text, sign); found {
			return strings.TrimSpace(rest)
		}
	}
	return text
}

func isDigits(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}
