package config

import (
	"fmt"
	"net/url"
	"strings"
)

// checkCORSOrigins returns a message for each entry that no browser sends as an origin, and
// for every wildcard.
func (c *Config) checkCORSOrigins() []string {
	var messages []string
	for _, origin := range c.CORSOrigins {
		if message := checkOrigin(origin); message != "" {
			messages = append(messages, message)
		}
	}
	return messages
}

func checkOrigin(origin string) string {
	if strings.Contains(origin, "*") {
		return fmt.Sprintf("%q would let sites that you do not know call the API; name each origin", origin)
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Sprintf("%q is not an origin; write it as https://app.example", origin)
	}
	// Browsers send lower case, Punycode, and no default port, path or final slash.
	want := strings.ToLower(u.Scheme + "://" + strings.TrimSuffix(u.Host, ":"+defaultPorts[u.Scheme]))
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r > 0x7e || r <= ' ' }) {
		return fmt.Sprintf("%q has letters outside ASCII; write the host in Punycode, as browsers send it", origin)
	}
	if origin != want {
		return fmt.Sprintf("%q is not an origin as browsers send it; write %s", origin, want)
	}
	return ""
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}
