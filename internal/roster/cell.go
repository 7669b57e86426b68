package roster

import "strings"

// formulaSigns begin a formula in a spreadsheet program.
const formulaSigns = "=+-@"

// neutralise returns the text of a cell that no spreadsheet program runs as a formula: it
// puts an apostrophe before a text that begins with one of formulaSigns.
func neutralise(text string) string {
	if startsFormula(text) {
		return "'" + text
	}
	return text
}

// restore returns the text that neutralise was given.
func restore(cell string) string {
	if text, ok := strings.CutPrefix(cell, "'"); ok && startsFormula(text) {
		return text
	}
	return cell
}

// startsFormula reports whether text begins with one of formulaSigns, after any number
// of apostrophes, so that restore inverts neutralise for every text.
func startsFormula(text string) bool {
	text = strings.TrimLeft(text, "'")
	return text != "" && strings.IndexByte(formulaSigns, text[0]) >= 0
}
