package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
)

// ErrHelp is returned by Load where the flags ask for help; Usage prints it.
var ErrHelp = errors.New("help asked for")

// given is the text of a setting that somebody set.
type given struct {
	text string
	from origin
}

// loader gathers what was given and what is wrong with it.
type loader struct {
	given  map[string]given // by key
	faults Faults
}

// Check judges what Load does not know about: what stands in a file that a setting
// names. Other settings of the Config may be at fault.
type Check func(*Config) Faults

// Load reads the settings from args (flags only, without the program's name or
// subcommand) and environ (as os.Environ gives it). A flag is stronger than a
// variable, a variable than the default; an empty one counts as not set. The error
// is ErrHelp or Faults with every fault, those of further checks among them.
func Load(args, environ []string, further ...Check) (*Config, error) {
	l := &loader{given: map[string]given{}}
	l.readEnvironment(environ)
	if err := l.readFlags(args); err != nil {
		return nil, err
	}
	c := &Config{set: map[string]origin{}}
	unread := l.fill(c)
	c.derive()
	l.faults = append(l.faults, c.faults(unread)...)
	for _, check := range further {
		l.add(check(c))
	}
	if len(l.faults) > 0 {
		return nil, l.faults
	}
	return c, nil
}

// add takes the faults of a further check, but for settings that are at fault
// already, so that one mistake is not reported twice.
func (l *loader) add(faults Faults) {
	known := l.faults
	for _, f := range faults {
		if !slices.ContainsFunc(known, func(k Fault) bool { return k.Name == f.Name }) {
			l.faults = append(l.faults, f)
		}
	}
}

// Defaults returns the settings where nothing is set.
func Defaults() *Config {
	c, err := Load(nil, nil)
	if err != nil {
		panic(err) // a fault in the tags of Config, which any test finds
	}
	return c
}

// readEnvironment takes every variable of ours. TOUCHLINE_TEST_* belong to the
// tests, but for the setting of that beginning.
func (l *loader) readEnvironment(environ []string) {
	files := map[string]given{}
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, prefix) || strings.TrimSpace(text) == "" {
			continue
		}
		key := strings.TrimPrefix(name, prefix)
		if s, ok := find(strings.TrimSuffix(key, "_FILE")); ok && s.FileName == name {
			files[s.key] = given{text: strings.TrimSpace(text), from: origin{source: File, name: name}}
		} else if _, ok := find(key); ok {
			l.given[key] = given{text: strings.TrimSpace(text), from: origin{source: Environment, name: name}}
		} else if !strings.HasPrefix(key, "TEST_") {
			l.fault(name, "", "there is no such setting"+suggest(name, variables()))
		}
	}
	for _, s := range table() { // in the order of the table, so that faults are too
		file, ok := files[s.key]
		if !ok {
			continue
		}
		if _, both := l.given[s.key]; both {
			l.fault(s.Name, "", "is set beside "+s.FileName+"; set one of them")
			continue
		}
		l.readFile(s, file)
	}
}

// readFile takes the value from the file that path names. The master key's may be
// absent: it is made when it is first asked for.
func (l *loader) readFile(s setting, file given) {
	const most = 64 << 10
	path := file.text
	file.from.path = path
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && s.key == masterKey {
		l.given[s.key] = file.of("")
		return
	}
	if err == nil {
		defer f.Close()
		var text []byte
		if text, err = io.ReadAll(io.LimitReader(f, most)); err == nil {
			if value := strings.TrimSpace(string(text)); value != "" {
				l.given[s.key] = file.of(value)
				return
			}
			err = errors.New("the file is empty")
		}
	}
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		err = perr.Err // the path is in the line already
	}
	l.fault(s.FileName, path, "cannot be read: "+err.Error())
}

// of returns g with the text that was found at its origin.
func (g given) of(text string) given {
	g.text = text
	return g
}

// fill parses every setting into c and returns the keys of those that could not
// be read, which need not be judged further.
func (l *loader) fill(c *Config) map[string]bool {
	unread := map[string]bool{}
	for _, s := range table() {
		text := s.text
		if g, ok := l.given[s.key]; ok {
			text, c.set[s.key] = g.text, g.from
		}
		if text == "" {
			continue
		}
		field := s.value(c)
		value, err := s.parse(field.Type(), text)
		if err != nil {
			unread[s.key] = true
			for problem := range strings.SplitSeq(err.Error(), "\n") {
				l.fault(s.Name, s.shown(text), problem)
			}
			continue
		}
		if v := reflect.ValueOf(value); v.IsValid() {
			field.Set(v)
		}
	}
	return unread
}

// shown is the text of a setting for a fault: nothing of a secret that could not
// be read.
func (s setting) shown(text string) string {
	if s.secret != "" {
		return ""
	}
	return text
}

func (l *loader) fault(name, value, problem string) {
	l.faults = append(l.faults, Fault{Name: name, Value: value, Problem: problem})
}

// variables are the names of all variables, for suggestions.
func variables() []string {
	var names []string
	for _, s := range table() {
		names = append(names, s.Name)
		if s.FileName != "" {
			names = append(names, s.FileName)
		}
	}
	return slices.Clip(names)
}
