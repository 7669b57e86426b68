package config

// Source says where the value of a setting came from.
type Source string

// The sources, the strongest first. A file is one named by a <name>_FILE.
const (
	Flag        Source = "flag"
	File        Source = "file"
	Environment Source = "environment"
	Default     Source = "default"
)

// origin is where one setting came from, and its name there.
type origin struct {
	source Source
	name   string
}
