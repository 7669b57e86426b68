package web

import (
	"context"
	"slices"

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

// coachMenu lists the sections of the coach's pages. On a phone they are a bar at the bottom: five
// items fit. The last one is the page of moreMenu.
var coachMenu = []MenuItem{
	{Name: "today", Path: "/coach"},
	{Name: "players", Path: "/coach/players"},
	{Name: "batches", Path: "/coach/batches"},
	{Name: "messages", Path: "/coach/messages"},
	{Name: "more", Path: "/coach/more"},
}

// moreMenu lists the sections of the page More.
var moreMenu = []MenuItem{
	{Name: "notifications", Path: "/coach/notifications"},
	{Name: "fees", Path: "/coach/fees"},
	{Name: "profile", Path: "/coach/profile"},
	{Name: "visibility", Path: "/coach/visibility"},
	{Name: "verification", Path: "/coach/verification"},
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
	{MenuItem{Name: "webhooks", Path: "/webhooks"}, operator.Webhooks},
	{MenuItem{Name: "audit", Path: "/audit"}, operator.Audit},
}

// Menu returns the menu of the coach or operator with the current section marked.
func (v *View) Menu() []MenuItem {
	if v.Operator != nil {
		return v.consoleMenu()
	}
	menu := slices.Clone(coachMenu)
	current := slices.IndexFunc(menu, func(item MenuItem) bool { return item.Name == v.Section })
	last := len(menu) - 1
	if current < 0 {
		current = last
	}
	menu[current].Current, menu[last].Count = true, v.Unread
	menu[last-1].Count = v.Replies
	return menu
}

// more serves GET /coach/more: the sections that the menu has no place for.
func (p *Pages) more(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	v := p.CoachView(r, "more", "menu.more", by)
	items := slices.Clone(moreMenu)
	if !p.Subscriptions.Tiers.KYC {
		items = slices.DeleteFunc(items, func(item MenuItem) bool { return item.Name == "verification" })
	}
	v.Data = map[string]any{"Items": items}
	return Page("more", v), nil
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

// CoachView returns the View of a page of the coach's section with this name. The counts of its menu are read after the
// handler.
func (p *Pages) CoachView(r *Request, section, title string, by actor.Actor) *View {
	v := p.SignedInView(r, title, by)
	v.Section, v.countMenu = section, true
	return v
}

// readCounts reads the counts of the menu.
func (p *Pages) readCounts(ctx context.Context, v *View) (err error) {
	if v == nil || !v.countMenu {
		return nil
	}
	if v.Unread, err = p.Tray.Unread(ctx, *v.Caller); err != nil {
		return err
	}
	v.Replies, err = p.UnreadReplies(ctx, *v.Caller)
	return err
}
