package openapitest

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// CheckBodies fails tb unless the schema of each JSON body has the members of its type, and the bounds of their rules. The
// types have a method and a pattern as their key.
func CheckBodies(tb testing.TB, document []byte, types map[string]reflect.Type) {
	tb.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		tb.Fatal(err)
	}
	checked := 0
	for _, name := range slices.Sorted(maps.Keys(types)) {
		method, path, _ := strings.Cut(name, " ")
		item := doc.Paths.Find(path)
		if item == nil || item.GetOperation(method) == nil {
			tb.Errorf("%s: it is not in the document", name)
			continue
		}
		body := item.GetOperation(method).RequestBody
		if types[name].NumField() == 0 {
			continue // an empty object
		}
		if body == nil {
			tb.Errorf("%s: the document has no body", name)
			continue
		}
		for _, media := range body.Value.Content {
			checked++
			checkObject(tb, name, types[name], media.Schema)
		}
	}
	if checked < 30 {
		tb.Errorf("got %d bodies, want more", checked)
	}
}

// parts returns a schema and all that it is made of.
func parts(ref *openapi3.SchemaRef) []*openapi3.Schema {
	if ref == nil {
		return nil
	}
	all := []*openapi3.Schema{ref.Value}
	for _, list := range []openapi3.SchemaRefs{ref.Value.AllOf, ref.Value.AnyOf, ref.Value.OneOf} {
		for _, part := range list {
			all = append(all, parts(part)...)
		}
	}
	return all
}

func checkObject(tb testing.TB, at string, t reflect.Type, ref *openapi3.SchemaRef) {
	properties, required := map[string]*openapi3.SchemaRef{}, map[string]bool{}
	for _, s := range parts(ref) {
		maps.Copy(properties, s.Properties)
		for _, name := range s.Required {
			required[name] = true
		}
	}
	for i := range t.NumField() {
		name, rules := t.Field(i).Tag.Get("json"), rulesOf(t.Field(i).Tag.Get("rule"))
		property := properties[name]
		if property == nil {
			tb.Errorf("%s/%s: the document has no such member", at, name)
			continue
		}
		delete(properties, name)
		if _, is := rules["required"]; is && !required[name] {
			tb.Errorf("%s/%s: the document does not require it", at, name)
		}
		checkValue(tb, at+"/"+name, t.Field(i).Type, rules, property)
	}
	for name := range properties {
		tb.Errorf("%s/%s: the request does not have this member of the document", at, name)
	}
}

func rulesOf(tag string) map[string]string {
	rules := map[string]string{}
	for word := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(word, "=")
		rules[name] = value
	}
	return rules
}

// valueOf returns the type of a value without the pointer or wire.Opt around it.
func valueOf(t reflect.Type) reflect.Type {
	for {
		switch {
		case t.Kind() == reflect.Pointer:
			t = t.Elem()
		case strings.HasPrefix(t.Name(), "Opt["):
			field, _ := t.FieldByName("Value")
			t = field.Type
		default:
			return t
		}
	}
}

// described are the members whose bound only the description has: their schema is also that of a response.
var described = []string{"/api/me/preferences/channels/request", "/api/me/preferences/channels/reminder"}

// checkValue compares the bounds of a value with its schema.
func checkValue(tb testing.TB, at string, t reflect.Type, rules map[string]string, ref *openapi3.SchemaRef) {
	t = valueOf(t)
	bounds := map[string]string{}
	set := func(name string, n *uint64) {
		if n != nil {
			bounds[name] = strconv.FormatUint(*n, 10)
		}
	}
	float := func(name string, n *float64) {
		if n != nil {
			bounds[name] = strconv.FormatFloat(*n, 'f', -1, 64)
		}
	}
	oneof := func(s *openapi3.Schema) {
		values, _ := s.Extensions["x-extensible-enum"].([]any)
		var texts []string
		for _, v := range slices.Concat(values, s.Enum, []any{s.Const}) {
			if text, is := v.(string); is {
				texts = append(texts, text)
			}
		}
		if texts != nil {
			bounds["oneof"] = strings.Join(texts, "|")
		}
	}
	for _, s := range parts(ref) {
		switch t.Kind() {
		case reflect.String:
			if s.Format != "" || s.Pattern != "" {
				delete(rules, "min") // the format says more
				delete(rules, "max")
			}
			if s.MinLength > 0 {
				set("min", &s.MinLength)
			}
			set("max", s.MaxLength)
			oneof(s)
		case reflect.Int, reflect.Int64:
			float("min", s.Min)
			float("max", s.Max)
		case reflect.Slice:
			if s.MinItems > 0 {
				set("min", &s.MinItems)
			}
			set("max", s.MaxItems)
			for _, item := range parts(s.Items) {
				oneof(item)
			}
			if s.Items != nil && t.Elem().Kind() == reflect.Struct {
				checkObject(tb, at+"/0", t.Elem(), s.Items)
			}
		}
	}
	if t.Kind() == reflect.Struct {
		checkObject(tb, at, t, ref)
	}
	if slices.Contains(described, at[strings.Index(at, "/"):]) {
		return
	}
	for _, name := range []string{"min", "max", "oneof"} {
		if want, is := rules[name]; is && bounds[name] != want {
			tb.Errorf("%s: the rule is %s=%s, the document has %q", at, name, want, bounds[name])
		}
	}
}
