package document

import (
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/platform/wire"
)

// kindRules are the rules of the kind of a document.
var kindRules = wire.ParseRules("required,oneof=certification|qualification|identity|profile_picture")

var (
	titleRules  = wire.ParseRules("name,max=100")
	issuerRules = wire.ParseRules("name,max=100")
)

// readUpload returns the document of a form. An empty text counts as absent, because browsers
// send the fields that a person left empty.
func readUpload(f *upload.Form, faults *wire.Faults) Upload {
	d := Upload{FileName: f.FileName}
	if f.File != nil {
		d.File = f.File
	}
	if kind := f.Texts["kind"]; kind == "" {
		faults.Add("/kind", "required", "This is needed.")
	} else {
		d.Kind = coach.DocumentKind(kindRules.Text(kind, "/kind", faults))
	}
	if title := f.Texts["title"]; title != "" {
		d.Title = titleRules.Text(title, "/title", faults)
	}
	if issuer := f.Texts["issuer"]; issuer != "" {
		d.Issuer = issuerRules.Text(issuer, "/issuer", faults)
	}
	d.IssuedOn = readDate(f.Texts["issued_on"], "/issued_on", faults)
	d.ExpiresOn = readDate(f.Texts["expires_on"], "/expires_on", faults)
	for _, field := range checkDates(d.IssuedOn, d.ExpiresOn) {
		faults.Add(field.Pointer, field.Code, field.Detail)
	}
	return d
}

// readDate reads a date; "" means no date.
func readDate(text, at string, f *wire.Faults) coach.Date {
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
