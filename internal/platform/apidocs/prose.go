package apidocs

import (
	"html/template"
	"regexp"
	"strings"
)

var (
	codeMark   = regexp.MustCompile("`([^`]+)`")
	strongMark = regexp.MustCompile(`\*\*([^*]+)\*\*`)
)

// Inline converts **strong** and `code` in one paragraph to HTML and escapes the rest.
func Inline(text string) template.HTML {
	s := template.HTMLEscapeString(strings.Join(strings.Fields(text), " "))
	s = codeMark.ReplaceAllString(s, "<code>$1</code>")
	s = strongMark.ReplaceAllString(s, "<strong>$1</strong>")
	return template.HTML(s)
}
