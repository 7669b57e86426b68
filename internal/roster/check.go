package roster

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/phone"
)

// Rules are the rules for a player, which other packages hold.
type Rules struct {
	Phones phone.Parser
	// Text returns a name or a relationship as it is stored, and what is wrong with it: a
	// code and a sentence, or "".
	Text func(c Column, text string) (stored, code, wrong string)
	// BirthDate reports whether a person born on a day, YYYY-MM-DD, needs a guardian
	// today, and what is wrong with the birth date, or "".
	BirthDate func(date string) (needsGuardian bool, wrong string)
	// Email returns the fault of an e-mail address, or "".
	Email func(text string) string
	// FoldName returns the same text for names of the same student, if the birth date is the same.
	FoldName func(name string) string
}

// check normalises the entry of a row and adds its faults. A row whose cells may be in
// wrong columns gets no more faults.
func (r Rules) check(row *Row, batches batchIDs) {
	if slices.ContainsFunc(row.Faults, func(f Fault) bool { return f.Column == "" }) {
		return
	}
	e := &row.Entry
	if e.StudentName == "" {
		row.add(StudentName, "required", "Write the full name of the student.")
	}
	for _, c := range []Column{StudentName, GuardianName, Relationship} {
		if text := e.Cell(c); *text != "" {
			stored, code, wrong := r.Text(c, *text)
			if *text = stored; wrong != "" {
				row.add(c, code, "%s Correct it.", wrong)
			}
		}
	}
	r.checkNumber(row, StudentNumber)
	r.checkNumber(row, GuardianNumber)
	row.checkLanguage(StudentLanguage)
	row.checkLanguage(GuardianLanguage)
	if e.GuardianEmail != "" {
		if wrong := r.Email(e.GuardianEmail); wrong != "" {
			row.add(GuardianEmail, "invalid_email", "%s Correct it, or leave the cell empty.", wrong)
		}
	}
	batches.check(row)
	needsGuardian := false
	if !row.hasFault(BirthDate) {
		wrong := ""
		if needsGuardian, wrong = r.BirthDate(e.BirthDate); wrong != "" {
			row.add(BirthDate, "unlikely_date", "%s Check the year.", wrong)
		}
	}
	row.checkGuardian(needsGuardian && !row.hasFault(BirthDate))
}

func (r *Row) hasFault(c Column) bool {
	return slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Column == c })
}

// checkNumber replaces a number by its stored form, or adds a fault.
func (r Rules) checkNumber(row *Row, c Column) {
	text := row.Entry.Cell(c)
	if *text == "" {
		return
	}
	n, err := r.Phones.Parse(*text)
	switch {
	case err == nil:
		*text = string(n)
	case strings.Contains(strings.ToUpper(*text), "E+"):
		row.add(c, "shortened_number", "Your spreadsheet program has shortened this number. Format the column as text and write the number again.")
	default:
		row.add(c, "invalid_number", "This is not a mobile number. Write it with its country code, such as +91 98765 43210.")
	}
}

// checkGuardian adds a fault for each cell of the guardian that is needed and empty.
func (r *Row) checkGuardian(needed bool) {
	e := &r.Entry
	if !e.HasGuardian() {
		if needed {
			r.add(GuardianName, "guardian_required", "A student under 18 needs a guardian. Write the name, the relationship and the number of the guardian.")
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
			r.add(cell.column, "required", "%s", cell.advice)
		}
	}
}
