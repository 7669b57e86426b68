package consent

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/signin"
	"github.com/touchline/touchline/internal/web"
)

// maxToken is longer than every token of the service, in bytes.
const maxToken = 128

func (p pages) linkRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Pattern: "/a/{token}", Handle: p.withLink(p.question)},
		{Method: "GET", Pattern: "/a/{token}/answer", Handle: p.toQuestion},
		{Method: "POST", Pattern: "/a/{token}/answer", Handle: p.withLink(p.beginAnswer), Urgent: true},
		{Method: "GET", Pattern: "/a/{token}/later", Handle: p.withLink(p.later)},
		{Method: "GET", Pattern: "/a/{token}/not-me", Handle: p.withLink(p.notMe)},
		{Method: "POST", Pattern: "/a/{token}/not-me", Handle: p.refuseByLink, Urgent: true},
		{Method: "GET", Pattern: notMeDone, Handle: p.refusedByLink},
		{Method: "GET", Pattern: "/a", Handle: p.shortCodePage},
		{Method: "POST", Pattern: "/a", Handle: p.enterShortCode},
	}
}

// question is the data of the page of an open link before the sign-in. Names are made safe
// as in messages, because strangers can open the page of a link that they were sent.
type question struct {
	Token    string
	Coach    string
	Student  string
	Guardian bool // the question is to the guardian; otherwise to the student
	Adult    bool
	Number   string // masked
	ByMail   bool   // the link left by mail: "This isn't me" ends only mail to the address
	Chat     bool   // the service has a transport for the chat
	Services []string
	// Batch is a batch of the student, or "".
	Batch string
	// Version is the version of the request, which shows these names.
	Version int64
	// Picture is the address of the picture of the coach, and Verified says that the identity was checked: both only
	// if the public page of the coach shows it.
	Picture  string
	Verified bool
}

// withLink returns a handler that is called with an open link. For every other link it
// shows one page without names, or, to the party that the link asked, the answer.
func (p pages) withLink(h func(context.Context, *web.Request, approval.LinkState) (web.Response, error)) web.Handler {
	return func(ctx context.Context, r *web.Request) (web.Response, error) {
		token := r.PathValue("token")
		if !plausible(token) {
			return p.closedLink(r), nil
		}
		link, err := p.Link(ctx, vault.HashToken(token))
		if err != nil {
			return web.Response{}, err
		}
		if link.Open {
			return h(ctx, r, link)
		}
		suffix := ""
		if link.Old {
			suffix = "/answer"
		}
		for _, role := range approval.Parties {
			by, ok := r.Actor(role)
			if !ok {
				continue
			}
			id, err := p.LinkedPlayer(ctx, by, vault.HashToken(token))
			if err == nil {
				return web.Redirect(web.PlayerPath(role, id) + suffix), nil
			}
			if fault.KindOf(err) != fault.NotFound {
				return web.Response{}, err
			}
		}
		return p.notOpen(r, link.Old), nil
	}
}

// closedLink is the page of every link whose request is not open. It is byte for byte the same
// for all of them, also if no such link ever existed.
func (p pages) closedLink(r *web.Request) web.Response { return p.notOpen(r, false) }

// notOpen is the page of a link that is not open, because it is old or its request is closed. It
// has no names. The query "sign-in" leads to the sign-in and, for the party that the link asked,
// back to its question or answer.
func (p pages) notOpen(r *web.Request, old bool) web.Response {
	token := r.PathValue("token")
	switch {
	case r.URL.Query().Has("signed-in") || r.URL.Query().Has("sign-in") && !plausible(token):
		return web.Redirect("/me")
	case r.URL.Query().Has("sign-in"):
		return web.Redirect("/sign-in/family?" + url.Values{"next": {"/a/" + token + "?signed-in"}}.Encode())
	}
	text := "link.closed"
	if old {
		text = "link.old"
	}
	v := p.site.NewView(r, text+".title")
	v.InlineStyle, v.HidePath, v.Path, v.Data = true, true, "/a", text
	return web.Page("link_closed", v).With(http.StatusNotFound)
}

// toQuestion serves GET /a/{token}/answer, which a browser opens by the back button or
// after a change of the language.
func (p pages) toQuestion(_ context.Context, r *web.Request) (web.Response, error) {
	path := "/a/" + url.PathEscape(r.PathValue("token"))
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	return web.Redirect(path), nil
}

// question serves GET /a/{token}: who asks and what a yes means. It changes nothing,
// because phones and scanners fetch links.
func (p pages) question(ctx context.Context, r *web.Request, link approval.LinkState) (web.Response, error) {
	return p.questionPage(ctx, r, link, new(web.Form))
}

func (p pages) questionPage(ctx context.Context, r *web.Request, link approval.LinkState, f *web.Form) (web.Response, error) {
	q, err := p.shownQuestion(ctx, r, link)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.NewView(r, "question.title")
	v.InlineStyle = true
	v.Form = f
	v.Path = "/a/" + r.PathValue("token")
	v.Data = q
	return web.FormPage("question", v), nil
}

// shownQuestion returns newQuestion with what the coach shows.
func (p pages) shownQuestion(ctx context.Context, r *web.Request, link approval.LinkState) (q question, err error) {
	q = p.newQuestion(r, link)
	q.Picture, q.Verified, err = p.site.ShownOf(ctx, link.CoachID)
	return q, err
}

func (p pages) newQuestion(r *web.Request, link approval.LinkState) question {
	return question{
		Token: r.PathValue("token"), Coach: message.Name(link.CoachName, ""), Student: message.Name(link.StudentName, ""),
		Guardian: link.Party == actor.Guardian, Adult: link.Adult, Number: web.Masked(link.Number), ByMail: !link.ToNumber, Chat: p.Rules.HasChat,
		Batch:    message.Name(link.BatchName, ""),
		Version:  link.Version,
		Services: web.ServicesOf(approval.ConsentStatus{CoachTier: link.CoachTier}.Availability(p.Rules, p.Now())),
	}
}

// beginAnswer serves POST /a/{token}/answer: it leads a party that is signed in to the
// answer, and sends a code to everyone else. The code goes to the number that was asked.
func (p pages) beginAnswer(ctx context.Context, r *web.Request, link approval.LinkState) (web.Response, error) {
	if seen := seenVersion(r); seen != 0 && seen != link.Version { // a form of an older page
		f := new(web.Form)
		p.addChanges(r, f, message.Name(link.CoachName, ""))
		resp, err := p.questionPage(ctx, r, link, f)
		return resp.With(http.StatusConflict), err
	}
	next := web.PlayerPath(link.Party, link.PlayerID) + "/answer?version=" + strconv.FormatInt(link.Version, 10)
	if by, ok := r.Actor(link.Party); ok && by.Number == link.Number {
		return web.Redirect(next), nil
	}
	pending := signin.SignIn{Role: link.Party, Number: link.Number, FromLink: true, Link: r.PathValue("token"), Next: next}
	f := new(web.Form)
	resp, sent, err := p.SignIn.AskForCode(ctx, p.site, r, pending, f, "")
	if err == nil && !sent {
		return p.questionPage(ctx, r, link, f)
	}
	return resp, err
}

// later serves GET /a/{token}/later: it says how to decide another day.
func (p pages) later(_ context.Context, r *web.Request, link approval.LinkState) (web.Response, error) {
	v := p.site.NewView(r, "later.title")
	v.InlineStyle = true
	v.Data = p.newQuestion(r, link)
	return web.Page("later", v), nil
}

// plausible reports whether s can be a token: base64url and at most maxToken long.
func plausible(s string) bool {
	return s != "" && len(s) <= maxToken && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}
