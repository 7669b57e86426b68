package web

import "github.com/touchline/touchline/internal/platform/actor"

// accountRoutes lists the pages on which coaches manage their own account.
func (p *Pages) accountRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: SettingsPath, Handle: p.SignedIn(actor.Coach, p.settings)},
		{Method: "GET", Pattern: SettingsPath + "/export", Handle: p.SignedIn(actor.Coach, p.exportAll)},
		{Method: "POST", Pattern: SettingsPath, Handle: p.SignedIn(actor.Coach, p.saveSettings)},
		{Method: "POST", Pattern: SettingsPath + "/devices/{session_id}/end", Handle: p.SignedIn(actor.Coach, p.endSession)},
		{Method: "GET", Pattern: numberPath, Handle: p.SignedIn(actor.Coach, p.changeNumberPage)},
		{Method: "POST", Pattern: numberPath, Handle: p.SignedIn(actor.Coach, p.beginNumberChange)},
		{Method: "GET", Pattern: codesPath, Handle: p.SignedIn(actor.Coach, p.numberCodesPage)},
		{Method: "POST", Pattern: codesPath, Handle: p.SignedIn(actor.Coach, p.changeNumber)},
		{Method: "POST", Pattern: numberPath + "/again", Handle: p.SignedIn(actor.Coach, p.sendNumberCodes)},
		{Method: "GET", Pattern: closePath, Handle: p.SignedIn(actor.Coach, p.closeAccountPage)},
		{Method: "POST", Pattern: closePath, Handle: p.SignedIn(actor.Coach, p.sendCloseCode)},
		{Method: "GET", Pattern: closeCodePath, Handle: p.SignedIn(actor.Coach, p.closeCodePage)},
		{Method: "POST", Pattern: closeCodePath, Handle: p.closeAccount},
		{Method: "GET", Pattern: closedPath, Handle: p.accountClosed},
	}
}
