package roster

import (
	"fmt"
	"io"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/web"
)

// columnFields are the fields of the columns of a file, in their order. A form has at most 50 parts.
var columnFields = newColumnFields()

func newColumnFields() []string {
	names := make([]string, 40)
	for n := range names {
		names[n] = fmt.Sprint("column_", n+1)
	}
	return names
}

// answers returns what a form says about its file.
func answers(r *web.Request) Options {
	o := Options{Ask: true, AskColumns: r.Value("choose") == "yes", BatchID: web.IDOrNone(r.Value("batch"))}
	if order := DateOrder(r.Value("date_order")); order == DayFirst || order == MonthFirst {
		o.DateOrder = order
	}
	for _, name := range columnFields {
		c := Column(r.Value(name))
		if !slices.Contains(choices, c) && c != ignored {
			break
		}
		o.Columns = append(o.Columns, c)
	}
	return o
}

// columnView is a column on the page that asks what it is.
type columnView struct {
	ReadColumn
	Field   string
	Choices []columnChoice
}

type columnChoice struct {
	Column   Column
	Text     string
	Selected bool
}

// orderView is one reading of an open date.
type orderView struct {
	Order DateOrder
	Date  coach.Date
}

// ask returns the page that asks what the columns of a file are, and in which order its dates are. Nothing is kept yet:
// the form carries the cells, or the coach chooses a long file again.
func (p pages) ask(r *web.Request, by actor.Actor, file File, options Options, q *Question) (web.Response, error) {
	text, err := textOf(file)
	if err != nil {
		return web.Response{}, err
	}
	f := &web.Form{Values: r.Form}
	if q.faults != nil {
		p.addFileFaults(r, f, q.Unwrap())
	}
	if q.Open.Row > 0 && len(options.Columns) > 0 {
		f.Add("date_order", p.site.NewView(r, "import.title").MustT("import.columns.order.missing"))
	}
	v := p.site.CoachView(r, "players", "import.columns.title", by)
	v.Form = f
	v.Path = "/coach/players/import"
	columns := q.Layout.Columns[:min(len(q.Layout.Columns), len(columnFields))]
	views := make([]columnView, len(columns))
	for n, c := range columns {
		views[n] = columnView{ReadColumn: c, Field: columnFields[n]}
		none := columnChoice{ignored, v.MustT("import.columns.none"), c.Column == ""}
		views[n].Choices = append(views[n].Choices, none)
		for _, choice := range choices {
			views[n].Choices = append(views[n].Choices, columnChoice{choice, v.TextOr("import.column."+string(choice), string(choice)), choice == c.Column})
		}
	}
	var orders []orderView
	if q.Open.Row > 0 {
		orders = []orderView{{DayFirst, coach.Date(q.Open.DayFirst)}, {MonthFirst, coach.Date(q.Open.MonthFirst)}}
	}
	v.Data = map[string]any{
		"Token": p.NewID(), "Columns": views, "Orders": orders, "Open": q.Open, "Text": text, "Again": text == "", "Guessed": q.Guessed, "MaxBytes": maxBytes >> 20,
	}
	return web.FormPage("import_columns", v), nil
}

// textOf returns the text of a file that a page can carry, or "".
func textOf(file File) (string, error) {
	source, err := open(file, file.Size())
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(source.text(), maxShownAgain+1))
	if err != nil || len(text) > maxShownAgain {
		return "", err
	}
	return string(text), nil
}
