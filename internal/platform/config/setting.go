package config

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// prefix is the start of every variable name.
const prefix = "TOUCHLINE_"

// Setting describes one setting, for documentation and help.
type Setting struct {
	// Name is the environment variable.
	Name string
	// FileName is the variable that names a file with the value; empty if the
	// setting is not secret.
	FileName string
	// Flag is the name of the flag without dashes; empty if the setting must not
	// appear in the list of processes.
	Flag string
	// Default is the default as an operator would write it, or what it depends on.
	Default string
	// Limits describes the accepted values, unless Help does.
	Limits string
	Help   string
}

// Settings returns all settings in the order of Config's fields.
func Settings() []Setting {
	list := make([]Setting, 0, len(table()))
	for _, s := range table() {
		list = append(list, s.Setting)
	}
	return list
}

// setting is a Setting with the data that Load needs.
type setting struct {
	Setting
	key      string // the name without the prefix
	index    int    // of the field in Config
	text     string // the default to parse; empty if derive sets it
	secret   string // all, url, codes, or empty
	min, max string
	oneof    []string
	// offInDevelopment: 0 in development, unless it is set
	offInDevelopment bool
}

// table returns every setting, read once from the tags of Config.
var table = sync.OnceValue(func() []setting {
	var list []setting
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Tag.Get("env") != "" {
			list = append(list, newSetting(field, i))
		}
	}
	return list
})

func newSetting(field reflect.StructField, index int) setting {
	key := field.Tag.Get("env")
	s := setting{
		Setting: Setting{
			Name: prefix + key,
			Flag: strings.ToLower(strings.ReplaceAll(key, "_", "-")),
			Help: field.Tag.Get("help"),
		},
		key:    key,
		index:  index,
		text:   field.Tag.Get("default"),
		secret: field.Tag.Get("secret"),
		min:    field.Tag.Get("min"),
		max:    field.Tag.Get("max"),
	}
	s.Default = s.text
	if shown := field.Tag.Get("shown"); shown != "" {
		s.Default = shown
	}
	if s.secret != "" {
		s.FileName = s.Name + "_FILE"
	}
	if s.secret == "all" {
		s.Flag = ""
	}
	if list := field.Tag.Get("oneof"); list != "" {
		s.oneof = strings.Split(list, ",")
	}
	s.offInDevelopment = field.Tag.Get("development") == "off"
	if s.offInDevelopment {
		s.Help += "; off in development"
	}
	s.Limits = s.limits(field)
	return s
}

// limits returns a phrase for the values that the tags accept.
func (s setting) limits(field reflect.StructField) string {
	zero := field.Tag.Get("zero")
	switch {
	case field.Type.Kind() == reflect.Bool:
		return "on, off"
	case s.oneof != nil:
		return strings.Join(s.oneof, ", ")
	case s.max == "":
		return ""
	case zero != "":
		return fmt.Sprintf("%s to %s; 0 is %s", s.min, s.max, zero)
	default:
		return s.min + " to " + s.max
	}
}

// value returns the field of the setting in c.
func (s setting) value(c *Config) reflect.Value {
	return reflect.ValueOf(c).Elem().Field(s.index)
}

// find returns the setting with that key.
func find(key string) (setting, bool) {
	for _, s := range table() {
		if s.key == key {
			return s, true
		}
	}
	return setting{}, false
}
