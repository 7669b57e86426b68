package config

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"time"
)

const (
	// codesPerAttempt is how many codes there must be for each wrong attempt that is allowed:
	// with fewer, guessing succeeds too often.
	codesPerAttempt = 1000
	// testNumberLifetime is longer than the review of an app takes.
	testNumberLifetime = 366 * 24 * time.Hour
)

// Warnings returns the settings that are valid but dangerous, as log lines for the start.
func (c *Config) Warnings(now time.Time) []string {
	var list []string
	warn := func(format string, args ...any) { list = append(list, prefix+fmt.Sprintf(format, args...)) }
	c.warnNetwork(warn)
	c.warnOTPs(warn)
	if c.Streams >= c.MaxConnections {
		warn("STREAMS (%d) is not below MAX_CONNECTIONS (%d): open streams can keep every other request waiting", c.Streams, c.MaxConnections)
	}
	c.warnTestNumbers(warn, now)
	if c.PrivacyProfile != none && c.Notice == BuiltIn {
		warn("NOTICE is built-in: the law of PRIVACY_PROFILE=%s wants a notice with the name and address of who is responsible", c.PrivacyProfile)
	}
	if c.GuardianProof == "required" && c.ProvidersFile() == "" && !c.DevelopmentPhones() {
		warn("GUARDIAN_PROOF is required and IDENTITY_PROVIDERS is none: a guardian can say yes only after an operator has recorded papers")
	}
	return list
}

// warnNetwork warns of tokens and OTPs that others can read, of links that families cannot open, and
// of proxies that any client can imitate.
func (c *Config) warnNetwork(warn func(string, ...any)) {
	public, err := url.Parse(c.PublicURL)
	if err != nil {
		return
	}
	host, _, _ := net.SplitHostPort(c.Addr)
	switch {
	case public.Scheme == "http" && !isLoopback(public.Hostname()):
		warn("PUBLIC_URL is http on %s: tokens and OTPs cross the network unencrypted", public.Hostname())
	case !isLoopback(host) && !c.TLSOn() && public.Scheme == "http" && c.SMS != smsLog:
		warn("ADDR is not a loopback address, and neither TLS_CERT, TLS_AUTOCERT_DOMAINS nor an https PUBLIC_URL is set: tokens and OTPs cross the network unencrypted")
	}
	if c.SMS != smsLog && !c.PublicURLSet() && isLoopback(public.Hostname()) {
		warn("PUBLIC_URL is not set: the links in messages begin with %s, which only this machine reaches", c.PublicURL)
	}
	if c.SMS == smsLog {
		if !isLoopback(host) {
			warn("SMS is log, but ADDR is not a loopback address: no SMS is sent, and the terminal shows every OTP")
		}
		if public.Scheme == "https" {
			warn("SMS is log, but PUBLIC_URL is https: no SMS is sent, and the terminal shows every OTP")
		}
		if isLoopback(host) && public.Scheme == "http" && !c.Development() {
			warn("SMS is log, which is for development: no SMS is sent, and the terminal shows every OTP")
		}
	}
	if public.Scheme == "https" && c.InsecureHTTP {
		warn("INSECURE_HTTP is on: requests that a proxy received over http are answered, and others can read their tokens and OTPs")
	}
	if slices.ContainsFunc(c.TrustedProxies, func(p netip.Prefix) bool { return p.Bits() == 0 }) {
		warn("TRUSTED_PROXIES trusts every address: any client can choose the address that limits count")
	}
}

// warnOTPs warns of OTPs that are easy to find by trial, and of messages without a limit.
func (c *Config) warnOTPs(warn func(string, ...any)) {
	sends := []int{c.OTPSendsPerHour, c.OTPSendsPerDay, c.OTPSendsPerAddressHour, c.OTPSendsTotalHour}
	if !c.Development() && slices.Contains(c.Countries, "*") && slices.Max(sends) == 0 {
		warn("OTP_SENDS_PER_HOUR, _PER_DAY, _PER_ADDRESS_HOUR and _TOTAL_HOUR are off and COUNTRIES is *: anyone can have SMS sent to any number, at your cost")
	}
	if codes, attempts := math.Pow10(c.OTPLength), max(c.OTPTries, c.OTPWrongPerDay); float64(attempts)*codesPerAttempt > codes {
		warn("OTP_LENGTH is %d: there are %.0f OTPs, and OTP_TRIES and OTP_WRONG_PER_DAY allow %d attempts", c.OTPLength, codes, attempts)
	}
}

func (c *Config) warnTestNumbers(warn func(string, ...any), now time.Time) {
	for _, t := range c.TestNumbers {
		switch {
		case !now.Before(t.Until):
			warn("TEST_NUMBERS: the last day of %s has passed", t.Number.Mask())
		case t.Until.Sub(now) > testNumberLifetime:
			warn("TEST_NUMBERS: the last day of %s is more than a year away: anyone who knows its OTP can sign in until then", t.Number.Mask())
		}
	}
}
