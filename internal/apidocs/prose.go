package apidocs

import (
	"html/template"
	"regexp"
	"strings"
)

// The document's descriptions use five marks of Markdown and no more:
// paragraphs, ## headings, - lists, **strong** and `code`.
var (
	codeMark   = regexp.MustCompile("`([^`]+)`")
	strongMark = regexp.MustCompile(`\*\*([^*]+)\*\*`)
)

// prose turns a description into HTML. The text comes from openapi.yaml alone,
// and is escaped all the same.
func prose(text string) template.HTML {
	var b strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		switch {
		case block == "":
		case strings.HasPrefix(block, "## "):
			title := strings.TrimPrefix(block, "## ")
			b.WriteString(`<h2 id="` + template.HTMLEscapeString(slug(title)) + `">` + string(Inline(title)) + "</h2>")
		case strings.HasPrefix(block, "- "):
			b.WriteString("<ul>")
			for item := range strings.SplitSeq(strings.TrimPrefix(block, "- "), "\n- ") {
				b.WriteString("<li>" + string(Inline(item)) + "</li>")
			}
			b.WriteString("</ul>")
		default:
			b.WriteString("<p>" + string(Inline(block)) + "</p>")
		}
	}
	return template.HTML(b.String())
}

// Inline turns the marks within one line into HTML.
func Inline(text string) template.HTML {
	s := template.HTMLEscapeString(strings.Join(strings.Fields(text), " "))
	s = codeMark.ReplaceAllString(s, "<code>$1</code>")
	s = strongMark.ReplaceAllString(s, "<strong>$1</strong>")
	return template.HTML(s)
}

// pointerParts splits a reference within the document (#/a/b~1c) into names.
func pointerParts(ref string) []string {
	parts := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")
	}
	return parts
}
