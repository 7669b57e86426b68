package web

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Form is a form with what the person entered and the faults.
type Form struct {
	Values url.Values
	// Restored says that the values are from a draft: nothing of them is saved.
	Restored bool
	// Faults are texts by field name, in the page's language.
	Faults []FieldFault
	// labels are the labels of the fields that the page has shown so far, by name, and order their
	// names in the order of the page.
	labels map[string]string
	order  []string
	// wait is when a limit that is one of the faults ends; 0 if none is.
	wait time.Duration
	// Blocked says that too many wrong codes block the number.
	Blocked bool
}

// FieldFault is the fault of one field.
type FieldFault struct{ Field, Text string }

// Value returns the entered value of a field.
func (f *Form) Value(name string) string { return f.Values.Get(name) }

// Fault returns the fault of a field, or "".
func (f *Form) Fault(name string) string {
	for _, fault := range f.Faults {
		if fault.Field == name {
			return fault.Text
		}
	}
	return ""
}

// Label returns the label of a field that the page has shown, or "".
func (f *Form) Label(name string) string { return f.labels[name] }

// sortFaults puts the faults into the order of the fields on the page, and faults of no field first.
func (f *Form) sortFaults() {
	slices.SortStableFunc(f.Faults, func(a, b FieldFault) int {
		return slices.Index(f.order, a.Field) - slices.Index(f.order, b.Field)
	})
}

// Add adds a fault, unless the field has one already.
func (f *Form) Add(field, text string) {
	if field == "" || f.Fault(field) == "" {
		f.Faults = append(f.Faults, FieldFault{field, text})
	}
}

// Field is one input of a form, for the template "input".
type Field struct {
	View *View
	Name, Label, Hint, Type,
	Autocomplete, InputMode string
	Value, Fault string
	Required     bool
	// Focus puts the cursor into the field when the page opens.
	Focus bool
	// Need is the text beside the label of a field that is not always required.
	Need      string
	MaxLength int
	Rows      int
}

// Label returns text, which is the label of a field, and keeps it for the list of faults.
func (v *View) Label(name, text string) string {
	if v.Form.labels == nil {
		v.Form.labels = map[string]string{}
	}
	if _, known := v.Form.labels[name]; !known {
		v.Form.order = append(v.Form.order, name)
	}
	v.Form.labels[name] = text
	return text
}

// Field returns an input with its label and hint from the catalogue: label is a key, and
// so is label+".hint" where it exists. The options are "name=value" pairs: type,
// autocomplete, inputmode, maxlength, rows; or "required".
func (v *View) Field(name, label string, options ...string) (Field, error) {
	text, err := v.T(label)
	if err != nil {
		return Field{}, err
	}
	f := Field{View: v, Name: name, Label: v.Label(name, text), Type: "text", Value: v.Form.Value(name), Fault: v.Form.Fault(name)}
	if hint, err := v.T(label + ".hint"); err == nil {
		f.Hint = hint
	}
	need := "form.optional"
	for _, option := range options {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "required":
			f.Required, need = true, ""
		case "focus":
			f.Focus = true
		case "need": // when the field is required
			need = "form.need." + value
		case "type":
			f.Type = value
		case "autocomplete":
			f.Autocomplete = value
		case "inputmode":
			f.InputMode = value
		case "value":
			if v.Form.Values == nil {
				f.Value = value
			}
		case "maxlength":
			_, err = fmt.Sscan(value, &f.MaxLength)
		case "rows":
			_, err = fmt.Sscan(value, &f.Rows)
		default:
			err = fmt.Errorf("field %s: unknown option %q", name, option)
		}
		if err != nil {
			return Field{}, err
		}
	}
	if need != "" {
		f.Need, err = v.T(need)
	}
	return f, err
}
