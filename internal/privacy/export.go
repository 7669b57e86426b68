package privacy

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"time"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/platform/wire"
)

// Section is one kind of data in the export of a family.
type Section struct {
	// Name and Columns are keys of the JSON file and of the texts export.section.… and export.column.…
	Name    string
	Columns []string
	// Each calls row with the values of each row: text, numbers, booleans, times, and nil or a zero time for none.
	Each func(ctx context.Context, row func(values ...any) error) error
}

// ExportFiles calls add with the name and the content of each file that the export of a family has besides its data.
type ExportFiles func(ctx context.Context, add func(name string, content []byte) error) error

// WriteExport writes a ZIP file with data.json, index.html, which a person can read, in a
// language, and files. It holds no more than a row or a file in memory, so it reads each section twice.
func WriteExport(ctx context.Context, out io.Writer, sections []Section, files ExportFiles, language string, now time.Time) error {
	archive := zip.NewWriter(out)
	for _, part := range []struct {
		name  string
		write func(*bufio.Writer) error
	}{
		{"data.json", func(w *bufio.Writer) error { return writeJSON(ctx, w, sections, now) }},
		{"index.html", func(w *bufio.Writer) error { return writePage(ctx, w, sections, language, now) }},
	} {
		file, err := archive.Create(part.name)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(file)
		if err := part.write(w); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	err := files(ctx, func(name string, content []byte) error {
		file, err := archive.Create(name)
		if err == nil {
			_, err = file.Write(content)
		}
		return err
	})
	if err != nil {
		return err
	}
	return archive.Close()
}

// writeJSON writes one object with an array of objects for each section.
func writeJSON(ctx context.Context, w *bufio.Writer, sections []Section, now time.Time) error {
	fmt.Fprintf(w, `{"exported_at": %q`, wire.Timestamp(now))
	for _, s := range sections {
		fmt.Fprintf(w, ",\n%q: [", s.Name)
		before := "\n"
		err := s.Each(ctx, func(values ...any) error {
			_, _ = w.WriteString(before + "{") // Flush returns the error
			before = ",\n"
			for i, value := range values {
				if at, is := value.(time.Time); is {
					value = wire.TimestampOrNull(at)
				}
				text, err := json.Marshal(value)
				if err != nil {
					return err
				}
				if i > 0 {
					_, _ = w.WriteString(", ")
				}
				fmt.Fprintf(w, "%q: %s", s.Columns[i], text)
			}
			return w.WriteByte('}')
		})
		if err != nil {
			return err
		}
		_, _ = w.WriteString("]")
	}
	_, err := w.WriteString("}\n")
	return err
}

// writePage writes the same as a page, without empty values and sections.
func writePage(ctx context.Context, w *bufio.Writer, sections []Section, code string, now time.Time) error {
	texts, err := language.Read(code, Files)
	if err != nil {
		return err
	}
	title := html.EscapeString(texts.Text("export.page"))
	fmt.Fprintf(w, `<!doctype html><html lang="%s" dir="%s"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>%s</title>
<style>body{font:16px/1.5 sans-serif;max-width:44rem;margin:1rem auto;padding:0 1rem;overflow-wrap:anywhere}dl{border-top:1px solid #ccc;margin:0;padding:.5rem 0}dt{color:#555;font-size:.875rem}dd{margin:0 0 .25rem;white-space:pre-line}</style>
<h1>%s</h1><p>%s</p>
`, code, language.Of(code).Direction(), title, title, pageTime(now))
	for _, s := range sections {
		begun := false
		err := s.Each(ctx, func(values ...any) error {
			if !begun {
				begun = true
				fmt.Fprintf(w, "<h2>%s</h2>\n", html.EscapeString(texts.Text("export.section."+s.Name)))
			}
			_, _ = w.WriteString("<dl>")
			for i, value := range values {
				if text := pageValue(value, texts); text != "" {
					fmt.Fprintf(w, "<dt>%s</dt><dd>%s</dd>", html.EscapeString(texts.Text("export.column."+s.Columns[i])), html.EscapeString(text))
				}
			}
			_, err := w.WriteString("</dl>\n")
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pageValue returns a value as a text of the page.
func pageValue(value any, texts language.Texts) string {
	switch v := value.(type) {
	case nil:
		return ""
	case time.Time:
		return pageTime(v)
	case bool:
		return texts.Text(fmt.Sprint("export.", v))
	}
	return fmt.Sprint(value)
}

func pageTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
