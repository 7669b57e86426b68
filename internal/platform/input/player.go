package input

import (
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/wire"
)

// Player is the AddPlayerRequest of openapi.yaml.
type Player struct {
	Student  Student   `json:"student" rule:"required"`
	Guardian *Guardian `json:"guardian"`
	BatchIDs []string  `json:"batch_ids" rule:"max=20,each=36"`
}

type Student struct {
	FullName      string           `json:"full_name" rule:"required,name,min=1,max=100"`
	DateOfBirth   string           `json:"date_of_birth" rule:"required"`
	ContactNumber wire.Opt[string] `json:"contact_number" rule:"min=1,max=64"`
	Medical       wire.Opt[string] `json:"medical_information" rule:"lines,min=1,max=4000"`
	Language      wire.Opt[string] `json:"language" rule:"oneof=en|hi"`
}

type Guardian struct {
	Name         string           `json:"name" rule:"required,name,min=1,max=100"`
	Relationship string           `json:"relationship" rule:"required,name,min=1,max=50"`
	MobileNumber string           `json:"mobile_number" rule:"required,min=1,max=64"`
	Email        wire.Opt[string] `json:"email"`
	Language     wire.Opt[string] `json:"language" rule:"oneof=en|hi"`
}

// Read returns the student and the guardian. It also reports the faults that package
// approval would find, so that one response lists all of them.
func (in Player) Read(e Reader) (approval.Student, *approval.Guardian) {
	student := approval.Student{FullName: in.Student.FullName, Medical: in.Student.Medical.Value, Language: in.Student.Language.Value}
	birthDate, ok := e.BirthDate("/student/date_of_birth", in.Student.DateOfBirth)
	student.DateOfBirth = birthDate
	if in.Guardian == nil && ok && !birthDate.IsAdult(e.Now) {
		e.Faults.Add("/guardian", "required", approval.GuardianNeeded)
	}
	if text := in.Student.ContactNumber.Some(); text != nil {
		student.Number = e.Number("/student/contact_number", *text)
	}
	if in.Guardian == nil {
		return student, nil
	}
	return student, in.Guardian.guardian(e)
}

func (in Guardian) guardian(e Reader) *approval.Guardian {
	g := &approval.Guardian{
		Name: in.Name, Relationship: in.Relationship,
		Number: e.Number("/guardian/mobile_number", in.MobileNumber), Language: in.Language.Value,
	}
	if text := in.Email.Some(); text != nil {
		g.Email = e.Email("/guardian/email", *text)
	}
	return g
}

// PlayerPatch is the PlayerPatch of openapi.yaml.
type PlayerPatch struct {
	Student  *StudentPatch           `json:"student" rule:"notnull"`
	Guardian wire.Opt[GuardianPatch] `json:"guardian"`
}

type StudentPatch struct {
	FullName      *string          `json:"full_name" rule:"notnull,name,min=1,max=100"`
	DateOfBirth   *string          `json:"date_of_birth" rule:"notnull"`
	ContactNumber wire.Opt[string] `json:"contact_number" rule:"min=1,max=64"`
	Medical       wire.Opt[string] `json:"medical_information" rule:"lines,min=1,max=4000"`
	Language      wire.Opt[string] `json:"language" rule:"oneof=en|hi"`
}

// GuardianPatch is the GuardianPatch of openapi.yaml.
type GuardianPatch struct {
	Name         *string          `json:"name" rule:"notnull,name,min=1,max=100"`
	Relationship *string          `json:"relationship" rule:"notnull,name,min=1,max=50"`
	MobileNumber *string          `json:"mobile_number" rule:"notnull,min=1,max=64"`
	Email        wire.Opt[string] `json:"email"`
	Language     wire.Opt[string] `json:"language" rule:"oneof=en|hi"`
}

// Read returns the changes. Package approval checks what the changed player lacks.
func (in PlayerPatch) Read(e Reader) approval.Patch {
	p := approval.Patch{RemoveGuardian: in.Guardian.Set && in.Guardian.Null}
	if s := in.Student; s != nil {
		p.Student = s.patch(e)
	}
	if g := in.Guardian.Some(); g != nil {
		p.Guardian = g.Read(e)
	}
	return p
}

func (in StudentPatch) patch(e Reader) approval.StudentPatch {
	p := approval.StudentPatch{
		FullName: in.FullName,
		Number: patchText(in.ContactNumber, func(text string) phone.Number {
			return e.Number("/student/contact_number", text)
		}),
		Medical:  patchText(in.Medical, unchanged),
		Language: patchText(in.Language, unchanged),
	}
	if in.DateOfBirth != nil {
		birthDate, _ := e.BirthDate("/student/date_of_birth", *in.DateOfBirth)
		p.DateOfBirth = &birthDate
	}
	return p
}

func (in GuardianPatch) Read(e Reader) *approval.GuardianPatch {
	p := &approval.GuardianPatch{
		Name: in.Name, Relationship: in.Relationship,
		Email:    patchText(in.Email, func(text string) string { return e.Email("/guardian/email", text) }),
		Language: patchText(in.Language, unchanged),
	}
	if in.MobileNumber != nil {
		n := e.Number("/guardian/mobile_number", *in.MobileNumber)
		p.Number = &n
	}
	return p
}
