package config

// Source says what kind of place the value of a setting came from.
type Source string

// The sources. A flag is stronger than a variable; a file is as strong as the flag
// or the variable that names it.
const (
	Flag        Source = "flag"
	File        Source = "file"
	Environment Source = "environment"
	Default     Source = "default"
)

// origin is where one setting came from: the flag or variable, and the path where
// that names a file.
type origin struct {
	source Source
	name   string
	path   string
}

// origin returns where the setting with that key came from.
func (c *Config) origin(key string) origin {
	if o, ok := c.set[key]; ok {
		return o
	}
	return origin{source: Default}
}

// isSet says whether somebody set it, to its default perhaps.
func (c *Config) isSet(key string) bool {
	_, ok := c.set[key]
	return ok
}
