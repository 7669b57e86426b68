package roster

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/wire"
)

// textRules are the rules of the texts of a player in the API.
var textRules = map[Column]wire.Rules{
	StudentName:  wire.ParseRules(fmt.Sprintf("name,max=%d", approval.MaxName)),
	GuardianName: wire.ParseRules(fmt.Sprintf("name,max=%d", approval.MaxName)),
	Relationship: wire.ParseRules(fmt.Sprintf("name,max=%d", approval.MaxRelationship)),

	Guardian2Name:         wire.ParseRules(fmt.Sprintf("name,max=%d", approval.MaxName)),
	Guardian2Relationship: wire.ParseRules(fmt.Sprintf("name,max=%d", approval.MaxRelationship)),
}

// check normalises the entry of the row and adds its faults, by the rules of a player in the API. A
// row whose cells may be in wrong columns gets no more faults.
func (row *Row) check(phones phone.Parser, now time.Time, batches batchIDs) {
	if slices.ContainsFunc(row.Faults, func(f Fault) bool { return f.Column == "" }) {
		return
	}
	e := &row.Entry
	for _, c := range []Column{StudentName, GuardianName, Relationship, Guardian2Name, Guardian2Relationship} {
		if text := e.Cell(c); *text != "" {
			var f wire.Faults
			*text = textRules[c].Text(*text, "", &f)
			if len(f) > 0 {
				row.add(c, f[0].Code, "%s Correct it.", f[0].Detail)
			}
		}
	}
	if e.StudentName == "" {
		row.add(StudentName, "required", "Write the full name of the student.")
	}
	for _, c := range []Column{StudentNumber, GuardianNumber, Guardian2Number} {
		row.checkNumber(phones, c)
	}
	for _, c := range []Column{StudentLanguage, GuardianLanguage, Guardian2Language} {
		row.checkLanguage(c)
	}
	for _, c := range []Column{GuardianEmail, Guardian2Email} {
		text, wrong := e.Cell(c), ""
		if *text == "" {
			continue
		}
		*text, wrong = input.ReadEmail(*text)
		if wrong != "" {
			row.add(c, "invalid_email", "%s Correct it, or leave the cell empty.", wrong)
		}
	}
	row.checkSecond()
	row.checkBasis()
	batches.check(row)
	needsGuardian := false
	if !row.hasFault(BirthDate) {
		born, err := approval.ParseDate(e.BirthDate)
		if err != nil {
			row.add(BirthDate, "unlikely_date", "This date does not exist. Check the year.")
		} else if wrong := approval.CheckBirthDate(born, now); wrong != "" {
			row.add(BirthDate, "unlikely_date", "%s Check the year.", wrong)
		}
		needsGuardian = err == nil && !born.IsAdult(now)
	}
	row.checkGuardian(needsGuardian && !row.hasFault(BirthDate))
}

// checkSecond counts a second guardian with the number of the first, and does not import them: schools write one number
// for both parents. A second guardian has a name and a number.
func (row *Row) checkSecond() {
	e := &row.Entry
	switch {
	case e.Guardian2Name == "":
	case e.Guardian2Number == e.GuardianNumber:
		e.Guardian2Name, e.Guardian2Relationship, e.Guardian2Number, e.Guardian2Email, e.Guardian2Language = "", "", "", "", ""
		e.OtherGuardians++
	case e.Guardian2Relationship == "":
		row.add(Guardian2Relationship, "required", "Write who the second guardian is for the student, such as mother or father.")
	}
}

// checkBasis replaces the words for a basis by its kind, or adds a fault.
func (row *Row) checkBasis() {
	text := &row.Entry.Basis
	for kind, words := range basisWords {
		if slices.ContainsFunc(words, func(w string) bool { return foldTitle(w) == foldTitle(*text) }) {
			*text = string(kind)
		}
	}
	if _, ok := approval.BasisOf(*text); !ok {
		row.add(Basis, "too_long", "Write at most %d characters.", approval.MaxBasisNote)
	}
}

// basisWords are words for a basis. Other words are the note of another basis.
var basisWords = map[approval.BasisKind][]string{
	approval.FamilyAsked: {"family asked", "the family asked", "the family asked me", "परिवार ने कहा", "परिवार ने मुझसे कहा"},
	approval.Membership:  {"member", "membership", "सदस्य", "सदस्यता"},
}

func (row *Row) hasFault(c Column) bool {
	return slices.ContainsFunc(row.Faults, func(f Fault) bool { return f.Column == c })
}

// shortenedNumber is a number of which a spreadsheet program shows only the first digits.
var shortenedNumber = regexp.MustCompile(`^\+?\d([.,]\d+)?[Ee]\+?\d+$`)

// betweenNumbers is what people and programs write between two numbers in one cell.
var betweenNumbers = regexp.MustCompile(`(?i)[/,;|&\n]| or | and | या |:::`)

func hasTwoNumbers(phones phone.Parser, text string) bool {
	parts := betweenNumbers.Split(text, -1)
	invalid := func(part string) bool { _, err := phones.Parse(part); return err != nil }
	return len(parts) > 1 && !slices.ContainsFunc(parts, invalid)
}

// checkNumber replaces a number by its stored form, or adds a fault.
func (row *Row) checkNumber(phones phone.Parser, c Column) {
	text := row.Entry.Cell(c)
	if *text == "" {
		return
	}
	n, err := phones.Parse(*text)
	switch {
	case err == nil:
		*text = string(n)
	case shortenedNumber.MatchString(*text):
		row.add(c, "shortened_number", "Your spreadsheet program has shortened this number. Format the column as text and write the number again.")
	case hasTwoNumbers(phones, *text):
		row.add(c, "two_numbers", "This cell has two numbers. Keep the number of the person who is named here.")
	default:
		row.add(c, "invalid_number", "This is not a mobile number. Write it with its country code, such as +91 98765 43210.")
	}
}

// checkGuardian adds a fault for each cell of the guardian that is needed and empty.
func (row *Row) checkGuardian(needed bool) {
	e := &row.Entry
	if !e.HasGuardian() {
		if needed {
			row.add(GuardianName, "guardian_required", "A student under 18 needs a guardian. Write the name and the number of the guardian.")
		}
		return
	}
	for _, cell := range []struct {
		column Column
		advice string
	}{
		{GuardianName, "Write the name of the guardian."},
		{Relationship, "Write who the guardian is for the student, such as mother or father."},
		{GuardianNumber, "Write the mobile number of the guardian."},
	} {
		if *e.Cell(cell.column) == "" {
			row.add(cell.column, "required", "%s", cell.advice)
		}
	}
}
