package wire

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Rules are the rules of a field, from its rule tag: words separated by commas.
//
//	required     the field must be present
//	min=, max=   bounds: characters of a string, items of a list, value of a number
//	each=        maximum characters of each string in a list; the minimum is 1
//	oneof=a|b    allowed strings
//	name         a letter, a number or an emoji if not empty, and no mark that reverses letters (U+202E)
//	lines        line breaks and tabs are allowed
//	secret       any characters, taken unchanged: a token
//	id           a UUID of any version; becomes lower case
//	notnull      in a merge patch: null is refused
//
// All strings except secrets are trimmed and normalised to NFC before the rules
// apply. In those of one line a tab is a space, and characters that show nothing go (see Visible).
type Rules struct {
	required       bool
	min, max       int
	hasMin, hasMax bool
	eachMax        int
	oneof          []string
	name, lines    bool
	secret, id     bool
	notNull        bool
}

// elementRules returns the rules for the elements of a list.
func (r Rules) elementRules() Rules {
	r.min, r.hasMin = 1, r.eachMax > 0
	r.max, r.hasMax = r.eachMax, r.eachMax > 0
	return r
}

func (r Rules) checkCount(n int, at string, f *Faults) bool {
	switch {
	case r.hasMin && n < r.min:
		f.Add(at, "too_few", "There must be at least "+strconv.Itoa(r.min)+".")
	case r.hasMax && n > r.max:
		f.Add(at, "too_many", "There may be at most "+strconv.Itoa(r.max)+".")
	default:
		return true
	}
	return false
}

func (r Rules) checkNumber(n int64, at string, f *Faults) {
	switch {
	case r.hasMin && n < int64(r.min):
		f.Add(at, "too_small", "This must be at least "+strconv.Itoa(r.min)+".")
	case r.hasMax && n > int64(r.max):
		f.Add(at, "too_large", "This may be at most "+strconv.Itoa(r.max)+".")
	}
}

// member is one field of a request.
type member struct {
	index int
	name  string
	rules Rules
	// optional fields may be null. Required fields and Opt fields are not optional.
	optional bool
}

var memberCache sync.Map // reflect.Type to []member

func membersOf(t reflect.Type) []member {
	if cached, ok := memberCache.Load(t); ok {
		return cached.([]member)
	}
	var members []member
	for i := range t.NumField() {
		field := t.Field(i)
		rules := ParseRules(field.Tag.Get("rule"))
		isOpt := reflect.PointerTo(field.Type).Implements(reflect.TypeFor[optionalField]())
		members = append(members, member{i, field.Tag.Get("json"), rules, !rules.required && !isOpt})
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

// ParseRules reads a rule tag. It panics on an unknown word, which is a programming
// error that the first request shows.
func ParseRules(tag string) Rules {
	var r Rules
	for word := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "":
		case "required":
			r.required = true
		case "min":
			r.min, r.hasMin = n, true
		case "max":
			r.max, r.hasMax = n, true
		case "each":
			r.eachMax = n
		case "oneof":
			r.oneof = strings.Split(value, "|")
		case "name":
			r.name = true
		case "lines":
			r.lines = true
		case "secret":
			r.secret = true
		case "id":
			r.id = true
		case "notnull":
			r.notNull = true
		default:
			panic("wire: unknown rule " + word)
		}
	}
	return r
}
