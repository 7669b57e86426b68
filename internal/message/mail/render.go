package mail

import (
	_ "embed"
	htmltemplate "html/template"
	"strings"
	texttemplate "text/template"

	"github.com/touchline/touchline/internal/message"
)

var (
	//go:embed mail.html
	htmlSource string
	//go:embed mail.txt
	textSource string

	htmlBody = htmltemplate.Must(htmltemplate.New("html").Funcs(htmltemplate.FuncMap{"setOff": setOff}).Parse(htmlSource))
	textBody = texttemplate.Must(texttemplate.New("text").Parse(textSource))
)

// render returns both parts of a mail. stop is the address that ends mail, or empty; notice is that of the notice.
func render(m message.Mail, stop, notice string) (text, html string, err error) {
	data := struct {
		message.Mail
		Stop, Notice string
	}{m, stop, notice}
	var plain, marked strings.Builder
	if err := textBody.Execute(&plain, data); err != nil {
		return "", "", err
	}
	if err := htmlBody.Execute(&marked, data); err != nil {
		return "", "", err
	}
	return plain.String(), marked.String(), nil
}

// setOff returns a paragraph in which the code is large and its letters are apart: a person types it into another device.
func setOff(paragraph, code string) htmltemplate.HTML {
	escaped := htmltemplate.HTMLEscapeString
	before, after, found := strings.Cut(paragraph, code)
	if code == "" || !found {
		return htmltemplate.HTML(escaped(paragraph))
	}
	return htmltemplate.HTML(escaped(before) + `<b style="font:600 20px ui-monospace,monospace;letter-spacing:.15em;white-space:nowrap">` + escaped(code) + `</b>` + escaped(after))
}
