package apidocs

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/touchline/touchline/docs"
)

// guide is a Markdown document for integrators, served at /docs/ and its name.
type guide struct{ Name, Title, File string }

var guides = []guide{
	{"guide", "Building an app", "api-guide.md"},
	{"mobile-apps", "Mobile apps", "mobile-apps.md"},
	{"versions", "Versions", "versions.md"},
}

func renderGuides(t *template.Template) (map[string]Page, error) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	pages := map[string]Page{}
	for _, g := range guides {
		source, err := docs.Files.ReadFile(g.File)
		if err != nil {
			return nil, err
		}
		content, err := renderMarkdown(markdown, source)
		if err != nil {
			return nil, fmt.Errorf("render %s: %w", g.File, err)
		}
		var others []guide
		for _, other := range guides {
			if other != g {
				others = append(others, other)
			}
		}
		pages[g.Name], err = RenderPage(t, "guide.html", struct {
			guide
			Others  []guide
			Content template.HTML
		}{g, others, content})
		if err != nil {
			return nil, err
		}
	}
	return pages, nil
}

func renderMarkdown(markdown goldmark.Markdown, source []byte) (template.HTML, error) {
	document := markdown.Parser().Parse(text.NewReader(source))
	if err := adaptLinks(document); err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, source, document); err != nil {
		return "", err
	}
	return template.HTML(strings.ReplaceAll(out.String(), "<pre>", `<pre tabindex="0">`)), nil // the keyboard scrolls what has the focus
}

// adaptLinks points links to other guides at their pages. A link to another file of the repository
// becomes its text.
func adaptLinks(document ast.Node) error {
	var unserved []*ast.Link
	err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		link, is := n.(*ast.Link)
		if !is || !entering {
			return ast.WalkContinue, nil
		}
		target, err := url.Parse(string(link.Destination))
		if err != nil {
			return ast.WalkStop, err
		}
		if target.IsAbs() || target.Path == "" {
			return ast.WalkContinue, nil
		}
		for _, g := range guides {
			if g.File == target.Path {
				link.Destination = []byte(strings.Replace(string(link.Destination), target.Path, "/docs/"+g.Name, 1))
				return ast.WalkContinue, nil
			}
		}
		unserved = append(unserved, link)
		return ast.WalkContinue, nil
	})
	for _, link := range unserved {
		parent := link.Parent()
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			parent.InsertBefore(parent, link, child)
		}
		parent.RemoveChild(parent, link)
	}
	return err
}
