package roster

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
)

// titleRows are the first rows of a file among which its titles are looked for: a name of the list may be above them.
const titleRows = 10

// separatorLine is a first line that names the separator, for Excel; other programs save it with separators and quotes.
var separatorLine = regexp.MustCompile(`^(?i:"?sep=(.)"?)[,;\t]*$`)

// errTooManyCells is the error of a file whose rows would need too much memory.
var errTooManyCells = fileFault("too_many_columns", "This file has too many columns. Keep the ones that we read, and delete the others.")

// cellCounter ends a text that has too many separators.
type cellCounter struct {
	in        io.Reader
	separator byte
	count     int
}

// Read implements io.Reader.
func (c *cellCounter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	if c.count += bytes.Count(p[:n], []byte{c.separator}); c.count > maxCells {
		return 0, errTooManyCells
	}
	return n, err
}

// findSeparator returns the separator with which one of the first lines has the most titles that are known: named, if
// several have as many.
func findSeparator(text string, named rune) rune {
	candidates := []rune{',', ';', '\t'}
	if named == '|' || slices.Contains(candidates, named) {
		candidates = append([]rune{named}, candidates...)
	}
	best, separator := 0, candidates[0]
	for _, candidate := range candidates {
		lines := 0
		for line := range strings.SplitSeq(text, "\n") {
			if lines++; lines > titleRows {
				break
			}
			if known := knownTitles(strings.Split(line, string(candidate))); known > best {
				best, separator = known, candidate
			}
		}
	}
	return separator
}

// maxTitles limits the cells of a row that are compared with titles.
const maxTitles = 200

// knownTitles returns how many cells are titles that are known.
func knownTitles(cells []string) int {
	known := 0
	for _, cell := range cells[:min(maxTitles, len(cells))] {
		if len(cell) <= maxTitle && meaningOf(strings.Trim(trimCell(cell), `="`)).column != "" {
			known++
		}
	}
	return known
}

// maxTitle is the longest title that may be known, in bytes.
const maxTitle = 200
