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

// prose converts the Markdown of a description to HTML: paragraphs, ## headings, - lists,
// **strong** and `code`.
func prose(text string) template.HTML {
	var b strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		title, isHeading := strings.CutPrefix(block, "## ")
		items, isList := strings.CutPrefix(block, "- ")
		switch {
		case isHeading:
			b.WriteString(`<h2 id="` + template.HTMLEscapeString(slug(title)) + `">` + string(Inline(title)) + "</h2>")
		case isList:
			b.WriteString("<ul>")
			for item := range strings.SplitSeq(items, "\n- ") {
				b.WriteString("<li>" + string(Inline(item)) + "</li>")
			}
			b.WriteString("</ul>")
		case block != "":
			b.WriteString("<p>" + string(Inline(block)) + "</p>")
		}
	}
	return template.HTML(b.String())
}

// Inline converts **strong** and `code` in one paragraph to HTML and escapes the rest.
func Inline(text string) template.HTML {
	s := template.HTMLEscapeString(strings.Join(strings.Fields(text), " "))
	s = codeMark.ReplaceAllString(s, "<code>$1</code>")
	s = strongMark.ReplaceAllString(s, "<strong>$1</strong>")
	return template.HTML(s)
}

func slug(s string) string { return strings.ReplaceAll(strings.ToLower(s), " ", "-") }
