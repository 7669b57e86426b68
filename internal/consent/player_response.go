package consent

import (
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/wire"
)

// playerResponse is the Player of openapi.yaml.
type playerResponse struct {
	PlayerID                string                   `json:"player_id"`
	CoachID                 string                   `json:"coach_id"`
	Student                 studentResponse          `json:"student"`
	Guardian                *guardianResponse        `json:"guardian"`
	Adult                   bool                     `json:"adult"`
	SharedContact           bool                     `json:"shared_contact"`
	GuardianStatus          string                   `json:"guardian_status"`
	StudentStatus           string                   `json:"student_status"`
	GuardianState           approval.State           `json:"guardian_state"`
	StudentState            approval.State           `json:"student_state"`
	GuardianStatusUpdatedAt *string                  `json:"guardian_status_updated_at"`
	StudentStatusUpdatedAt  *string                  `json:"student_status_updated_at"`
	GuardianRequestID       *string                  `json:"guardian_request_id"`
	StudentRequestID        *string                  `json:"student_request_id"`
	Guardians               []any                    `json:"guardians"`
	GuardianRule            approval.GuardianRule    `json:"guardian_rule"`
	GuardianApproval        *string                  `json:"guardian_approval"`
	Services                []approval.ServiceAccess `json:"services"`
	BatchIDs                []string                 `json:"batch_ids"`
	// Basis is absent for parties.
	Basis     *basisResponse `json:"basis,omitempty"`
	CreatedAt string         `json:"created_at"`
}

type basisResponse struct {
	Kind approval.BasisKind `json:"kind"`
	Note *string            `json:"note"`
}

type studentResponse struct {
	FullName      string  `json:"full_name"`
	DateOfBirth   string  `json:"date_of_birth"`
	ContactNumber *string `json:"contact_number"`
	HasMedical    bool    `json:"has_medical_information"`
	Language      *string `json:"language"`
}

type guardianResponse struct {
	Name         string  `json:"name"`
	Relationship string  `json:"relationship"`
	MobileNumber string  `json:"mobile_number"`
	Email        *string `json:"email"`
	Language     *string `json:"language"`
}

// player returns the fields of p that the caller may read.
func (v view) player(p *approval.Player) any {
	if p.DisclosedTo(v.by) == approval.Outline {
		return v.playerOutline(p)
	}
	return v.fullPlayer(p)
}

func (v view) fullPlayer(p *approval.Player) playerResponse {
	a := playerResponse{
		PlayerID: p.ID, CoachID: p.CoachID,
		Student: studentResponse{
			FullName:      p.Student.FullName,
			DateOfBirth:   p.Student.DateOfBirth.String(),
			ContactNumber: wire.OrNull(string(p.Number(actor.Student))),
			HasMedical:    p.Student.HasMedical,
			Language:      wire.OrNull(p.Party(actor.Student).Language),
		},
		Adult:                   p.Adult(v.now),
		SharedContact:           p.SharedContact(),
		Guardians:               v.guardians(p),
		GuardianRule:            p.Rule,
		GuardianApproval:        v.guardianApproval(p),
		GuardianStatus:          p.SeenBy(v.by, actor.Guardian).Consent.State.Status(),
		StudentStatus:           p.Party(actor.Student).Consent.State.Status(),
		GuardianState:           p.SeenBy(v.by, actor.Guardian).Consent.State,
		StudentState:            p.Party(actor.Student).Consent.State,
		GuardianStatusUpdatedAt: wire.TimestampOrNull(p.SeenBy(v.by, actor.Guardian).Consent.ChangedAt),
		StudentStatusUpdatedAt:  wire.TimestampOrNull(p.Party(actor.Student).Consent.ChangedAt),
		GuardianRequestID:       openRequestID(p, v.by, actor.Guardian),
		StudentRequestID:        openRequestID(p, v.by, actor.Student),
		Services:                p.ConsentStatus().SeenBy(v.by).Availability(v.rules, v.now).Services(),
		BatchIDs:                []string{},
		CreatedAt:               wire.Timestamp(p.CreatedAt),
	}
	for _, b := range p.Batches {
		a.BatchIDs = append(a.BatchIDs, b.ID)
	}
	if v.by.Role == actor.Coach {
		a.Basis = &basisResponse{p.Student.Basis.Kind, wire.OrNull(p.Student.Basis.Note)}
	}
	if g := p.SeenBy(v.by, actor.Guardian); g.Name != "" {
		a.Guardian = &guardianResponse{g.Name, g.Relationship, string(g.Number), wire.OrNull(g.Email), wire.OrNull(g.Language)}
	}
	return a
}

// playerOutlineResponse is the PlayerForParty of openapi.yaml.
type playerOutlineResponse struct {
	PlayerID  string  `json:"player_id"`
	CoachID   string  `json:"coach_id"`
	CoachName *string `json:"coach_name"`
	Student   struct {
		FullName string `json:"full_name"`
	} `json:"student"`
	GuardianStatus    string         `json:"guardian_status"`
	StudentStatus     string         `json:"student_status"`
	GuardianState     approval.State `json:"guardian_state"`
	StudentState      approval.State `json:"student_state"`
	GuardianRequestID *string        `json:"guardian_request_id"`
	StudentRequestID  *string        `json:"student_request_id"`
	Guardians         []any          `json:"guardians"`
}

func (v view) playerOutline(p *approval.Player) playerOutlineResponse {
	a := playerOutlineResponse{
		PlayerID: p.ID, CoachID: p.CoachID, CoachName: wire.OrNull(p.CoachName),
		GuardianStatus:    p.SeenBy(v.by, actor.Guardian).Consent.State.Status(),
		StudentStatus:     p.Party(actor.Student).Consent.State.Status(),
		GuardianState:     p.SeenBy(v.by, actor.Guardian).Consent.State,
		StudentState:      p.Party(actor.Student).Consent.State,
		GuardianRequestID: openRequestID(p, v.by, actor.Guardian),
		StudentRequestID:  openRequestID(p, v.by, actor.Student),
		Guardians:         v.guardians(p),
	}
	a.Student.FullName = p.Student.FullName
	return a
}

// openRequestID returns the id of the open request to a party as by sees it, or nil.
func openRequestID(p *approval.Player, by actor.Actor, party actor.Role) *string {
	if r := p.SeenBy(by, party).OpenRequest(); r != nil {
		return &r.ID
	}
	return nil
}

// myPlayerResponse is the MyPlayer of openapi.yaml: a player as a guardian or student sees it.
type myPlayerResponse struct {
	PlayerID           string         `json:"player_id"`
	CoachID            string         `json:"coach_id"`
	CoachName          *string        `json:"coach_name"`
	StudentName        string         `json:"student_name"`
	ApproverType       actor.Role     `json:"approver_type"`
	Status             string         `json:"status"`
	State              approval.State `json:"state"`
	RequestID          *string        `json:"request_id"`
	GuardianAppEnabled bool           `json:"guardian_app_enabled"`
	StudentAppEnabled  bool           `json:"student_app_enabled"`
}

func (v view) myPlayer(p *approval.Player) myPlayerResponse {
	state := p.SeenBy(v.by, v.by.Role).Consent.State
	on := p.ConsentStatus().SeenBy(v.by).Availability(v.rules, v.now)
	return myPlayerResponse{
		PlayerID: p.ID, CoachID: p.CoachID, CoachName: wire.OrNull(p.CoachName), StudentName: p.Student.FullName,
		ApproverType: v.by.Role, Status: state.Status(), State: state,
		RequestID:          openRequestID(p, v.by, v.by.Role),
		GuardianAppEnabled: on.GuardianApp, StudentAppEnabled: on.StudentApp,
	}
}
