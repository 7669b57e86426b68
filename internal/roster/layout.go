package roster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/csvfile"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Options are what a caller says about a file.
type Options struct {
	// Columns are the columns of the file in their order: "" for a column whose title is read, "ignored" for one that
	// is not imported. Columns beyond the last one are read by their titles.
	Columns []Column
	// DateOrder is DayFirst, MonthFirst, or "" to read it from the dates.
	DateOrder DateOrder
	// Ask refuses a file with a question that only the coach can answer, with a *Question; AskColumns also asks what
	// the columns are if their titles are clear.
	Ask, AskColumns bool
	// BatchID is the batch that every student joins, besides those that the row names; "" for none.
	BatchID string
}

// ReadColumn is a column of a file, and what it was read as.
type ReadColumn struct {
	Title string `json:"title"`
	// Column is "" for a column that is not imported.
	Column Column `json:"column,omitempty"`
	// Guessed: the title does not say whose the column is.
	Guessed bool `json:"guessed,omitempty"`
	// Samples are the first different cells; they are not kept.
	Samples []string `json:"-"`
}

// Layout is how a file was read.
type Layout struct {
	Columns []ReadColumn `json:"columns"`
	// DateOrder is the order of dates such as 03/04/2012; "" if the file has none.
	DateOrder DateOrder `json:"date_order,omitempty"`
}

// Question is the error of a file that needs an answer of the coach.
type Question struct {
	Layout Layout
	// Open is the first date that may be read both ways; its Row is 0 if the order is known.
	Open openRow
	// Guessed: the encoding of the file is a guess.
	Guessed bool
	// faults are the faults of the titles.
	faults []fault.Field
}

// Error implements error.
func (q *Question) Error() string { return "the columns of the file are not clear" }

// Unwrap returns the faults of the titles as a validation_failed, or nil.
func (q *Question) Unwrap() error {
	err := fault.Validation(q.faults)
	if refusal, ok := err.(*fault.Error); ok {
		return refusal.With("columns", newReadColumns(q.Layout.Columns))
	}
	return err
}

// The fields of a guardian in a row.
type guardianCells struct{ name, first, last, relationship, number, email, language string }

func (g *guardianCells) cell(c Column) *string {
	switch c {
	case GuardianName:
		return &g.name
	case GuardianFirstName:
		return &g.first
	case GuardianLastName:
		return &g.last
	case Relationship:
		return &g.relationship
	case GuardianNumber:
		return &g.number
	case GuardianEmail:
		return &g.email
	default:
		return &g.language
	}
}

// guardianColumns are the columns of one guardian of the file.
type guardianColumns struct {
	who          string
	relationship string // if neither a cell nor a column says it
	has          []Column
	// named: the title says the relationship, as "Father's name" does.
	named bool
}

// layout says which cell of a row is what.
type layout struct {
	meanings []meaning // of each cell of a row; one with column "" is not read
	titles   []string
	// guardians are the guardians in the order of their columns.
	guardians []guardianColumns
	guessed   []bool
	warnings  []Warning
	faults    []fault.Field
	// order is the order of dates that the title says.
	order DateOrder
}

func isGuardianColumn(c Column) bool { _, ok := secondGuardian[c]; return ok }

// newLayout reads the titles of a file. It adds all faults of the titles.
func newLayout(record []string, chosen []Column) *layout {
	l := &layout{guessed: make([]bool, len(record))}
	for n, cell := range record {
		l.titles = append(l.titles, csvfile.Restore(trimCell(cell)))
		m := meaningOf(l.titles[n])
		if n < len(chosen) && chosen[n] != "" {
			m = chosenMeaning(chosen[n], m)
		}
		l.meanings = append(l.meanings, m)
	}
	l.useContacts()
	l.useUnclear()
	l.useShared()
	l.findGuardians()
	l.check()
	return l
}

// chosenMeaning returns the meaning of a column that the caller names. The relationship of its title stays.
func chosenMeaning(c Column, title meaning) meaning {
	for first, second := range secondGuardian {
		switch c {
		case first:
			return meaning{column: first, who: "1", relationship: title.relationship}
		case second:
			return meaning{column: first, who: "2", relationship: title.relationship}
		}
	}
	if c == ignored {
		return meaning{column: ignored}
	}
	return meaning{column: c, who: ofStudent}
}

// any reports whether a title has a meaning.
func (l *layout) any(is func(meaning) bool) bool { return slices.ContainsFunc(l.meanings, is) }

func isGuardianName(m meaning) bool {
	return (m.column == GuardianName || m.column == GuardianFirstName || m.column == GuardianLastName) && !m.contact
}

// useContacts reads contacts as guardians if the file names no guardian.
func (l *layout) useContacts() {
	real := l.any(func(m meaning) bool { return isGuardianColumn(m.column) && !m.contact && m.who != ofAny })
	for n, m := range l.meanings {
		switch {
		case !m.contact:
		case real:
			l.meanings[n] = meaning{}
		default:
			l.meanings[n].contact, l.guessed[n] = false, true
		}
	}
}

// useUnclear reads one number whose title names no person as the guardian's, if the file names guardians without a number.
func (l *layout) useUnclear() {
	isNumber := func(m meaning) bool { return m.column == GuardianNumber }
	count := 0
	for _, m := range l.meanings {
		if m.column == unclear {
			count++
		}
	}
	for n, m := range l.meanings {
		switch {
		case m.column != unclear:
		case l.any(isNumber):
			l.meanings[n] = meaning{}
		case count == 1 && l.any(isGuardianName):
			l.meanings[n], l.guessed[n] = meaning{column: GuardianNumber, who: ofAny}, true
		default:
			l.fault("unclear_column", "We cannot tell whose number the column %q holds. Name it %q or %q.", shorten(l.titles[n]), Titles[GuardianNumber], Titles[StudentNumber])
		}
	}
}

// useShared leaves out an e-mail address whose title names no person if another is the guardian's, and lets all guardians share
// the columns of a guardian without a name if others have names: "Father's name, Mother's name, Parent mobile".
func (l *layout) useShared() {
	email := l.any(func(m meaning) bool { return m.column == GuardianEmail && m.who != ofAny })
	nameless := !l.any(func(m meaning) bool { return m.who == "1" && isGuardianName(m) }) && l.any(isGuardianName)
	for n, m := range l.meanings {
		switch {
		case m.who == ofAny && m.column == GuardianEmail && email:
			l.meanings[n] = meaning{}
		case m.who == "1" && nameless:
			l.meanings[n].who = ofAny
		}
	}
}

// findGuardians lists the guardians of the file in the order of their numbers, then of their columns.
func (l *layout) findGuardians() {
	for _, m := range l.meanings {
		if !isGuardianColumn(m.column) || m.who == ofAny {
			continue
		}
		n := slices.IndexFunc(l.guardians, func(g guardianColumns) bool { return g.who == m.who })
		if n < 0 {
			n = len(l.guardians)
			l.guardians = append(l.guardians, guardianColumns{who: m.who})
		}
		g := &l.guardians[n]
		g.has = append(g.has, m.column)
		if g.relationship == "" || m.column == GuardianName {
			g.relationship = m.relationship
		}
		g.named = g.relationship != "" && !slices.Contains(generalRelationships, g.relationship)
	}
	slices.SortStableFunc(l.guardians, func(a, b guardianColumns) int { return guardianOrder(a.who) - guardianOrder(b.who) })
	if len(l.guardians) == 0 && l.any(func(m meaning) bool { return m.who == ofAny }) {
		l.guardians = []guardianColumns{{who: "1"}}
	}
}

// guardianOrder puts a guardian 1 before those without a number, and a guardian 2 after them.
func guardianOrder(who string) int {
	if n := strings.Index("1 234", who); n >= 0 {
		return n
	}
	return 1
}

// generalRelationships are what a title says that does not say who the guardian is.
var generalRelationships = []string{"guardian", "parent", "अभिभावक"}

// check adds the faults and warnings of the titles.
func (l *layout) check() {
	const most = 10
	var unknown []string // the first ones
	others := 0
	for n, m := range l.meanings {
		twice := slices.ContainsFunc(l.meanings[:n], func(o meaning) bool { return o.column == m.column && o.who == m.who })
		switch {
		case m.column == unclear:
		case m.column == ignored, m.column == "" && l.titles[n] == "":
			l.meanings[n] = meaning{}
		case m.column == "" && len(unknown) < most:
			unknown = append(unknown, fmt.Sprintf("%q", shorten(l.titles[n])))
		case m.column == "":
			others++
		case twice:
			l.fault("duplicate_column", "Two columns mean %q. Delete one of them.", titleOf(l.public(m)))
		case m.column == BirthDate:
			l.order = titleOrder(l.titles[n])
		}
	}
	if !l.has(StudentName) && !l.has(StudentFirstName) && !l.has(StudentLastName) {
		l.fault("missing_column", "The first row has no title %q. Write the titles of the columns in the first row.", Titles[StudentName])
	}
	if !l.has(BirthDate) {
		l.fault("missing_column", "The first row has no title %q. Write the titles of the columns in the first row.", Titles[BirthDate])
	}
	if len(unknown) > 0 {
		named := strings.Join(unknown, ", ")
		if others > 0 {
			named += fmt.Sprintf(" (+%d)", others) // the pages put it into a text of any language
		}
		l.warnings = append(l.warnings, Warning{Code: "unknown_columns", Detail: "We do not import these columns: " + named + ".", Text: named})
	}
	var guesses []string
	for n, guessed := range l.guessed {
		if guessed && l.meanings[n].column != "" && len(guesses) < most {
			guesses = append(guesses, fmt.Sprintf("%q", shorten(l.titles[n])))
		}
	}
	if len(guesses) > 0 {
		named := strings.Join(guesses, ", ")
		l.warnings = append(l.warnings, Warning{Code: "guardian_guessed", Detail: "We read these columns as the guardian's: " + named + ". Check that they are.", Text: named})
	}
}

func (l *layout) has(c Column) bool { return l.any(func(m meaning) bool { return m.column == c }) }

func (l *layout) fault(code, format string, args ...any) {
	l.faults = append(l.faults, fault.Field{Pointer: "/file", Code: code, Detail: fmt.Sprintf(format, args...)})
}

// public returns the name of a column for callers: "" for one that is not imported, and for the third guardian and later
// ones.
func (l *layout) public(m meaning) Column {
	switch n := slices.IndexFunc(l.guardians, func(g guardianColumns) bool { return g.who == m.who }); {
	case m.column == unclear, m.column == ignored:
		return ""
	case !isGuardianColumn(m.column), m.who == ofAny, n == 0:
		return m.column
	case n == 1:
		return secondGuardian[m.column]
	}
	return ""
}

// titleOf returns the title of a column for a message.
func titleOf(c Column) string {
	if title, ok := Titles[c]; ok {
		return title
	}
	text := strings.ReplaceAll(string(c), "_", " ")
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}

// columns returns the columns with what they were read as.
func (l *layout) columns() []ReadColumn {
	columns := make([]ReadColumn, len(l.meanings))
	for n, m := range l.meanings {
		columns[n] = ReadColumn{Title: shorten(l.titles[n]), Column: l.public(m), Guessed: l.guessed[n] && m.column != ""}
	}
	return columns
}

// rowCells are the cells of a row by person.
type rowCells struct {
	first, middle, last string // of the student
	guardians           []guardianCells
	shared              guardianCells
}

// put sets a cell, which is not empty.
func (l *layout) put(row *Row, cells *rowCells, n int, text string) {
	m := l.meanings[n]
	switch {
	case m.column == "" || m.column == unclear:
	case m.who == ofAny:
		*cells.shared.cell(m.column) = text
	case isGuardianColumn(m.column):
		if cells.guardians == nil {
			cells.guardians = make([]guardianCells, len(l.guardians))
		}
		who := slices.IndexFunc(l.guardians, func(g guardianColumns) bool { return g.who == m.who })
		*cells.guardians[who].cell(m.column) = text
	case m.column == StudentFirstName:
		cells.first = text
	case m.column == StudentMiddleName:
		cells.middle = text
	case m.column == StudentLastName:
		cells.last = text
	default:
		*row.Entry.Cell(m.column) = text
	}
}

// finish sets the names and the guardians of a row from its cells. The first guardian is the first one with a name and a number, else
// the first one with a name, else the first one. The second is the next one with a name and a number.
func (l *layout) finish(row *Row, cells *rowCells) {
	e := &row.Entry
	e.StudentName = fullName(e.StudentName, cells.first, cells.middle, cells.last)
	if cells.guardians == nil {
		cells.guardians = make([]guardianCells, min(1, len(l.guardians)))
	}
	if len(cells.guardians) == 0 {
		return
	}
	best := 0
	for n := range cells.guardians {
		g := &cells.guardians[n]
		g.name = fullName(g.name, g.first, "", g.last)
		if g.rank() > cells.guardians[best].rank() {
			best = n
		}
	}
	g := cells.guardians[best]
	for _, c := range []Column{GuardianNumber, GuardianEmail, GuardianLanguage} {
		if *g.cell(c) == "" {
			*g.cell(c) = *cells.shared.cell(c)
		}
	}
	if g.name != "" || g.number != "" || g.email != "" || g.relationship != "" || cells.shared.relationship != "" {
		g.relationship = l.relationship(best, &g, cells.shared)
	}
	e.GuardianName, e.Relationship, e.GuardianNumber, e.GuardianEmail, e.GuardianLanguage = g.name, g.relationship, g.number, g.email, g.language
	for n, other := range cells.guardians {
		switch {
		case n == best || other.rank() == 0:
		case other.rank() == 3 && e.Guardian2Name == "":
			e.Guardian2Name, e.Guardian2Relationship = other.name, l.relationship(n, &other, cells.shared)
			e.Guardian2Number, e.Guardian2Email, e.Guardian2Language = other.number, other.email, other.language
		default:
			e.OtherGuardians++
		}
	}
}

func (g *guardianCells) rank() int {
	switch {
	case g.name != "" && g.number != "":
		return 3
	case g.name != "":
		return 2
	case g.number != "" || g.email != "":
		return 1
	}
	return 0
}

// relationship returns who a guardian is: what its cell says, or its title ("Father's name"), or the cell for all. A
// file without any of these calls the guardian as its titles do.
func (l *layout) relationship(n int, g *guardianCells, all guardianCells) string {
	of := l.guardians[n]
	switch {
	case g.relationship != "":
		return g.relationship
	case of.named:
		return of.relationship
	case all.relationship != "" || slices.Contains(of.has, Relationship) || l.any(func(m meaning) bool { return m.who == ofAny && m.column == Relationship }):
		return all.relationship
	}
	return of.relationship
}

// fullName returns a name from the cells of a full name and of its parts.
func fullName(full, first, middle, last string) string {
	missing := func(part string) bool { return part != "" && !strings.Contains(foldTitle(full), foldTitle(part)) }
	switch {
	case full == "" || first != "" && last != "":
		if first == "" && middle == "" && last == "" {
			return full
		}
		return strings.Join(strings.Fields(first+" "+middle+" "+last), " ")
	case missing(first):
		return first + " " + full // "Name" is the family name
	case missing(last):
		return full + " " + last
	}
	return full
}
