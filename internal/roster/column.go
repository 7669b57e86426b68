package roster

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
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

// The meanings of a title that is no Column.
const (
	unclear Column = "unclear" // a number, without saying whose
	ignored Column = "ignored" // a column of an export that the import does not read
)

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

// titles maps the folded titles of columns to their meaning.
var titles = newTitles()

func newTitles() map[string]Column {
	all := map[string]Column{}
	add := func(c Column, names ...string) {
		for _, name := range names {
			all[foldTitle(name)] = c
		}
	}
	add(StudentName, "name", "full name", "student", "child", "player", "नाम", "पूरा नाम", "छात्र", "छात्रा", "विद्यार्थी", "खिलाड़ी")
	add(BirthDate, "date of birth", "birth date", "birthday", "birthdate", "dob", "born", "date_of_birth",
		"जन्म तिथि", "जन्मतिथि", "जन्म की तारीख", "जन्म तारीख", "जन्म दिनांक", "जन्मदिन")
	add(GuardianName, "guardian", "parent", "अभिभावक", "माता-पिता")
	add(Relationship, "relationship", "relation", "relationship to student", "relationship to child", "relation to child", "guardian relationship",
		"रिश्ता", "संबंध", "सम्बन्ध", "बच्चे से रिश्ता", "छात्र से संबंध")
	add(GuardianEmail, "email", "e-mail", "mail", "email address", "e-mail address", "email id", "ईमेल", "ई-मेल")
	add(Batches, "batches", "batch", "batch name", "batch names", "बैच", "बैच का नाम", "बैचों के नाम")
	add(Basis, "basis", "reason", "आधार", "कारण")
	add(ignored, "guardian status", "student status", "added on", "player id")

	languages, languagesHindi := []string{"language", "message language", "messages language", "language of messages"}, []string{"भाषा", "संदेश की भाषा"}
	numbers := []string{
		"number", "mobile", "mobile number", "mobile no", "phone", "phone number", "phone no", "contact", "contact number", "contact no",
		"cell", "telephone", "whatsapp", "whatsapp number",
	}
	numbersHindi := []string{"नंबर", "मोबाइल", "मोबाइल नंबर", "फ़ोन", "फ़ोन नंबर", "संपर्क नंबर", "सम्पर्क नंबर"}
	add(unclear, numbers...)
	add(unclear, numbersHindi...)
	for _, who := range []string{"student", "students", "student's", "child", "child's", "player", "player's"} {
		add(StudentName, who+" name", who+" full name")
		for _, language := range languages {
			add(StudentLanguage, who+" "+language)
		}
		for _, number := range numbers {
			add(StudentNumber, who+" "+number)
		}
	}
	for _, who := range []string{"guardian", "guardian's", "parent", "parents", "parent's", "parents'"} {
		add(GuardianName, who+" name", who+" full name")
		add(GuardianEmail, who+" email", who+" e-mail", who+" mail", who+" email address", who+" email id")
		for _, language := range languages {
			add(GuardianLanguage, who+" "+language)
		}
		for _, number := range numbers {
			add(GuardianNumber, who+" "+number)
		}
	}
	for _, who := range []string{"छात्र की", "छात्रा की", "विद्यार्थी की", "बच्चे की", "खिलाड़ी की"} {
		for _, language := range languagesHindi {
			add(StudentLanguage, who+" "+language)
		}
	}
	for _, who := range []string{"अभिभावक की", "माता-पिता की", "माता पिता की"} {
		for _, language := range languagesHindi {
			add(GuardianLanguage, who+" "+language)
		}
	}
	for _, who := range []string{"छात्र का", "छात्रा का", "विद्यार्थी का", "बच्चे का", "खिलाड़ी का"} {
		add(StudentName, who+" नाम", who+" पूरा नाम")
		for _, number := range numbersHindi {
			add(StudentNumber, who+" "+number)
		}
	}
	for _, who := range []string{"अभिभावक का", "माता-पिता का", "माता पिता का"} {
		add(GuardianName, who+" नाम", who+" पूरा नाम")
		add(GuardianEmail, who+" ईमेल", who+" ई-मेल")
		for _, number := range numbersHindi {
			add(GuardianNumber, who+" "+number)
		}
	}
	return all
}

// foldTitle returns the same text for titles that mean the same: it drops what is in
// brackets, spaces, signs, and the dot below Devanagari letters, which many leave out.
func foldTitle(title string) string {
	title, _, _ = strings.Cut(title, "(")
	return strings.Map(func(r rune) rune {
		const nukta = '\u093c'
		if r == nukta || !(unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)) {
			return -1
		}
		return r
	}, norm.NFD.String(strings.ToLower(title)))
}
