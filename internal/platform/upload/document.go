package upload

import (
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/wire"
)

// KindRules are the rules of the kind of a document.
var KindRules = wire.ParseRules("required,oneof=certification|qualification|identity|profile_picture")

var (
	titleRules  = wire.ParseRules("name,max=100")
	issuerRules = wire.ParseRules("name,max=100")
)

// Document returns the document of a form. An empty text counts as absent, because browsers
// send the fields that a person left empty.
func (f *Form) Document(faults *wire.Faults) coach.Upload {
	d := coach.Upload{FileName: f.FileName}
	if f.File != nil {
		d.File = f.File
	}
	if kind := f.Texts["kind"]; kind == "" {
		faults.Add("/kind", "required", "This is needed.")
	} else {
		d.Kind = coach.DocumentKind(KindRules.Text(kind, "/kind", faults))
	}
	if title := f.Texts["title"]; title != "" {
		d.Title = titleRules.Text(title, "/title", faults)
	}
	if issuer := f.Texts["issuer"]; issuer != "" {
		d.Issuer = issuerRules.Text(issuer, "/issuer", faults)
	}
	d.IssuedOn = ReadDate(f.Texts["issued_on"], "/issued_on", faults)
	d.ExpiresOn = ReadDate(f.Texts["expires_on"], "/expires_on", faults)
	addDates(faults, d.IssuedOn, d.ExpiresOn)
	return d
}

// ReadDate reads a date; "" means no date.
func ReadDate(text, at string, f *wire.Faults) coach.Date {
	if text == "" {
		return ""
	}
	d, ok := coach.ParseDate(text)
	if !ok {
		f.Add(at, "invalid_date", "This must be a day that exists, as YYYY-MM-DD.")
		return ""
	}
	return d
}

func addDates(f *wire.Faults, issued, expires coach.Date) {
	for _, field := range coach.CheckDates(issued, expires) {
		f.Add(field.Pointer, field.Code, field.Detail)
	}
}
