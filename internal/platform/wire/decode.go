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

// Bind copies v, a result of Parse, into the struct that into points to. It adds
// every fault to f: wrong types, unknown and missing fields, values out of bounds.
//
// A field has its name in a json tag and its rules in a rule tag (see Rules). Its
// type is string, bool, int, float64, struct, slice, Object, a pointer to one of these, or Opt. The
// pointer of an absent optional field is nil, and null means absent, except for
// Opt, the field type of merge patches.
func Bind[T any](v any, into *T, f *Faults) {
	bindValue(v, reflect.ValueOf(into).Elem(), "", Rules{}, f)
}

// Object is a field that is passed on as it is: another specification says what it contains.
type Object map[string]any

// Opt is a field of a merge patch (RFC 7396): absent, null, or a value.
type Opt[T any] struct {
	Set, Null bool
	Value     T
}

// Some returns a pointer to the value, or nil if the field is absent or null.
func (o Opt[T]) Some() *T {
	if !o.Set || o.Null {
		return nil
	}
	return &o.Value
}

// set marks the field as present and returns its value for binding.
func (o *Opt[T]) set(null bool) reflect.Value {
	o.Set, o.Null = true, null
	return reflect.ValueOf(&o.Value).Elem()
}

type optionalField interface {
	set(null bool) reflect.Value
}

// bindValue copies v into a value. at is the JSON pointer of v.
func bindValue(v any, into reflect.Value, at string, rules Rules, f *Faults) {
	if opt, ok := into.Addr().Interface().(optionalField); ok {
		inner := opt.set(v == nil)
		if v != nil {
			bindValue(v, inner, at, rules, f)
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
		bindValue(v, into.Elem(), at, rules, f)
	case reflect.Struct:
		bindStruct(v, into, at, f)
	case reflect.Slice:
		bindSlice(v, into, at, rules, f)
	case reflect.String:
		s, ok := v.(string)
		if !ok {
			f.Add(at, "invalid_type", "This must be a string.")
			return
		}
		into.SetString(rules.Text(s, at, f))
	case reflect.Bool:
		b, ok := v.(bool)
		if !ok {
			f.Add(at, "invalid_type", "This must be true or false.")
			return
		}
		into.SetBool(b)
	case reflect.Int:
		n, ok := wholeNumber(v)
		if !ok {
			f.Add(at, "invalid_type", "This must be a whole number.")
			return
		}
		rules.checkNumber(n, at, f)
		into.SetInt(n)
	case reflect.Float64:
		number, ok := v.(json.Number)
		x, err := strconv.ParseFloat(string(number), 64)
		if !ok || err != nil {
			f.Add(at, "invalid_type", "This must be a number.")
			return
		}
		into.SetFloat(x)
	case reflect.Map: // an Object
		object, ok := v.(map[string]any)
		if !ok {
			f.Add(at, "invalid_type", "This must be an object.")
			return
		}
		into.Set(reflect.ValueOf(Object(object)))
	default:
		panic("wire: Bind does not support the type " + into.Type().String())
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
		value, present := object[m.name]
		switch {
		case present && value == nil && m.optional && !m.rules.notNull:
			known++ // null means absent
		case present:
			known++
			bindValue(value, into.Field(m.index), PointTo(at, m.name), m.rules, f)
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

func bindSlice(v any, into reflect.Value, at string, rules Rules, f *Faults) {
	list, ok := v.([]any)
	if !ok {
		f.Add(at, "invalid_type", "This must be a list.")
		return
	}
	if !rules.checkCount(len(list), at, f) {
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(list), len(list)))
	for i, element := range list {
		bindValue(element, into.Index(i), PointTo(at, i), rules.elementRules(), f)
	}
}

// wholeNumber returns v if it is a whole number in any notation: 3, 3.0 or 3e0.
func wholeNumber(v any) (int64, bool) {
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
		// Beyond the exact range of a float64, bounds need only sign and size.
		return int64(max(-1<<53, min(1<<53, x))), true
	}
	// A float64 rounds 3.00000000000000000001 to 3, so use exact arithmetic. Reject
	// numbers near zero first: 1e-999999999 would need a huge denominator.
	if math.Abs(x) < 1 && x != 0 || x == 0 && strings.ContainsAny(mantissa(number.String()), "123456789") {
		return 0, false
	}
	exact, ok := new(big.Rat).SetString(number.String())
	if !ok || !exact.IsInt() {
		return 0, false
	}
	return exact.Num().Int64(), true
}

// mantissa returns number without its exponent.
func mantissa(number string) string {
	digits, _, _ := strings.Cut(strings.ToLower(number), "e")
	return digits
}
