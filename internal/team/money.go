package team

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// wholeAmount matches a number without decimals, with commas between its groups of digits or none:
// 1500, 1,500, 1,00,000, 1,000,000.
var wholeAmount = regexp.MustCompile(`^([0-9]{1,15}|[0-9]{1,3}(,[0-9]{2,3}){0,3},[0-9]{3})$`)

// ParseAmount reads a decimal number as people write it in a form, such as 1,500 or
// 1500.50, in minor units. It returns false for a text that is not such a number or has too
// many decimals, also for 12,50: its author means 12.50, and 1250 would be wrong.
func ParseAmount(text, currency string) (int64, bool) {
	whole, fraction, _ := strings.Cut(strings.TrimSpace(text), ".")
	decimals := Decimals(currency)
	if !wholeAmount.MatchString(whole) || len(fraction) > decimals || !isDigits(fraction) {
		return 0, false
	}
	digits := strings.ReplaceAll(whole, ",", "") + fraction + strings.Repeat("0", decimals-len(fraction))
	amount, err := strconv.ParseInt(digits, 10, 64)
	return amount, err == nil
}

func isDigits(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}
