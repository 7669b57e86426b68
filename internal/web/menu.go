package web

import (
	"cmp"
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
	// Wide items are there on a desktop only, and the narrow one, More, everywhere else.
	Wide, Narrow bool
}

// SettingsPath is the page of the coach's settings.
const SettingsPath = "/coach/settings"

// coachMenu lists the sections of the coach's pages. On a phone they are a bar at the bottom: five
// items fit. The last one is the page of moreMenu; a desktop has the wide items in its place.
var coachMenu = []MenuItem{
	{Name: "today", Path: "/coach"},
	{Name: "players", Path: "/coach/players"},
	{Name: "batches", Path: "/coach/batches"},
	{Name: "messages", Path: "/coach/messages"},
	{Name: "fees", Path: "/coach/fees", Wide: true},
	{Name: "notifications", Path: "/coach/notifications", Wide: true},
	{Name: "profile", Path: "/coach/profile", Wide: true},
	{Name: "settings", Path: "/coach/settings", Wide: true},
	{Name: "more", Path: "/coach/more", Narrow: true},
}

// wideSections are the items that are current on a desktop for sections without an item.
var wideSections = map[string]string{"visibility": "profile", "verification": "settings", "more": "settings"}

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
	section := cmp.Or(wideSections[v.Section], v.Section)
	inMore := !slices.ContainsFunc(menu, func(item MenuItem) bool { return item.Name == section && !item.Wide })
	for i := range menu {
		item := &menu[i]
		item.Current = item.Name == section || item.Narrow && inMore
		switch item.Name {
		case "messages":
			item.Count = v.Replies
		case "notifications", "more":
			item.Count = v.Unread
		}
	}
	return menu
}

// more serves GET /coach/more: the sections that the menu has no place for.
func (p *Pages) more(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	v := p.CoachView(r, "more", "menu.more", by)
	items := slices.Clone(moreMenu)
	if !p.Tiers.KYC {
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
	if v.Unread, err = p.Tray.UnreadNews(ctx, *v.Caller); err != nil {
		return err
	}
	v.Replies, err = p.UnreadReplies(ctx, *v.Caller)
	return err
}
