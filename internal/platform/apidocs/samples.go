package apidocs

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/touchline/touchline/docs"
)

// languages are the files of docs/samples/_reference in the order of the page. Tests run each file from its beginning to its end.
var languages = []struct{ name, label, file string }{
	{"shell", "curl", "samples.sh"},
	{"typescript", "TypeScript", "samples.ts"},
	{"go", "Go", "samples.go"},
}

// sample is a call in one language.
type sample struct{ language, label, source string }

// readSamples returns the samples of each operation. In a file, a sample of the operation x is
// between the lines "sample: x" and "end".
func readSamples() (map[string][]sample, error) {
	samples := map[string][]sample{}
	for _, l := range languages {
		content, err := docs.Files.ReadFile("samples/_reference/" + l.file)
		if err != nil {
			return nil, err
		}
		operation, source := "", []string(nil)
		for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
			mark := strings.TrimLeft(strings.TrimSpace(lines.Text()), "/# ")
			if id, begins := strings.CutPrefix(mark, "sample: "); begins {
				operation, source = id, nil
			} else if mark == "end" {
				samples[operation] = append(samples[operation], sample{l.name, l.label, outdent(source)})
				operation = ""
			} else if operation != "" {
				source = append(source, lines.Text())
			}
		}
		if operation != "" {
			return nil, fmt.Errorf("%s: the sample of %s has no end", l.file, operation)
		}
	}
	return samples, nil
}

// outdent removes the indentation of the first line from all lines.
func outdent(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], "\t "))]
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.ReplaceAll(strings.TrimPrefix(line, indent), "\t", "  ") + "\n")
	}
	return b.String()
}

// addSamples adds the samples to the operations of a document as x-codeSamples.
func addSamples(root node) error {
	samples, err := readSamples()
	if err != nil {
		return err
	}
	for _, methods := range root.at("paths").members() {
		for _, operation := range methods.members() {
			id := operation.own("operationId").Value
			if id == "" || len(samples[id]) == 0 {
				continue
			}
			var list yaml.Node
			entries := []map[string]string{}
			for _, s := range samples[id] {
				entries = append(entries, map[string]string{"lang": s.language, "label": s.label, "source": s.source})
			}
			if err := list.Encode(entries); err != nil {
				return err
			}
			operation.Content = append(operation.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "x-codeSamples"}, &list)
			delete(samples, id)
		}
	}
	for id := range samples {
		return fmt.Errorf("the document has no operation %q of the samples", id)
	}
	return nil
}
