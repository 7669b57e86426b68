package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/witness"
)

// none is the value of an empty list, because an empty variable counts as not set.
const none = "none"

// parse converts text to the type t of the setting. Its errors, joined by errors.Join,
// say what is accepted and do not contain the text, which may be secret.
func (s setting) parse(t reflect.Type, text string) (any, error) {
	switch t {
	case reflect.TypeFor[string]():
		return text, nil
	case reflect.TypeFor[Secret]():
		return Secret(text), nil
	case reflect.TypeFor[SecretURL]():
		return SecretURL(text), nil
	case reflect.TypeFor[bool]():
		return parseSwitch(text)
	case reflect.TypeFor[int]():
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("must be a whole number, %s", s.Limits)
		}
		return n, nil
	case reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("must be a duration such as 90s, 15m or 48h, %s", s.Limits)
		}
		return d, nil
	case reflect.TypeFor[slog.Level]():
		return parseLevel(text)
	case reflect.TypeFor[[]string]():
		return parseList(text), nil
	case reflect.TypeFor[[]netip.Prefix]():
		return parsePrefixes(text)
	case reflect.TypeFor[Budget]():
		return parseBudget(text)
	case reflect.TypeFor[[]SMSPrice]():
		return parsePrices(text)
	case reflect.TypeFor[WhatsAppAccount]():
		return parseWhatsAppAccount(text)
	case reflect.TypeFor[[]SMSTemplate]():
		return parseTemplates(text)
	case reflect.TypeFor[[]PasskeyApp]():
		return parsePasskeyApps(text)
	case reflect.TypeFor[[]TestNumber]():
		return parseTestNumbers(text)
	case reflect.TypeFor[[]witness.Witness]():
		return parseWitnesses(text)
	default:
		return nil, fmt.Errorf("has the unsupported type %s", t)
	}
}

func parseSwitch(text string) (any, error) {
	switch text {
	case "on":
		return true, nil
	case "off":
		return false, nil
	default:
		return nil, errors.New("must be on or off")
	}
}

func parseLevel(text string) (any, error) {
	var level slog.Level
	known := []string{"debug", "info", "warn", "error"}
	if !slices.Contains(known, strings.ToLower(text)) || level.UnmarshalText([]byte(text)) != nil {
		return nil, errors.New("must be debug, info, warn or error")
	}
	return level, nil
}

// parseList splits text at commas and drops empty and repeated parts.
func parseList(text string) []string {
	var list []string
	if text == none {
		return list
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part != "" && !slices.Contains(list, part) {
			list = append(list, part)
		}
	}
	return list
}

func parsePrefixes(text string) (any, error) {
	var prefixes []netip.Prefix
	var errs []error
	for _, part := range parseList(text) {
		p, err := netip.ParsePrefix(part)
		if err != nil {
			addr, addrErr := netip.ParseAddr(part)
			if addrErr != nil || addr.Zone() != "" {
				errs = append(errs, fmt.Errorf("%q is neither an address nor a range such as 10.0.0.0/8", part))
				continue
			}
			p = netip.PrefixFrom(addr, addr.BitLen())
		}
		if p.Addr().Is4In6() {
			errs = append(errs, fmt.Errorf("%q is an IPv4 address in IPv6 form; write it as IPv4", part))
			continue
		}
		prefixes = append(prefixes, p.Masked())
	}
	return prefixes, errors.Join(errs...)
}

// parseTestNumbers parses <number>=<OTP>@<last day>. Errors give the position of an
// entry, because the entry holds an OTP.
func parseTestNumbers(text string) (any, error) {
	var numbers []TestNumber
	var errs []error
	for i, part := range parseList(text) {
		number, rest, ok1 := strings.Cut(part, "=")
		code, day, ok2 := strings.Cut(rest, "@")
		if !ok1 || !ok2 {
			errs = append(errs, fmt.Errorf("entry %d must be written as +919900000001=123456@2027-01-31", i+1))
			continue
		}
		n, err := phone.Parser{}.Parse(number)
		if err != nil {
			errs = append(errs, fmt.Errorf("entry %d: the number is %w", i+1, err))
		}
		if slices.ContainsFunc(numbers, func(t TestNumber) bool { return t.Number == n && n != "" }) {
			errs = append(errs, fmt.Errorf("entry %d repeats a number", i+1))
		}
		last, err := time.Parse(time.DateOnly, day)
		if err != nil {
			errs = append(errs, fmt.Errorf("entry %d: the last day must be a date such as 2027-01-31", i+1))
		}
		numbers = append(numbers, TestNumber{Number: n, Code: Secret(code), Until: last.AddDate(0, 0, 1)})
	}
	return numbers, errors.Join(errs...)
}
