package doctor

import (
	"context"
	"log/slog"
	"strings"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
)

// settings warns of settings that are valid but dangerous.
func (c *checkup) settings(context.Context) []Result {
	var results []Result
	for _, text := range c.cfg.Warnings(c.now()) {
		results = append(results, warning("%s. \"Production\" in docs/operating.md says what to set.", text))
	}
	add := func(dangerous bool, text string) {
		if dangerous {
			results = append(results, warning("%s", text))
		}
	}
	hosts := database.PlainHosts(c.cfg.DatabaseURL.Reveal())
	add(c.cfg.Development(), "This is development: SMS are printed in the terminal, and limits on OTPs and messages are off. Set SMS and PUBLIC_URL before people use it, and before a proxy stands in front.")
	add(len(hosts) > 0, "DATABASE_URL connects without TLS to "+strings.Join(hosts, ", ")+": use sslmode=verify-full.")
	add(c.cfg.AdminOn() && !config.IsLoopback(c.cfg.AdminAddr) && !c.cfg.TLSOn(), "ADMIN_ADDR has no TLS and is not a loopback address: tokens of operators cross the network unencrypted. Set TLS_CERT, or put TLS in front of it.")
	add(c.cfg.Log == "public", "LOG is public: everyone may read the log of consents, which names no person. Set LOG=operators unless you want that.")
	add(c.cfg.LogLevel < slog.LevelInfo, "LOG_LEVEL is debug: the log may contain addresses of clients. Set LOG_LEVEL=info.")
	if len(results) == 0 {
		return one(ok("No setting is known to be dangerous."))
	}
	return results
}
