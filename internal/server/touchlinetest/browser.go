package touchlinetest

import (
	"cmp"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Browser is a browser without JavaScript: it keeps cookies, follows redirects and submits
// forms. It opens pages faster than a real browser.
type Browser struct {
	// Language is the header Accept-Language.
	Language string
	// Page is the newest page.
	Page *Page

	tb     testing.TB
	base   string
	client *http.Client
}

// Page is a response to a Browser.
type Page struct {
	Status int
	Header http.Header
	// Path is the path and query at which the redirects ended.
	Path string
	Body string

	url  *url.URL
	root *html.Node
}

// Browser returns a new browser without cookies.
func (s *Service) Browser(tb testing.TB) *Browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: new(http.Transport), Timeout: CallLimit}
	tb.Cleanup(client.CloseIdleConnections)
	return &Browser{Language: "en", tb: tb, base: s.URL, client: client}
}

// Open fetches a page and makes it the newest one.
func (b *Browser) Open(path string) *Page {
	b.tb.Helper()
	return b.Send("GET", path, nil)
}

// Send sends a request and makes its response the newest page. A path may be a whole URL.
func (b *Browser) Send(method, path string, form url.Values) *Page {
	b.tb.Helper()
	if !strings.HasPrefix(path, "http") {
		path = b.base + path
	}
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequest(method, path, body)
	if err != nil {
		b.tb.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.base)
		if b.Page != nil {
			req.Header.Set("Origin", b.Page.url.Scheme+"://"+b.Page.url.Host)
		}
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("Accept-Language", b.Language)
	if b.Page != nil {
		req.Header.Set("Referer", b.Page.url.String())
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.tb.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	reader := io.Reader(resp.Body)
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if reader, err = gzip.NewReader(resp.Body); err != nil {
			b.tb.Fatalf("%s %s: %v", method, path, err)
		}
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		b.tb.Fatalf("%s %s: %v", method, path, err)
	}
	root, err := html.Parse(strings.NewReader(string(content)))
	if err != nil {
		b.tb.Fatalf("%s %s: %v", method, path, err)
	}
	b.Page = &Page{Status: resp.StatusCode, Header: resp.Header, Path: resp.Request.URL.RequestURI(), Body: string(content), url: resp.Request.URL, root: root}
	return b.Page
}

// Cookie returns the value of a cookie, or "".
func (b *Browser) Cookie(name string) string {
	base, _ := url.Parse(b.base)
	for _, c := range b.client.Jar.Cookies(base) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// Heading returns the text of the first heading.
func (p *Page) Heading() string {
	h := find(p.root, func(n *html.Node) bool { return n.Data == "h1" })
	return text(h)
}

// Text returns the text of the main part of the page.
func (p *Page) Text() string {
	return text(find(p.root, func(n *html.Node) bool { return n.Data == "main" }))
}

// Value returns the value of a field of the page, of radio buttons the chosen one.
func (p *Page) Value(field string) string {
	n := find(p.root, func(n *html.Node) bool {
		chosen := func(a html.Attribute) bool { return a.Key == "checked" }
		return attribute(n, "name") == field && (attribute(n, "type") != "radio" || slices.ContainsFunc(n.Attr, chosen))
	})
	if n != nil && n.Data == "textarea" && n.FirstChild != nil {
		return n.FirstChild.Data
	}
	return attribute(n, "value")
}

// Press follows the link or submits the form of the button with this text. The fields are
// names and values in turn; the others keep the values of the page.
func (b *Browser) Press(label string, fields ...string) *Page {
	b.tb.Helper()
	n := find(b.Page.root, func(n *html.Node) bool { return (n.Data == "button" || n.Data == "a") && text(n) == label })
	if n == nil {
		b.tb.Fatalf("the page %s has no link or button %q:\n%s", b.Page.Path, label, b.Page.Text())
	}
	if n.Data == "a" {
		return b.Open(b.resolve(attribute(n, "href")))
	}
	form := formOf(b.Page.root, n)
	values := url.Values{}
	for field := range b.Page.root.Descendants() {
		name := attribute(field, "name")
		switch {
		case name == "" || field.Data == "button" || formOf(b.Page.root, field) != form:
		case field.Data == "textarea":
			values.Set(name, "")
			if field.FirstChild != nil {
				values.Set(name, field.FirstChild.Data)
			}
		case attribute(field, "type") == "radio" || attribute(field, "type") == "checkbox":
		default:
			values.Set(name, attribute(field, "value"))
		}
	}
	if name := attribute(n, "name"); name != "" {
		values.Set(name, attribute(n, "value"))
	}
	for i := 0; i+1 < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	return b.Send("POST", b.resolve(cmp.Or(attribute(n, "formaction"), attribute(form, "action"))), values)
}

// formOf returns the form of a field or button: the form that it names, or the form around it.
func formOf(root, n *html.Node) *html.Node {
	if id := attribute(n, "form"); id != "" {
		return find(root, func(f *html.Node) bool { return f.Data == "form" && attribute(f, "id") == id })
	}
	for n != nil && n.Data != "form" {
		n = n.Parent
	}
	return n
}

func (b *Browser) resolve(reference string) string {
	b.tb.Helper()
	u, err := b.Page.url.Parse(reference)
	if err != nil {
		b.tb.Fatal(err)
	}
	return u.String()
}

func find(root *html.Node, matches func(*html.Node) bool) *html.Node {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && matches(n) {
			return n
		}
	}
	return nil
}

func text(n *html.Node) string {
	if n == nil {
		return ""
	}
	var s strings.Builder
	for child := range n.Descendants() {
		if child.Type == html.TextNode {
			s.WriteString(child.Data)
		}
	}
	return strings.Join(strings.Fields(s.String()), " ")
}

func attribute(n *html.Node, name string) string {
	if n == nil {
		return ""
	}
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
