package roster

import (
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Column is a column of the spreadsheet that the import reads.
type Column string

// The columns, in the order of an export.
const (
	StudentName      Column = "student_name"
	BirthDate        Column = "date_of_birth"
	StudentNumber    Column = "student_number"
	StudentLanguage  Column = "student_language"
	GuardianName     Column = "guardian_name"
	Relationship     Column = "relationship"
	GuardianNumber   Column = "guardian_number"
	GuardianEmail    Column = "guardian_email"
	GuardianLanguage Column = "guardian_language"
	Batches          Column = "batches"
	Basis            Column = "basis"

	Guardian2Name         Column = "guardian_2_name"
	Guardian2Relationship Column = "guardian_2_relationship"
	Guardian2Number       Column = "guardian_2_number"
	Guardian2Email        Column = "guardian_2_email"
	Guardian2Language     Column = "guardian_2_language"
)

// Columns are all columns, in the order of an export.
var Columns = []Column{
	StudentName, BirthDate, StudentNumber, StudentLanguage, GuardianName, Relationship, GuardianNumber, GuardianEmail, GuardianLanguage,
	Guardian2Name, Guardian2Relationship, Guardian2Number, Guardian2Email, Guardian2Language, Batches, Basis,
}

// Titles are the names of the columns in an export.
var Titles = map[Column]string{
	StudentName: "Student name", BirthDate: "Date of birth", StudentNumber: "Student number", StudentLanguage: "Student language",
	GuardianName: "Guardian name", Relationship: "Relationship", GuardianNumber: "Guardian number", GuardianEmail: "Guardian email",
	GuardianLanguage: "Guardian language", Batches: "Batches", Basis: "Basis",
	Guardian2Name: "Guardian 2 name", Guardian2Relationship: "Guardian 2 relationship", Guardian2Number: "Guardian 2 mobile",
	Guardian2Email: "Guardian 2 email", Guardian2Language: "Guardian 2 language",
}

// The parts of names, which an export does not have.
const (
	StudentFirstName  Column = "student_first_name"
	StudentMiddleName Column = "student_middle_name"
	StudentLastName   Column = "student_last_name"
	GuardianFirstName Column = "guardian_first_name"
	GuardianLastName  Column = "guardian_last_name"
)

// secondGuardian are the columns of a second guardian, by those of the first.
var secondGuardian = map[Column]Column{
	GuardianName: Guardian2Name, GuardianFirstName: "guardian_2_first_name", GuardianLastName: "guardian_2_last_name", Relationship: Guardian2Relationship,
	GuardianNumber: Guardian2Number, GuardianEmail: Guardian2Email, GuardianLanguage: Guardian2Language,
}

// choices are the columns that a caller may name, in the order of the page.
var choices = []Column{
	StudentName, StudentFirstName, StudentMiddleName, StudentLastName, BirthDate, StudentNumber, StudentLanguage,
	GuardianName, GuardianFirstName, GuardianLastName, Relationship, GuardianNumber, GuardianEmail, GuardianLanguage,
	Guardian2Name, "guardian_2_first_name", "guardian_2_last_name", Guardian2Relationship, Guardian2Number, Guardian2Email, Guardian2Language,
	Batches, Basis,
}

// Entry is one player as the cells of a row say. Texts are trimmed; dates are YYYY-MM-DD
// and numbers E.164 after the checks. An empty text means that the cell is empty.
type Entry struct {
	StudentName   string `json:"student_name,omitempty"`
	BirthDate     string `json:"date_of_birth,omitempty"`
	StudentNumber string `json:"student_number,omitempty"`
	// The languages are codes after the checks. Empty means the default.
	StudentLanguage  string `json:"student_language,omitempty"`
	GuardianName     string `json:"guardian_name,omitempty"`
	Relationship     string `json:"relationship,omitempty"`
	GuardianNumber   string `json:"guardian_number,omitempty"`
	GuardianEmail    string `json:"guardian_email,omitempty"`
	GuardianLanguage string `json:"guardian_language,omitempty"`

	Guardian2Name         string `json:"guardian_2_name,omitempty"`
	Guardian2Relationship string `json:"guardian_2_relationship,omitempty"`
	Guardian2Number       string `json:"guardian_2_number,omitempty"`
	Guardian2Email        string `json:"guardian_2_email,omitempty"`
	Guardian2Language     string `json:"guardian_2_language,omitempty"`

	// Batches are names of batches of the coach with semicolons between; BatchIDs are
	// their ids after the checks.
	Batches  string   `json:"batches,omitempty"`
	BatchIDs []string `json:"batch_ids,omitempty"`
	// Basis is "family_asked", "membership" or another reason after the checks. Empty means the default.
	Basis string `json:"basis,omitempty"`
	// OtherGuardians is how many more guardians the row names. They are not imported: a third one, or one without a
	// number that no other guardian of the row has.
	OtherGuardians int `json:"other_guardians,omitempty"`
}

// Cell returns the text of the column, to read or to change.
func (e *Entry) Cell(c Column) *string {
	switch c {
	case StudentName:
		return &e.StudentName
	case BirthDate:
		return &e.BirthDate
	case StudentNumber:
		return &e.StudentNumber
	case StudentLanguage:
		return &e.StudentLanguage
	case GuardianName:
		return &e.GuardianName
	case Relationship:
		return &e.Relationship
	case GuardianNumber:
		return &e.GuardianNumber
	case GuardianEmail:
		return &e.GuardianEmail
	case GuardianLanguage:
		return &e.GuardianLanguage
	case Guardian2Name:
		return &e.Guardian2Name
	case Guardian2Relationship:
		return &e.Guardian2Relationship
	case Guardian2Number:
		return &e.Guardian2Number
	case Guardian2Email:
		return &e.Guardian2Email
	case Guardian2Language:
		return &e.Guardian2Language
	case Basis:
		return &e.Basis
	default:
		return &e.Batches
	}
}

// HasGuardian reports whether any cell of the guardian is filled in. A language alone does not
// count, because coaches fill it in for a whole column.
func (e *Entry) HasGuardian() bool {
	return e.GuardianName != "" || e.Relationship != "" || e.GuardianNumber != "" || e.GuardianEmail != ""
}

// guardians returns the guardians of the row, at most two.
func (e *Entry) guardians() (all []approval.Person) {
	if e.HasGuardian() {
		all = append(all, approval.Person{
			Name: e.GuardianName, Relationship: e.Relationship, Number: phone.Number(e.GuardianNumber), Email: e.GuardianEmail, Language: e.GuardianLanguage,
		})
	}
	if e.Guardian2Name != "" {
		all = append(all, approval.Person{
			Name: e.Guardian2Name, Relationship: e.Guardian2Relationship, Number: phone.Number(e.Guardian2Number), Email: e.Guardian2Email, Language: e.Guardian2Language,
		})
	}
	return all
}
