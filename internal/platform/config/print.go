package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// row is one setting in the output of touchline config.
type row struct {
	Name    string `json:"name"`
	Flag    string `json:"flag,omitempty"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Source  Source `json:"source"`
	From    string `json:"from,omitempty"`
	Help    string `json:"help"`
}

// Print writes every setting with its value, default and source as a table.
// Secrets are masked.
func (c *Config) Print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "SETTING\tVALUE\tDEFAULT\tSOURCE")
	for _, r := range c.rows() {
		source := string(r.Source)
		if r.From != "" {
			source += " " + r.From
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", r.Name, printable(r.Value), r.Default, source)
	}
	return tw.Flush()
}

// PrintJSON writes the same rows as a JSON array.
func (c *Config) PrintJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(c.rows())
}

func (c *Config) rows() []row {
	var rows []row
	for _, s := range table() {
		o := c.origin(s.key)
		r := row{Name: s.Name, Value: c.display(s), Default: s.Default, Source: o.source, Help: s.Help}
		if s.Flag != "" {
			r.Flag = "--" + s.Flag
		}
		switch o.source {
		case Flag:
			r.From = o.name
		case File:
			r.From = o.path
		}
		rows = append(rows, r)
	}
	return rows
}

// display returns the value of a setting without its secrets.
func (c *Config) display(s setting) string {
	switch {
	case s.key == masterKey && c.MasterKeyBase64 == "":
		return c.MasterKeyPath()
	case s.key == newMasterKey && c.NewMasterKeyBase64 == "":
		return cmp.Or(c.newMasterKeyPath(), "none")
	case s.text != "" && c.origin(s.key).source == Default && s.Default == s.text:
		return s.text // as the tag spells it: 60s, not 1m
	default:
		return format(s.value(c).Interface())
	}
}
