package config

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// readFlags reads --name=value and --name value, with one dash or two. The standard
// flag package stops at the first error; this reports all.
func (l *loader) readFlags(args []string) error {
	for i := 0; i < len(args); i++ {
		name, text, hasValue := strings.Cut(args[i], "=")
		bare := strings.TrimPrefix(strings.TrimPrefix(name, "-"), "-")
		switch {
		case bare == name || !isFlagName(bare):
			// Do not print the argument: it may be a password whose flag is missing.
			l.addError(fmt.Sprintf("argument %d", i+1), "", "is not a flag; settings are given as --name=value")
			continue
		case bare == "h" || bare == "help":
			return ErrHelp
		}
		if !hasValue && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
			i++
			text, hasValue = args[i], true
		}
		l.readFlag(bare, strings.TrimSpace(text), hasValue)
	}
	return nil
}

func isFlagName(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}

func (l *loader) readFlag(flag, text string, hasValue bool) {
	key := strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
	s, known := find(key)
	file, fileKnown := find(strings.TrimSuffix(key, "_FILE"))
	fileKnown = fileKnown && strings.HasSuffix(key, "_FILE") && file.FileName != ""
	switch {
	case strings.ToLower(flag) != flag || !known && !fileKnown:
		l.addError("--"+flag, "", "there is no such flag"+suggest("--"+flag, flagNames()))
	case known && s.Flag == "":
		l.addError("--"+flag, "", "is a secret, and a list of processes shows flags; set "+s.Name+" or "+s.FileName)
	case !hasValue:
		l.addError("--"+flag, "", "needs a value")
	case text == "": // like an empty variable: not set
	case fileKnown:
		l.readFile(file, input{text: text, origin: origin{source: File, name: "--" + flag}})
	default:
		l.inputs[key] = input{text: text, origin: origin{source: Flag, name: "--" + flag}}
	}
}

// flagNames returns the names of all flags, for suggestions.
func flagNames() []string {
	var names []string
	for _, s := range table() {
		if s.Flag != "" {
			names = append(names, "--"+s.Flag)
		}
		if s.FileName != "" {
			names = append(names, "--"+strings.ToLower(strings.ReplaceAll(s.key, "_", "-"))+"-file")
		}
	}
	return names
}

// Usage writes every setting with its flag, variable, default and help.
func Usage(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range Settings() {
		flag := "--" + s.Flag
		if s.Flag == "" {
			flag = "(no flag)"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n\t%s\n", flag, s.Name, s.Default, s.Help)
	}
	return tw.Flush()
}
