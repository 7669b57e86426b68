package config

import (
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strings"
)

// ErrHelp is returned by Load if the flags ask for help: call Usage.
var ErrHelp = errors.New("help requested")

// input is the text of a setting that is set.
type input struct {
	text   string
	origin origin
}

// loader collects the inputs and their errors.
type loader struct {
	inputs map[string]input // by key
	errs   Errors
}

// Check validates what this package cannot: the content of a file that a setting
// names. Other settings of the Config may be invalid.
type Check func(*Config) Errors

// Load reads the settings from args (the flags, without the program name and the
// command) and environ (as os.Environ returns it). A flag overrides a variable, and a
// variable overrides the default; an empty value counts as not set. The error is
// ErrHelp, or Errors with every error, also of checks.
func Load(args, environ []string, checks ...Check) (*Config, error) {
	l := &loader{inputs: map[string]input{}}
	l.readEnvironment(environ)
	if err := l.readFlags(args); err != nil {
		return nil, err
	}
	c := &Config{Endpoints: endpoints, set: map[string]origin{}}
	unparsed := l.fill(c)
	c.derive()
	l.errs = append(l.errs, c.validate(unparsed)...)
	l.errs = append(l.errs, c.checkMasterKeyFile()...)
	for _, check := range checks {
		l.addCheck(check(c))
	}
	if len(l.errs) > 0 {
		return nil, l.errs
	}
	return c, nil
}

// addCheck adds the errors of a check, except for settings that have an error already,
// so that one mistake is not reported twice.
func (l *loader) addCheck(errs Errors) {
	known := l.errs
	for _, err := range errs {
		if !slices.ContainsFunc(known, func(k Error) bool { return k.Name == err.Name }) {
			l.errs = append(l.errs, err)
		}
	}
}

// Defaults returns the settings if nothing is set.
func Defaults() *Config {
	c, err := Load(nil, nil)
	if err != nil {
		panic(err) // an error in the tags of Config: every test finds it
	}
	return c
}

// CheckNames returns the errors of variables that begin with TOUCHLINE_ and name no setting. It reads no value.
func CheckNames(environ []string) error {
	l := loader{inputs: map[string]input{}}
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		key := strings.TrimPrefix(name, prefix)
		s, isFile := find(strings.TrimSuffix(key, "_FILE"))
		_, known := find(key)
		if name != key && !known && !(isFile && s.FileName == name) && !strings.HasPrefix(key, "TEST_") {
			l.addError(name, "", "there is no such setting"+suggest(name, variableNames()))
		}
	}
	if len(l.errs) == 0 {
		return nil
	}
	return l.errs
}

// readEnvironment reads every variable that begins with TOUCHLINE_. It ignores unknown
// variables that begin with TOUCHLINE_TEST_, which the tests use.
func (l *loader) readEnvironment(environ []string) {
	files := map[string]input{}
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, prefix) || strings.TrimSpace(text) == "" {
			continue
		}
		key := strings.TrimPrefix(name, prefix)
		if s, ok := find(strings.TrimSuffix(key, "_FILE")); ok && s.FileName == name {
			files[s.key] = input{text: strings.TrimSpace(text), origin: origin{source: File, name: name}}
		} else if _, ok := find(key); ok {
			l.inputs[key] = input{text: strings.TrimSpace(text), origin: origin{source: Environment, name: name}}
		} else if !strings.HasPrefix(key, "TEST_") {
			l.addError(name, "", "there is no such setting"+suggest(name, variableNames()))
		}
	}
	for _, s := range table() { // in the order of the table, for errors in that order
		file, ok := files[s.key]
		if !ok {
			continue
		}
		if _, both := l.inputs[s.key]; both {
			l.addError(s.Name, "", "is set, and so is "+s.FileName+"; set one of them")
			continue
		}
		l.readFile(s, file)
	}
}

// readFile reads the value of a setting from a file. checkMasterKeyFile reports a missing file of the master key, because that
// depends on DATA_DIR. The file of the next one exists during a rotation only.
func (l *loader) readFile(s setting, file input) {
	path := file.text
	file.origin.path = path
	text, err := readSecretFile(path)
	if errors.Is(err, fs.ErrNotExist) && (s.key == masterKey || s.key == newMasterKey) {
		l.inputs[s.key] = file.withText("")
		return
	}
	if message := fileError(err); message != "" {
		l.addError(s.FileName, path, message)
		return
	}
	value := strings.TrimSpace(string(text))
	if value == "" {
		l.addError(s.FileName, path, "cannot be read: the file is empty")
		return
	}
	l.inputs[s.key] = file.withText(value)
}

// withText returns in with the text that its file holds.
func (in input) withText(text string) input {
	in.text = text
	return in
}

// fill parses every setting into c. It returns the keys of those that cannot be
// parsed, which need no validation.
func (l *loader) fill(c *Config) map[string]bool {
	unparsed := map[string]bool{}
	for _, s := range table() {
		text := s.text
		if in, ok := l.inputs[s.key]; ok {
			text, c.set[s.key] = in.text, in.origin
		}
		if text == "" {
			continue
		}
		field := s.value(c)
		value, err := s.parse(field.Type(), text)
		if err != nil {
			unparsed[s.key] = true
			for message := range strings.SplitSeq(err.Error(), "\n") {
				l.addError(s.Name, s.printable(text), message)
			}
			continue
		}
		if v := reflect.ValueOf(value); v.IsValid() {
			field.Set(v)
		}
	}
	return unparsed
}

// printable returns text for an error, or "" if the setting is a secret: without
// parsing it, its secret part is unknown.
func (s setting) printable(text string) string {
	if s.secret != "" {
		return ""
	}
	return text
}

func (l *loader) addError(name, value, message string) {
	l.errs = append(l.errs, Error{Name: name, Value: value, Message: message})
}

// variableNames returns the names of all variables, for suggestions.
func variableNames() []string {
	var names []string
	for _, s := range table() {
		names = append(names, s.Name)
		if s.FileName != "" {
			names = append(names, s.FileName)
		}
	}
	return slices.Clip(names)
}
