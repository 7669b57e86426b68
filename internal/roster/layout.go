package roster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/fault"
)

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
		l.titles = append(l.titles, readCell(cell))
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

// useUnclear reads one number whose title names no person as the guardian's, if the file names guardians without a
// number.
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

// useShared leaves out an e-mail address whose title names no person if another is the guardian's, and lets all
// guardians share the columns of a guardian without a name if others have names: "Father's name, Mother's name, Parent
// mobile".
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

// public returns the name of a column for callers: "" for one that is not imported, and for the third guardian and
// later ones.
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

// showsMovedCells reports whether the last column that is read has values that are checked: a row whose cells have moved
// by one has a fault there.
func (l *layout) showsMovedCells() bool {
	for _, m := range slices.Backward(l.meanings) {
		switch m.column {
		case "", unclear, ignored:
		case BirthDate, StudentNumber, GuardianNumber, GuardianEmail, StudentLanguage, GuardianLanguage, Batches:
			return true
		default:
			return false
		}
	}
	return false
}
