package wire

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Bind puts v, which Parse made, into the struct that into points to, and adds to
// f everything that is wrong with it: wrong types, unknown and missing fields,
// bounds.
//
// Fields carry their name in a json tag and their rules in a rule tag (see
// Rules). They are strings, bools, ints, structs, slices and pointers to these;
// a pointer is nil where the field was left out. Null is the same as leaving an
// optional field out, but for a merge patch: Opt tells null.
func Bind[T any](v any, into *T, f *Faults) {
	bind(v, reflect.ValueOf(into).Elem(), "", Rules{}, f)
}

// Opt is a field of a merge patch (RFC 7396): absent, null, or a value.
type Opt[T any] struct {
	Set, Null bool
	Value     T
}

// Some returns the value, or nil where there is none: absent or null.
func (o Opt[T]) Some() *T {
	if !o.Set || o.Null {
		return nil
	}
	return &o.Value
}

// put notes that the field is there and returns where its value goes.
func (o *Opt[T]) put(null bool) reflect.Value {
	o.Set, o.Null = true, null
	return reflect.ValueOf(&o.Value).Elem()
}

type optionalField interface {
	put(null bool) reflect.Value
}

// bind puts v into a value, and notes what does not fit.
func bind(v any, into reflect.Value, at string, is Rules, f *Faults) {
	if opt, ok := into.Addr().Interface().(optionalField); ok {
		inner := opt.put(v == nil)
		if v != nil {
			bind(v, inner, at, is, f)
		}
		return
	}
	switch into.Kind() {
	case reflect.Pointer:
		if v == nil {
			f.Add(at, "invalid_type", "This cannot be cleared.")
			return
		}
		into.Set(reflect.New(into.Type().Elem()))
		bind(v, into.Elem(), at, is, f)
	case reflect.Struct:
		bindStruct(v, into, at, f)
	case reflect.Slice:
		bindSlice(v, into, at, is, f)
	case reflect.String:
		s, ok := v.(string)
		if !ok {
			f.Add(at, "invalid_type", "This must be a string.")
			return
		}
		into.SetString(is.Text(s, at, f))
	case reflect.Bool:
		b, ok := v.(bool)
		if !ok {
			f.Add(at, "invalid_type", "This must be true or false.")
			return
		}
		into.SetBool(b)
	case reflect.Int:
		n, ok := whole(v)
		if !ok {
			f.Add(at, "invalid_type", "This must be a whole number.")
			return
		}
		is.number(n, at, f)
		into.SetInt(n)
	default:
		panic("wire: no rule for " + into.Type().String())
	}
}

func bindStruct(v any, into reflect.Value, at string, f *Faults) {
	object, ok := v.(map[string]any)
	if !ok {
		f.Add(at, "invalid_type", "This must be an object.")
		return
	}
	known := 0
	for _, m := range membersOf(into.Type()) {
		value, there := object[m.name]
		switch {
		case there && value == nil && m.optional && !m.rules.kept:
			known++ // null is as good as nothing
		case there:
			known++
			bind(value, into.Field(m.index), PointTo(at, m.name), m.rules, f)
		case m.rules.required:
			f.Add(PointTo(at, m.name), "required", "This is needed.")
		}
	}
	if known == len(object) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !hasMember(into.Type(), name) {
			f.Add(PointTo(at, name), "unknown_field", "There is no such field.")
		}
	}
}

func bindSlice(v any, into reflect.Value, at string, is Rules, f *Faults) {
	list, ok := v.([]any)
	if !ok {
		f.Add(at, "invalid_type", "This must be a list.")
		return
	}
	if !is.count(len(list), at, f) {
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(list), len(list)))
	for i, element := range list {
		bind(element, into.Index(i), PointTo(at, i), is.each(), f)
	}
}

// whole returns a JSON number that is whole, however it is written.
func whole(v any) (int64, bool) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	if n, err := strconv.ParseInt(number.String(), 10, 64); err == nil {
		return n, true
	}
	x, err := strconv.ParseFloat(number.String(), 64)
	if err != nil {
		return 0, false
	}
	if x == math.Trunc(x) && math.Abs(x) >= 1<<53 {
		// Beyond what a float holds exactly, the sign is all that a bound needs.
		return int64(max(-1<<53, min(1<<53, x))), true
	}
	// A float rounds 3.00000000000000000001 to 3. What is below 2^53 has few
	// digits before its point, so exact arithmetic on it is cheap, if the
	// exponent is not meant to make it dear.
	if math.Abs(x) < 1 && x != 0 || x == 0 && strings.ContainsAny(mantissa(number.String()), "123456789") {
		return 0, false
	}
	exact, ok := new(big.Rat).SetString(number.String())
	if !ok || !exact.IsInt() {
		return 0, false
	}
	return exact.Num().Int64(), true
}

// mantissa is a number without its exponent.
func mantissa(number string) string {
	digits, _, _ := strings.Cut(strings.ToLower(number), "e")
	return digits
}
