package web

import "github.com/touchline/touchline/internal/platform/actor"

// accountRoutes lists the pages on which coaches manage their own account.
func (p *Pages) accountRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: SettingsPath, Handle: p.SignedIn(actor.Coach, p.settings)},
		{Method: "GET", Pattern: SettingsPath + "/export", Handle: p.SignedIn(actor.Coach, p.exportAll)},
		{Method: "POST", Pattern: SettingsPath, Handle: p.SignedIn(actor.Coach, p.saveSettings)},
	}
}
