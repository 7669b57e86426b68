package web

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

func (p *Pages) familyRoutes() []Route {
	routes := []Route{{Method: "GET", Pattern: "/me", Handle: p.me}, {Method: "GET", Pattern: "/me/dispute-ended", Handle: p.lifted}}
	for _, role := range approval.Parties {
		base := "/me/" + string(role)
		one := base + "/players/{player_id}"
		routes = append(
			routes,
			Route{Method: "GET", Pattern: base, Handle: p.SignedIn(role, p.permissions)},
			Route{Method: "GET", Pattern: base + "/events", Handle: p.SignedIn(role, p.events), Stream: true},
			Route{Method: "GET", Pattern: base + "/messages", Handle: p.SignedIn(role, p.messages)},
			Route{Method: "POST", Pattern: base + "/messages/read", Handle: p.SignedIn(role, p.readMessages)},
			Route{Method: "GET", Pattern: base + "/settings", Handle: p.SignedIn(role, p.familySettings)},
			Route{Method: "POST", Pattern: base + "/settings", Handle: p.SignedIn(role, p.saveFamilySettings)},
			Route{Method: "POST", Pattern: base + "/settings/coaches/{coach_id}/allow", Handle: p.SignedIn(role, p.allowCoach)},
			Route{Method: "POST", Pattern: base + "/settings/push", Handle: p.SignedIn(role, p.subscribePush)},
			Route{Method: "POST", Pattern: base + "/settings/push/end", Handle: p.SignedIn(role, p.unsubscribePush)},
			Route{Method: "GET", Pattern: base + "/devices", Handle: p.SignedIn(role, p.devices)},
			Route{Method: "POST", Pattern: base + "/devices/{session_id}/end", Handle: p.SignedIn(role, p.endDevice)},
			Route{Method: "GET", Pattern: base + "/number", Handle: p.SignedIn(role, p.familyNumber)},
			Route{Method: "GET", Pattern: base + "/disputes", Handle: p.SignedIn(role, p.disputes)},
			Route{Method: "GET", Pattern: base + "/disputes/{request_id}", Handle: p.SignedIn(role, p.liftPage)},
			Route{Method: "POST", Pattern: base + "/disputes/{request_id}", Handle: p.SignedIn(role, p.lift)},
			Route{Method: "GET", Pattern: one, Handle: p.SignedIn(role, p.permission)},
			Route{Method: "GET", Pattern: one + "/answer", Handle: p.SignedIn(role, p.answer)},
			Route{Method: "GET", Pattern: one + "/check", Handle: p.SignedIn(role, p.check)},
			Route{Method: "POST", Pattern: one + "/check", Handle: p.SignedIn(role, p.beginCheck)},
			Route{Method: "GET", Pattern: one + "/decide", Handle: p.SignedIn(role, p.toAnswer)},
			Route{Method: "POST", Pattern: one + "/decide", Handle: p.SignedIn(role, p.decide), Urgent: true},
			Route{Method: "GET", Pattern: one + "/not-me", Handle: p.SignedIn(role, p.dispute)},
			Route{Method: "POST", Pattern: one + "/not-me", Handle: p.SignedIn(role, p.fileDispute), Urgent: true},
			Route{Method: "POST", Pattern: one + "/coach-messages", Handle: p.SignedIn(role, p.coachMessages)},
			Route{Method: "GET", Pattern: one + "/done", Handle: p.SignedIn(role, p.done)},
		)
	}
	return routes
}

// playerPath returns the page of a player for a party.
func playerPath(role actor.Role, playerID string) string {
	return "/me/" + string(role) + "/players/" + playerID
}

// me serves GET /me: it goes to the role in which this browser is signed in, and lets a
// person choose who is signed in as both or as none.
func (p *Pages) me(_ context.Context, r *Request) (Response, error) {
	_, guardian := r.Actor(actor.Guardian)
	_, student := r.Actor(actor.Student)
	switch {
	case guardian && student:
		return Redirect("/"), nil
	case guardian:
		return Redirect("/me/guardian"), nil
	case student:
		return Redirect("/me/student"), nil
	}
	return Redirect("/sign-in/family"), nil
}

// Question is the data of the pages of one question to the caller.
type Question struct {
	ID       string
	Path     string
	CoachID  string
	Coach    string
	Student  string
	Guardian bool
	Adult    bool
	State    approval.State
	Consent  approval.Consent
	// Services are the app services of the coach's tier. On reports whether the caller has
	// them. NeedsGuardian reports whether those of a student wait for the guardian's yes.
	Services          []string
	On, NeedsGuardian bool
	// Chat reports whether the service has a transport for the chat.
	Chat bool
	// RequestID is the open request that the page shows, or empty. A decision names it, so
	// that it is refused if the coach has changed the question meanwhile.
	RequestID string
	Disputed  bool
	Action    approval.Trigger
	History   []approval.Record
	// MessagesStopped reports whether the caller stopped the messages of the coach. Only the
	// page of one player has it, and Done, what a form has changed.
	MessagesStopped bool
	Done            string
	// Trainings are for the template next-training. NotSaved is why an answer to one was not saved.
	Trainings any
	NotSaved  string
}

// Question returns the page data of a player that the caller may see.
func (p *Pages) Question(ctx context.Context, r *Request, by actor.Actor) (Question, error) {
	id, err := r.PathID("player_id")
	if err != nil {
		return Question{}, err
	}
	player, history, err := p.Approvals.Status(ctx, by, id)
	if err != nil {
		return Question{}, err
	}
	return p.newAnswerPage(r, by, player, history), nil
}

func (p *Pages) newAnswerPage(r *Request, by actor.Actor, player *approval.Player, history []approval.Record) Question {
	approver := player.Approver(by.Role)
	d := Question{
		ID: player.ID, Path: playerPath(by.Role, player.ID), CoachID: player.CoachID, Coach: message.Name(player.CoachName, ""), Student: player.Student.FullName,
		Guardian: by.Role == actor.Guardian, Adult: player.Adult(p.Now()), State: approver.Consent.State, Consent: approver.Consent,
	}
	services := player.ConsentStatus().Availability(p.Approvals.Rules, p.Now())
	d.On, d.Chat = services.GuardianApp, services.HasChat
	if by.Role == actor.Student {
		d.On = services.StudentApp
		d.NeedsGuardian = p.Approvals.Rules.RequireGuardianForMinors && !d.Adult && player.GuardianApprover.Consent.State != approval.Approved
	}
	d.Services = servicesOf(services)
	if player.DisclosedTo(by, p.Now()) == approval.Outline {
		// A stranger may have chosen the name.
		d.Student = message.Name(player.Student.FullName, p.NewView(r, "").MustT("question.the_child"))
	}
	if open := approver.OpenRequest(); open != nil {
		d.RequestID = open.ID
	}
	d.Disputed = approver.Request != nil && approver.Request.State == approval.RequestDisputed
	for _, record := range history {
		if record.Party == by.Role {
			d.History = append(d.History, record)
		}
	}
	return d
}

// servicesOf returns the app services that the coach's tier has.
func servicesOf(a approval.Availability) []string {
	return slices.DeleteFunc(slices.Clone(approval.AppServices), func(service string) bool { return slices.Contains(a.NotInTier, service) })
}

// CanAnswer reports whether there is a question to answer.
func (d Question) CanAnswer() bool { return d.State == approval.Pending && d.RequestID != "" }

// OnCoachDevice reports whether the party's yes counts and was given on a device of the coach.
func (d Question) OnCoachDevice() bool {
	return d.State == approval.Approved && len(d.History) > 0 && d.History[len(d.History)-1].CoachDevice
}

// MayCheck reports whether the party may take the action of the page.
func (d Question) MayCheck() bool {
	_, err := d.State.Next(d.Action)
	return err == nil && (d.State != approval.Pending || d.CanAnswer())
}

// permissions serves GET /me/{role}: all children and coaches, open questions first.
func (p *Pages) permissions(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	players, next, err := p.links(ctx, by, r.Value("after"))
	if err != nil {
		return Response{}, err
	}
	unread, err := p.Tray.Unread(ctx, by)
	if err != nil {
		return Response{}, err
	}
	roles, err := p.Auth.Roles(ctx, by)
	if err != nil {
		return Response{}, err
	}
	var waiting, answered []Question
	for _, player := range players {
		d := p.newAnswerPage(r, by, player, nil)
		if d.CanAnswer() {
			waiting = append(waiting, d)
		} else {
			answered = append(answered, d)
		}
	}
	approved := []string{}
	for _, d := range answered {
		if d.State == approval.Approved {
			approved = append(approved, d.ID)
		}
	}
	trainings, err := p.NextTrainings(ctx, by, approved)
	if err != nil {
		return Response{}, err
	}
	v := p.SignedInView(r, "permissions.title", by)
	v.Unread = unread
	v.Data = map[string]any{"Home": home(by.Role), "Waiting": waiting, "Answered": answered, "Guardian": by.Role == actor.Guardian, "OtherRoles": otherThan(by.Role, roles), "Next": next, "Trainings": trainings, "NotSaved": r.Value("answered")}
	return Page("permissions", v), nil
}

// otherThan returns roles without role.
func otherThan(role actor.Role, roles []actor.Role) []actor.Role {
	return slices.DeleteFunc(roles, func(r actor.Role) bool { return r == role })
}

// linksPerPage is more links than a family has. A club may enter one number for many
// children.
const linksPerPage = 20

// links returns a page of the caller's links, newest first, and where the next page begins.
// If there are more, the first page begins with the newest ones that wait for an answer.
func (p *Pages) links(ctx context.Context, by actor.Actor, after string) (links []*approval.Player, next string, err error) {
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

// permission serves GET /me/{role}/players/{player_id}: the answer for one child, the services
// that are on, and every change.
func (p *Pages) permission(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.Question(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	chosen, err := p.Preferences.Preferences(ctx, by.Number)
	if err != nil {
		return Response{}, err
	}
	if d.Trainings, err = p.NextTrainings(ctx, by, []string{d.ID}); err != nil {
		return Response{}, err
	}
	d.NotSaved = r.Value("answered")
	d.MessagesStopped, d.Done = slices.Contains(chosen.StoppedCoaches, d.CoachID), r.URL.Query().Get("done")
	v := p.SignedInView(r, "permission.title", by)
	v.Data = d
	return Page("permission", v), nil
}

// done serves GET …/done: what the caller decided and what happens now.
func (p *Pages) done(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	d, err := p.Question(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	if d.State == approval.Pending { // the coach has asked again
		return Redirect(d.Path), nil
	}
	v := p.SignedInView(r, "done.title", by)
	v.Data = d
	return Page("done", v), nil
}
