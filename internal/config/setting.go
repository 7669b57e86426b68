package config

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// prefix begins the name of every variable.
const prefix = "TOUCHLINE_"

// Setting describes one setting, for documentation and help.
type Setting struct {
	// Name is the environment variable.
	Name string
	// FileName is the variable that names a file with the value; empty for what
	// is no secret.
	FileName string
	// Flag is the flag's name without dashes; empty for what must not be seen in
	// the list of processes.
	Flag string
	// Default is the default as it would be written, or what it follows from.
	Default string
	// Limits says what is accepted, where the help does not.
	Limits string
	// Help is what it means.
	Help string
	// NotBuilt says that this release knows only its name.
	NotBuilt bool
}

// Settings returns all settings in the order of Config's fields.
func Settings() []Setting {
	list := make([]Setting, 0, len(table()))
	for _, s := range table() {
		list = append(list, s.Setting)
	}
	return list
}

// setting is a Setting with what Load needs to fill its field.
type setting struct {
	Setting
	key      string // the name without the prefix
	index    int    // of the field in Config
	text     string // the default to parse; empty where it is derived
	secret   string // all, url, codes or nothing
	min, max string
	oneof    []string
	later    string // accepted, beside nothing, while NotBuilt
}

// table is every setting, read once from the tags of Config.
var table = sync.OnceValue(func() []setting {
	var list []setting
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		field := t.Field(i)
		if field.IsExported() {
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
	s.later, s.NotBuilt = field.Tag.Lookup("later")
	s.Limits = s.limits(field)
	return s
}

// limits is a phrase for what the tags accept.
func (s setting) limits(field reflect.StructField) string {
	zero := field.Tag.Get("zero")
	switch {
	case s.NotBuilt && s.later == "":
		return "nothing yet"
	case s.NotBuilt:
		return s.later
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

// value is the field of c that s describes.
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
