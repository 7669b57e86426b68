package config

// Source is where the value of a setting came from.
type Source string

// The sources. A flag overrides a variable. A file has the priority of the flag or the
// variable that names it.
const (
	Flag        Source = "flag"
	File        Source = "file"
	Environment Source = "environment"
	Default     Source = "default"
	// Development is the source of limits that development mode turns off.
	Development Source = "development"
)

// origin is the source of one setting: the flag or the variable, and the path of the
// file if it names one.
type origin struct {
	source Source
	name   string
	path   string
}

// origin returns the origin of the setting with that key.
func (c *Config) origin(key string) origin {
	if o, ok := c.set[key]; ok {
		return o
	}
	if s, ok := find(key); ok && (c.offInDevelopment(s) || (key == "WHATSAPP" || key == "VOICE") && c.Development()) {
		return origin{source: Development}
	}
	return origin{source: Default}
}

// isSet reports whether the setting is set, even if to its default.
func (c *Config) isSet(key string) bool {
	_, ok := c.set[key]
	return ok
}

// ConfiguredNames returns the names of the settings that are set, even to their
// defaults, in the order of Config.
func (c *Config) ConfiguredNames() []string {
	names := []string{}
	for _, s := range table() {
		if c.isSet(s.key) {
			names = append(names, s.Name)
		}
	}
	return names
}
