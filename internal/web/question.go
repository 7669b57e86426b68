package web

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

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
	// them. NeedsGuardian reports whether a student's services wait for the guardian's yes.
	Services          []string
	On, NeedsGuardian bool
	// Chat reports whether the service has a transport for the chat.
	Chat bool
	// RequestID is the open request that the page shows, or empty. A decision names it, so
	// that it is refused if the coach has changed the question meanwhile.
	RequestID string
	// ProofEnded reports whether the guardian can answer without an open request: see approval.Party.ProofEnded. RequestID then names the
	// request of the former yes.
	ProofEnded bool
	// Request is the newest request, or nil, and Version its version: the page shows it.
	Request  *approval.Request
	Version  int64
	Disputed bool
	Action   approval.Trigger
	History  []approval.Record
	// MessagesStopped reports whether the caller stopped the messages of the coach. Only the
	// page of one player has it, and Done, what a form has changed.
	MessagesStopped bool
	Done            string
	// Next is the next open question of the caller, on the page after an answer, or nil.
	Next *Question
	// Others are the other guardians, or all of a student who has several. Pages show only FirstName and Relationship.
	Others []*approval.Party
	// Proof says whether a guardian's yes needs a proof, and ProofHow how an attempt to prove it ended. Providers are the ways to prove it.
	// Only the page of the answer has the last two.
	Proof     approval.ProofState
	ProofHow  string
	Providers []approval.ProofChoice
	// MayEndView reports whether an adult student may end the guardian's view.
	MayEndView bool
}

// Question returns the page data of a player that the caller may see.
func (p *Pages) Question(ctx context.Context, r *Request, by actor.Actor) (Question, error) {
	player, history, err := p.Approvals.Status(ctx, by, r.PathValue("player_id"))
	if err != nil {
		return Question{}, err
	}
	return p.NewQuestion(r, by, player, history), nil
}

func (p *Pages) NewQuestion(r *Request, by actor.Actor, player *approval.Player, history []approval.Record) Question {
	approver := player.SeenBy(by, by.Role)
	d := Question{
		ID: player.ID, Path: PlayerPath(by.Role, player.ID), CoachID: player.CoachID, Coach: message.Name(player.CoachName, ""), Student: player.Student.FullName,
		Guardian: by.Role == actor.Guardian, Adult: player.Adult(p.Now()), State: approver.Consent.State, Consent: approver.Consent,
	}
	d.Proof = p.Approvals.Rules.ProofState(player, approver, p.Now())
	services := player.ConsentStatus().SeenBy(by).Availability(p.Approvals.Rules, p.Now())
	d.On, d.Chat = services.GuardianApp, services.HasChat
	if by.Role == actor.Student {
		d.On = services.StudentApp
		d.NeedsGuardian = p.Approvals.Rules.NeedsGuardian(player.Student.DateOfBirth, p.Now()) && player.GuardianApproval() != approval.GuardiansAgree
	}
	d.Services = ServicesOf(services)
	d.MayEndView = by.Role == actor.Student && d.Adult && d.State != approval.Pending && len(player.Guardians()) > 0
	if guardians := player.Guardians(); len(guardians) > 1 && player.DisclosedTo(by) == approval.Details {
		d.Others = slices.DeleteFunc(guardians, func(g *approval.Party) bool { return g.GuardianID == approver.GuardianID })
	}
	if player.DisclosedTo(by) == approval.Outline {
		// A stranger may have chosen the name.
		d.Student = message.Name(player.Student.FullName, p.NewView(r, "").MustT("question.the_child"))
	}
	if asked := approver.Question(); asked != nil {
		d.RequestID, d.ProofEnded = asked.ID, approver.ProofEnded()
	}
	if approver.Request != nil {
		d.Request, d.Version = approver.Request, approver.Request.Version
	}
	d.Disputed = approver.Request != nil && approver.Request.State == approval.RequestDisputed
	for _, record := range history {
		if record.Party == by.Role {
			d.History = append(d.History, record)
		}
	}
	return d
}

// ServicesOf returns the app services that the coach's tier has.
func ServicesOf(a approval.Availability) []string {
	return slices.DeleteFunc(slices.Clone(approval.AppServices), func(service string) bool { return slices.Contains(a.NotInTier, service) })
}

// Asked returns the question, also of a page that shows more.
func (d Question) Asked() Question { return d }

// NeedsProof reports whether a yes is refused until the guardian has proved to be an adult.
func (d Question) NeedsProof() bool { return d.Proof == approval.ProofMissing }

// CanAnswer reports whether there is a question to answer.
func (d Question) CanAnswer() bool { return d.MayAnswer() && !d.ProofEnded }

// MayAnswer reports whether the caller can answer, also without a question because the proof ended.
func (d Question) MayAnswer() bool { return d.State == approval.Pending && d.RequestID != "" }

// Shows reports whether the page shows the version that the caller saw, 0 if that is not known. It is true if there is nothing to answer.
func (d Question) Shows(version int64) bool { return !d.MayAnswer() || d.Request.Shows(version) }

// OnCoachDevice reports whether the party's yes counts and was given on a device of the coach.
func (d Question) OnCoachDevice() bool {
	return d.State == approval.Approved && len(d.History) > 0 && d.History[len(d.History)-1].CoachDevice
}

// MayCheck reports whether the party may take the action of the page.
func (d Question) MayCheck() bool {
	_, err := d.State.Next(d.Action)
	return err == nil && (d.State != approval.Pending || d.MayAnswer())
}
