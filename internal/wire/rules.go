package wire

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Rules are what a rule tag asks of a field, its words separated by commas:
//
//	required     it must be there
//	min=, max=   bounds: characters of a string, items of a list, value of a number
//	each=        the most characters of each string in a list; its least is 1
//	oneof=a|b    the only strings
//	name         as a string, and without marks that turn the writing direction
//	lines        a string that may have several lines
//	secret       a string that is taken as it is, whatever its characters: a token
//	id           a UUID of any version, lower case afterwards
//	kept         in a merge patch, what null cannot clear
//
// Every string but a secret is trimmed and normalised to NFC; bounds count what
// is left.
type Rules struct {
	required         bool
	min, max         int
	hasMin, hasMax   bool
	eachMax          int
	oneof            []string
	name, lines      bool
	secret, identity bool
	kept             bool
}

// each returns the rules for the elements of a list.
func (is Rules) each() Rules {
	is.min, is.hasMin = 1, is.eachMax > 0
	is.max, is.hasMax = is.eachMax, is.eachMax > 0
	return is
}

func (is Rules) count(n int, at string, f *Faults) bool {
	switch {
	case is.hasMin && n < is.min:
		f.Add(at, "too_few", "There must be at least "+strconv.Itoa(is.min)+".")
	case is.hasMax && n > is.max:
		f.Add(at, "too_many", "There may be at most "+strconv.Itoa(is.max)+".")
	default:
		return true
	}
	return false
}

func (is Rules) number(n int64, at string, f *Faults) {
	switch {
	case is.hasMin && n < int64(is.min):
		f.Add(at, "too_small", "This must be at least "+strconv.Itoa(is.min)+".")
	case is.hasMax && n > int64(is.max):
		f.Add(at, "too_large", "This may be at most "+strconv.Itoa(is.max)+".")
	}
}

// member is one field of a request.
type member struct {
	index int
	name  string
	rules Rules
	// optional fields may be null: neither required nor an Opt, which tells.
	optional bool
}

var memberCache sync.Map // reflect.Type to []member

func membersOf(t reflect.Type) []member {
	if kept, ok := memberCache.Load(t); ok {
		return kept.([]member)
	}
	var members []member
	for i := range t.NumField() {
		field := t.Field(i)
		is := ParseRules(field.Tag.Get("rule"))
		tells := reflect.PointerTo(field.Type).Implements(reflect.TypeFor[optionalField]())
		members = append(members, member{i, field.Tag.Get("json"), is, !is.required && !tells})
	}
	memberCache.Store(t, members)
	return members
}

func hasMember(t reflect.Type, name string) bool {
	for _, m := range membersOf(t) {
		if m.name == name {
			return true
		}
	}
	return false
}

// ParseRules reads a rule tag. A word that it does not know is a mistake of the
// programmer, which the first request of any test shows.
func ParseRules(tag string) Rules {
	var is Rules
	for word := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "":
		case "required":
			is.required = true
		case "min":
			is.min, is.hasMin = n, true
		case "max":
			is.max, is.hasMax = n, true
		case "each":
			is.eachMax = n
		case "oneof":
			is.oneof = strings.Split(value, "|")
		case "name":
			is.name = true
		case "lines":
			is.lines = true
		case "secret":
			is.secret = true
		case "id":
			is.identity = true
		case "kept":
			is.kept = true
		default:
			panic("wire: no rule " + word)
		}
	}
	return is
}
