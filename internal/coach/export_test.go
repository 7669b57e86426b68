package coach

import "slices"

// What the tests see of a query.

func QueryTerms(q Query) []string     { return q.terms() }
func Matches(l Listing, q Query) bool { return l.matches(q) }
func IsNone(q Query) bool             { return q.none }
func HasLong(q Query) bool            { return slices.ContainsFunc(q.words, isLong) }
