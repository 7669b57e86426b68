package roster

import (
	"slices"
	"strings"
)

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

// finish sets the names and the guardians of a row from its cells. The first guardian is the first one with a name and
// a number, else the first one with a name, else the first one. The second is the next one with a name and a number.
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
