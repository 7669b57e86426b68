package web

import (
	"context"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
)

// MenuItem is an item of the coach's menu.
type MenuItem struct {
	Name, Path string
	Current    bool
	// Count is the number of things to look at, 0 for none.
	Count int
}

// coachMenu lists the sections of the coach's pages.
var coachMenu = []MenuItem{
	{Name: "today", Path: "/coach"},
	{Name: "players", Path: "/coach/players"},
	{Name: "batches", Path: "/coach/batches"},
	{Name: "fees", Path: "/coach/fees"},
	{Name: "messages", Path: "/coach/messages"},
	{Name: "notifications", Path: "/coach/notifications"},
	{Name: "profile", Path: "/coach/profile"},
	{Name: "settings", Path: "/coach/settings"},
}

// operatorMenu lists the sections of the console with the scopes that they need.
var operatorMenu = []struct {
	MenuItem
	scope operator.Scope
}{
	{MenuItem{Name: "overview", Path: "/"}, ""},
	{MenuItem{Name: "kyc", Path: "/kyc"}, operator.KYC},
	{MenuItem{Name: "coaches", Path: "/coaches"}, operator.Coaches},
	{MenuItem{Name: "tier-requests", Path: "/tier-requests"}, operator.Coaches},
	{MenuItem{Name: "deliveries", Path: "/deliveries"}, operator.Deliveries},
	{MenuItem{Name: "audit", Path: "/audit"}, operator.Audit},
}

// Menu returns the menu of the coach or operator with the current section marked.
func (v *View) Menu() []MenuItem {
	if v.Operator != nil {
		return v.consoleMenu()
	}
	menu := make([]MenuItem, len(coachMenu))
	for i, item := range coachMenu {
		item.Current = item.Name == v.Section
		if item.Name == "notifications" {
			item.Count = v.Unread
		}
		menu[i] = item
	}
	return menu
}

// consoleMenu lists the sections that the operator's token allows.
func (v *View) consoleMenu() []MenuItem {
	var menu []MenuItem
	for _, item := range operatorMenu {
		if item.scope == "" || v.Operator.Token.HasScope(item.scope) {
			item.Current = item.Name == v.Section
			menu = append(menu, item.MenuItem)
		}
	}
	return menu
}

// CoachView returns the View of a page of the coach's section with this name.
func (p *Pages) CoachView(ctx context.Context, r *Request, section, title string, by actor.Actor) (*View, error) {
	v := p.SignedInView(r, title, by)
	v.Section = section
	unread, err := p.Tray.Unread(ctx, by)
	v.Unread = unread
	return v, err
}
