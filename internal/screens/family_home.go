package screens

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/training"
	"github.com/touchline/touchline/internal/web"
)

// permissions serves GET /me/{role}: all children and coaches, open questions first.
func (p pages) permissions(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	players, next, err := p.childrenPage(ctx, by, r.Value("after"))
	if err != nil {
		return web.Response{}, err
	}
	unread, err := p.Tray.Unread(ctx, by)
	if err != nil {
		return web.Response{}, err
	}
	roles, err := p.Accounts.Store.Roles(ctx, by.Number)
	if err != nil {
		return web.Response{}, err
	}
	var waiting, answered []web.Question
	for _, player := range players {
		d := p.site.NewQuestion(r, by, player, nil)
		if d.CanAnswer() {
			waiting = append(waiting, d)
		} else {
			answered = append(answered, d)
		}
	}
	approved := []string{}
	var children []web.Question
	for _, d := range answered {
		if d.State == approval.Approved {
			approved = append(approved, d.ID)
			children = append(children, d)
		}
	}
	news, err := p.news(ctx, by, approved[:min(len(approved), childrenWithNews)])
	if err != nil {
		return web.Response{}, err
	}
	trainings, err := p.Trainings.Next(ctx, by, approved)
	if err != nil {
		return web.Response{}, err
	}
	var former []string
	if len(players) == 0 && by.Role == actor.Guardian {
		if former, err = p.Approvals.FormerPlayers(ctx, by, "", 1); err != nil {
			return web.Response{}, err
		}
	}
	v := p.site.SignedInView(r, "home.heading."+string(by.Role), by)
	v.Unread = unread
	v.Data = map[string]any{"Home": web.Home(by.Role), "Waiting": waiting, "Answered": answered, "Children": children, "News": news, "Guardian": by.Role == actor.Guardian, "OtherRoles": otherThan(by.Role, roles), "Next": next, "Trainings": trainings, "NotSaved": r.Value("answered"), "Former": len(former) > 0}
	return web.Page("permissions", v), nil
}

// childrenWithNews is for how many children the page shows what is due and the last report. Each takes
// some statements; a family with more children finds them on the pages of each.
const childrenWithNews = 4

// otherThan returns roles without role.
func otherThan(role actor.Role, roles []actor.Role) []actor.Role {
	return slices.DeleteFunc(roles, func(r actor.Role) bool { return r == role })
}

// linksPerPage is more links than a family has. A club may enter one number for many
// children.
const linksPerPage = 20

// childrenPage returns a page of the caller's links, newest first, and where the next page begins.
// If there are more, the first page begins with the newest ones that wait for an answer.
func (p pages) childrenPage(ctx context.Context, by actor.Actor, after string) (links []*approval.Player, next string, err error) {
	links, err = p.Approvals.Links(ctx, by, false, approval.Page{Limit: linksPerPage + 1, After: approval.Keyset{ID: after}})
	if err != nil || len(links) <= linksPerPage {
		return links, "", err
	}
	links = links[:linksPerPage]
	next = links[linksPerPage-1].ID
	if after == "" {
		waiting, err := p.Approvals.Links(ctx, by, true, approval.Page{Limit: linksPerPage})
		if err != nil {
			return nil, "", err
		}
		links = append(waiting, slices.DeleteFunc(links, func(l *approval.Player) bool {
			return slices.ContainsFunc(waiting, func(w *approval.Player) bool { return w.ID == l.ID })
		})...)
	}
	return links, next, nil
}

// child is what the page of one child shows.
type child struct {
	web.Question
	// Trainings are the next ones. NotSaved is why an answer to one was not saved.
	Trainings map[string][]training.OfPlayer
	NotSaved  string
	News      map[string]news
}

// ChildPage serves GET /me/{role}/players/{player_id}: the answer for one child, the services
// that are on, and every change.
func (s Service) ChildPage(ctx context.Context, site *web.Pages, r *web.Request, by actor.Actor) (web.Response, error) {
	d, err := site.Question(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	chosen, err := s.DB.Outbox.Preferences(ctx, by.Number)
	if err != nil {
		return web.Response{}, err
	}
	c := child{NotSaved: r.Value("answered")}
	if c.Trainings, err = s.Trainings.Next(ctx, by, []string{d.ID}); err != nil {
		return web.Response{}, err
	}
	if c.News, err = s.news(ctx, by, []string{d.ID}); err != nil {
		return web.Response{}, err
	}
	d.MessagesStopped, d.Done = slices.Contains(chosen.StoppedCoaches, d.CoachID), r.URL.Query().Get("done")
	v := site.SignedInView(r, "permission.title", by)
	v.TitleName = d.Student
	c.Question = d
	v.Data = c
	return web.Page("permission", v), nil
}
