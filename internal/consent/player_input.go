package consent

import (
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/wire"
)

// addPlayerRequest is the AddPlayerRequest of openapi.yaml.
type addPlayerRequest struct {
	Student  studentBody   `json:"student" rule:"required"`
	Guardian *guardianBody `json:"guardian"`
	// Guardians stand in place of Guardian.
	Guardians []guardianBody `json:"guardians"`
	Rule      *string        `json:"guardian_rule" rule:"oneof=any|all"`
	BatchIDs  []string       `json:"batch_ids" rule:"max=20,each=36"`
	Basis     *basisBody     `json:"basis"`
}

// basisBody is the Basis of openapi.yaml.
type basisBody struct {
	Kind string           `json:"kind" rule:"required,oneof=family_asked|membership|other"`
	Note wire.Opt[string] `json:"note" rule:"lines,min=1,max=200"`
}

// read returns the basis; without one the default.
func (in *basisBody) read(e input.Reader) approval.Basis {
	if in == nil {
		return approval.Basis{}
	}
	b := approval.Basis{Kind: approval.BasisKind(in.Kind), Note: in.Note.Value}
	if b.Kind == approval.OtherBasis && b.Note == "" && !e.HasFault("/basis/note") {
		e.Faults.Add("/basis/note", "required", "Say why you may keep the data.")
	}
	return b
}

type studentBody struct {
	FullName      string           `json:"full_name" rule:"required,name,min=1,max=100"`
	DateOfBirth   string           `json:"date_of_birth" rule:"required"`
	ContactNumber wire.Opt[string] `json:"contact_number" rule:"min=1,max=64"`
	Medical       wire.Opt[string] `json:"medical_information" rule:"lines,min=1,max=4000"`
	Language      wire.Opt[string] `json:"language" rule:"min=1,max=35"`
}

type guardianBody struct {
	Name         string           `json:"name" rule:"required,name,min=1,max=100"`
	Relationship string           `json:"relationship" rule:"required,name,min=1,max=50"`
	MobileNumber string           `json:"mobile_number" rule:"required,min=1,max=64"`
	Email        wire.Opt[string] `json:"email"`
	Language     wire.Opt[string] `json:"language" rule:"min=1,max=35"`
}

// read returns the student and the guardians. It also reports the faults that package
// approval would find, so that one response lists all of them.
func (in addPlayerRequest) read(e input.Reader) (student approval.Student, guardians []approval.Person) {
	student = approval.Student{FullName: in.Student.FullName, Medical: in.Student.Medical.Value, Language: e.Language("/student/language", in.Student.Language.Value), Basis: in.Basis.read(e)}
	born, ok := birthDate(e, "/student/date_of_birth", in.Student.DateOfBirth)
	student.DateOfBirth = born
	student.Rule = approval.GuardianRule(text(in.Rule))
	if in.Guardian == nil && len(in.Guardians) == 0 && ok && !born.IsAdult(e.Now) {
		e.Faults.Add("/guardian", "required", approval.GuardianNeeded)
	}
	if text := in.Student.ContactNumber.Some(); text != nil {
		student.Number = e.Number("/student/contact_number", *text)
	}
	switch {
	case in.Guardian != nil && in.Guardians != nil:
		e.Faults.Add("/guardians", "invalid_value", "Send guardian or guardians, not both.")
	case in.Guardian != nil:
		guardians = append(guardians, in.Guardian.guardian(e, "/guardian"))
	}
	for i, g := range in.Guardians {
		if in.Guardian == nil {
			guardians = append(guardians, g.guardian(e, wire.PointTo("/guardians", i)))
		}
	}
	return student, guardians
}

func (in guardianBody) guardian(e input.Reader, pointer string) approval.Person {
	g := approval.Person{
		Name: in.Name, Relationship: in.Relationship,
		Number: e.Number(pointer+"/mobile_number", in.MobileNumber), Language: e.Language(pointer+"/language", in.Language.Value),
	}
	if text := in.Email.Some(); text != nil {
		g.Email = e.Email(pointer+"/email", *text)
	}
	return g
}

// playerPatchBody is the PlayerPatch of openapi.yaml.
type playerPatchBody struct {
	Student  *studentPatchBody           `json:"student" rule:"notnull"`
	Guardian wire.Opt[guardianPatchBody] `json:"guardian"`
	Rule     *string                     `json:"guardian_rule" rule:"notnull,oneof=any|all"`
}

type studentPatchBody struct {
	FullName      *string          `json:"full_name" rule:"notnull,name,min=1,max=100"`
	DateOfBirth   *string          `json:"date_of_birth" rule:"notnull"`
	ContactNumber wire.Opt[string] `json:"contact_number" rule:"min=1,max=64"`
	Medical       wire.Opt[string] `json:"medical_information" rule:"lines,min=1,max=4000"`
	Language      wire.Opt[string] `json:"language" rule:"min=1,max=35"`
}

// guardianPatchBody is the GuardianPatch of openapi.yaml.
type guardianPatchBody struct {
	Name         *string          `json:"name" rule:"notnull,name,min=1,max=100"`
	Relationship *string          `json:"relationship" rule:"notnull,name,min=1,max=50"`
	MobileNumber *string          `json:"mobile_number" rule:"notnull,min=1,max=64"`
	Email        wire.Opt[string] `json:"email"`
	Language     wire.Opt[string] `json:"language" rule:"min=1,max=35"`
}

// read returns the changes. Package approval checks what the changed player lacks.
func (in playerPatchBody) read(e input.Reader) approval.Patch {
	p := approval.Patch{RemoveGuardian: in.Guardian.Set && in.Guardian.Null}
	if s := in.Student; s != nil {
		p.Student = s.patch(e)
	}
	if in.Rule != nil {
		rule := approval.GuardianRule(*in.Rule)
		p.Rule = &rule
	}
	if g := in.Guardian.Some(); g != nil {
		p.Guardian = g.read(e, "/guardian")
	}
	return p
}

func (in studentPatchBody) patch(e input.Reader) approval.StudentPatch {
	p := approval.StudentPatch{
		FullName: in.FullName,
		Number: input.PatchText(in.ContactNumber, func(text string) phone.Number {
			return e.Number("/student/contact_number", text)
		}),
		Medical:  input.PatchText(in.Medical, unchanged),
		Language: input.PatchText(in.Language, func(code string) string { return e.Language("/student/language", code) }),
	}
	if in.DateOfBirth != nil {
		born, _ := birthDate(e, "/student/date_of_birth", *in.DateOfBirth)
		p.DateOfBirth = &born
	}
	return p
}

func (in guardianPatchBody) read(e input.Reader, pointer string) *approval.GuardianPatch {
	p := &approval.GuardianPatch{
		Name: in.Name, Relationship: in.Relationship,
		Email:    input.PatchText(in.Email, func(text string) string { return e.Email(pointer+"/email", text) }),
		Language: input.PatchText(in.Language, func(code string) string { return e.Language(pointer+"/language", code) }),
	}
	if in.MobileNumber != nil {
		n := e.Number(pointer+"/mobile_number", *in.MobileNumber)
		p.Number = &n
	}
	return p
}

// birthDate reads YYYY-MM-DD. ok is false if the field has a fault.
func birthDate(r input.Reader, at, text string) (date approval.Date, ok bool) {
	if r.HasFault(at) {
		return approval.Date{}, false
	}
	date, err := approval.ParseDate(text)
	switch {
	case err != nil && input.DateForm.MatchString(text):
		r.Faults.Add(at, "invalid_date", "This date does not exist.")
	case err != nil:
		r.Faults.Add(at, "invalid_date", "Write the date as YYYY-MM-DD.")
	default:
		r.Faults.Add(at, "invalid_date", approval.CheckBirthDate(date, r.Now))
	}
	return date, !r.Faults.Has(at)
}

func unchanged(text string) string { return text }
