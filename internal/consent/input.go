package consent

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/wire"
)

// sendGuardianRequest is the SendGuardianRequest of openapi.yaml.
type sendGuardianRequest struct {
	PlayerID   string             `json:"player_id" rule:"required"`
	GuardianID *string            `json:"guardian_id" rule:"id"`
	Guardian   *guardianPatchBody `json:"guardian"`
	Channels   []string           `json:"channels" rule:"min=1"`
}

// correction returns the changes to the guardian that precede the request.
func (in sendGuardianRequest) correction(e input.Reader) approval.Patch {
	patch := approval.Patch{GuardianID: text(in.GuardianID)}
	if in.Guardian == nil {
		return patch
	}
	if *in.Guardian == (guardianPatchBody{}) {
		e.Faults.Add("/guardian", "required", "Send at least one field to correct, or leave guardian out.")
	}
	patch.Guardian = in.Guardian.read(e, "/guardian")
	return patch
}

// text returns the value of an optional text, or "".
func text(optional *string) string {
	if optional == nil {
		return ""
	}
	return *optional
}

// sendStudentRequest is the SendStudentRequest of openapi.yaml.
type sendStudentRequest struct {
	PlayerID string               `json:"player_id" rule:"required"`
	Student  *studentContactInput `json:"student"`
	Channels []string             `json:"channels" rule:"min=1"`
}

type studentContactInput struct {
	ContactNumber string `json:"contact_number" rule:"required,min=1,max=64"`
}

// correction returns the change to the student's number that precedes the request.
func (in sendStudentRequest) correction(e input.Reader) approval.Patch {
	if in.Student == nil {
		return approval.Patch{}
	}
	n := e.Number("/student/contact_number", in.Student.ContactNumber)
	return approval.Patch{Student: approval.StudentPatch{Number: &n}}
}

// channels validates the channels of a request. It returns nil if none is named.
func (h handlers) channels(names []string, f *wire.Faults) []message.Channel {
	available := h.Channels()
	var channels []message.Channel
	for i, name := range names {
		channel, at := message.Channel(name), wire.PointTo("/channels", i)
		switch {
		case name == string(message.Email) && !slices.Contains(available, channel):
			f.Add(at, "not_available", "This service sends no mail. Use "+listed(available)+".")
		case !slices.Contains(available, channel):
			f.Add(at, "invalid_value", "This must be one of "+listed(available)+".")
		case slices.Contains(channels, channel):
			f.Add(at, "not_unique", "Name each channel once.")
		}
		channels = append(channels, channel)
	}
	return channels
}

// listed formats channels as "in_app, sms".
func listed(channels []message.Channel) string {
	var names []string
	for _, channel := range channels {
		names = append(names, string(channel))
	}
	return strings.Join(names, ", ")
}

// reminderRequest is the ReminderRequest of openapi.yaml.
type reminderRequest struct {
	PlayerID     string  `json:"player_id" rule:"required"`
	ApproverType string  `json:"approver_type" rule:"required,oneof=guardian|student"`
	GuardianID   *string `json:"guardian_id" rule:"id"`
}

// party returns the party to remind.
func (in reminderRequest) party() actor.Role { return actor.Role(in.ApproverType) }

// followUpRequest is the FollowUpRequest of openapi.yaml.
type followUpRequest struct {
	// GuardianID is the guardian whom the request asks.
	GuardianID *string          `json:"guardian_id" rule:"id"`
	Note       wire.Opt[string] `json:"note" rule:"lines,max=500"`
}

// callRequest is the CallRequest of openapi.yaml.
type callRequest struct {
	// GuardianID is the guardian whom the request asks.
	GuardianID *string `json:"guardian_id" rule:"id"`
}

// decisionRequest is the DecisionRequest of openapi.yaml. The approver is the caller: the
// body cannot name another.
type decisionRequest struct {
	PlayerID  string           `json:"player_id" rule:"required"`
	Action    string           `json:"action" rule:"required,oneof=approved|rejected|revoked"`
	RequestID *string          `json:"request_id" rule:"id"`
	Reason    wire.Opt[string] `json:"reason" rule:"lines,max=500"`
	// Version is that of the request as the person saw it.
	Version *int `json:"version" rule:"min=1,max=1000000000"`
}

// decision returns the decision of the party.
func (in decisionRequest) decision() approval.Decision {
	d := approval.Decision{Action: approval.Trigger(in.Action), Reason: in.Reason.Value}
	if in.RequestID != nil {
		d.RequestID = *in.RequestID
	}
	if in.Version != nil {
		d.Wording.Version = int64(*in.Version)
	}
	return d
}
