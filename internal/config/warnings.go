package config

import (
	"fmt"
	"net"
	"net/url"
	"time"
)

// Warnings returns the settings that are valid but risky, as log lines for the start.
func (c *Config) Warnings(now time.Time) []string {
	var list []string
	if u, err := url.Parse(c.PublicURL); err == nil && u.Scheme == "http" && !isLoopback(u.Hostname()) {
		list = append(list, fmt.Sprintf("%sPUBLIC_URL is http on %s: tokens and OTPs cross the network unencrypted", prefix, u.Hostname()))
	}
	if host, _, err := net.SplitHostPort(c.Addr); err == nil && !isLoopback(host) && c.SMS == "log" {
		list = append(list, prefix+"SMS is log, but ADDR is not a loopback address: no SMS is sent, and the terminal shows every OTP")
	}
	for _, t := range c.TestNumbers {
		if !now.Before(t.Until) {
			list = append(list, fmt.Sprintf("%sTEST_NUMBERS: the last day of %s has passed", prefix, t.Number.Mask()))
		}
	}
	return list
}
