package config

import (
	"fmt"
	"net"
	"net/url"
	"time"
)

// Warnings are what may be meant and is worth a line in the log at start.
func (c *Config) Warnings(now time.Time) []string {
	var list []string
	if u, err := url.Parse(c.PublicURL); err == nil && u.Scheme == "http" && !isLoopback(u.Hostname()) {
		list = append(list, fmt.Sprintf("%sPUBLIC_URL is http on %s: tokens and codes cross the network in the clear", prefix, u.Hostname()))
	}
	if host, _, err := net.SplitHostPort(c.Addr); err == nil && !isLoopback(host) && c.SMS == "log" {
		list = append(list, prefix+"SMS is log on an address that others reach: nobody gets an SMS, and whoever sees the terminal sees every code")
	}
	for _, t := range c.TestNumbers {
		if !now.Before(t.Until) {
			list = append(list, fmt.Sprintf("%sTEST_NUMBERS: the last day of %s is over", prefix, t.Number.Mask()))
		}
	}
	return list
}
