package roster

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
)

// Columns are all columns, in the order of an export.
var Columns = []Column{
	StudentName, BirthDate, StudentNumber, StudentLanguage, GuardianName, Relationship, GuardianNumber, GuardianEmail, GuardianLanguage, Batches, Basis,
}

// Titles are the names of the columns in an export.
var Titles = map[Column]string{
	StudentName: "Student name", BirthDate: "Date of birth", StudentNumber: "Student number", StudentLanguage: "Student language",
	GuardianName: "Guardian name", Relationship: "Relationship", GuardianNumber: "Guardian number", GuardianEmail: "Guardian email",
	GuardianLanguage: "Guardian language", Batches: "Batches", Basis: "Basis",
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
	GuardianName: "guardian_2_name", GuardianFirstName: "guardian_2_first_name", GuardianLastName: "guardian_2_last_name", Relationship: "guardian_2_relationship",
	GuardianNumber: "guardian_2_number", GuardianEmail: "guardian_2_email", GuardianLanguage: "guardian_2_language",
}

// choices are the columns that a caller may name, in the order of the page.
var choices = []Column{
	StudentName, StudentFirstName, StudentMiddleName, StudentLastName, BirthDate, StudentNumber, StudentLanguage,
	GuardianName, GuardianFirstName, GuardianLastName, Relationship, GuardianNumber, GuardianEmail, GuardianLanguage,
	"guardian_2_name", "guardian_2_first_name", "guardian_2_last_name", "guardian_2_relationship", "guardian_2_number", "guardian_2_email", "guardian_2_language",
	Batches, Basis,
}

// Entry is one player as the cells of a row say. Texts are trimmed; dates are YYYY-MM-DD
// and numbers E.164 after the checks. An empty text means that the cell is empty.
type Entry struct {
	StudentName   string `json:"student_name,omitempty"`
	BirthDate     string `json:"date_of_birth,omitempty"`
	StudentNumber string `json:"student_number,omitempty"`
	// StudentLanguage and GuardianLanguage are "en" or "hi" after the checks. Empty means the default.
	StudentLanguage  string `json:"student_language,omitempty"`
	GuardianName     string `json:"guardian_name,omitempty"`
	Relationship     string `json:"relationship,omitempty"`
	GuardianNumber   string `json:"guardian_number,omitempty"`
	GuardianEmail    string `json:"guardian_email,omitempty"`
	GuardianLanguage string `json:"guardian_language,omitempty"`
	// Batches are names of batches of the coach with semicolons between; BatchIDs are
	// their ids after the checks.
	Batches  string   `json:"batches,omitempty"`
	BatchIDs []string `json:"batch_ids,omitempty"`
	// Basis is "family_asked", "membership" or another reason after the checks. Empty means the default.
	Basis string `json:"basis,omitempty"`
	// OtherGuardians is how many more guardians the row names. They are not imported.
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
