package coach

import "slices"

// Unexported parts of Query for tests.

func QueryTerms(q Query) []string     { return q.terms() }
func Matches(l Listing, q Query) bool { return l.matches(q) }
func MatchesNothing(q Query) bool     { return q.matchesNothing }
func HasLongWord(q Query) bool        { return slices.ContainsFunc(q.words, exceedsIndex) }

// Lower reports whether the new limit allows less.
func (c LimitChange) Lower() bool { return c.To != 0 && (c.From == 0 || c.To < c.From) }
