package language

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Unit is a text as a translator gets it; a text with plural forms has a unit for each.
type Unit struct {
	Key string `json:"key"`
	// Form is the plural category, or "".
	Form    string `json:"form,omitempty"`
	English string `json:"english"`
	Text    string `json:"text"`
	// Max is the longest text that fits, in characters.
	Max int `json:"max"`
	// Context says where the text is shown; Changed that the English is another than that of Text.
	Context string `json:"context"`
	Changed bool   `json:"changed"`
}

// Units returns all texts of a language for a translator, in the order of their keys. marks say from which English they are.
func Units(code string, texts, english Texts, marks []Mark) []Unit {
	from := map[string]string{}
	for _, m := range marks {
		if m.Language == code {
			from[m.Key] = m.English
		}
	}
	var units []Unit
	for _, key := range slices.Sorted(maps.Keys(english)) {
		sources, _ := formsOf(english[key], Of(English))
		forms, _ := formsOf(texts[key], Of(code))
		names := []string{""}
		if _, plain := sources[""]; !plain {
			names = Of(code).Plurals
		}
		for _, name := range names {
			source, ok := sources[name]
			if !ok {
				source = sources["other"]
			}
			units = append(units, Unit{
				Key: key, Form: name, English: source, Text: forms[name], Max: maxLength(source), Context: contextOf(key),
				Changed: from[key] != "" && from[key] != Hash(english[key]),
			})
		}
		if short := texts.Text(key + shortEnd); short != "" || shortened(key) {
			units = append(units, Unit{Key: key + shortEnd, English: sources[""], Text: short, Max: maxShort, Context: "an SMS, shorter than the English: without batch and code, its length without the values"})
		}
	}
	return units
}

// maxShort is how many characters a shorter text has without its values: with two names of 12 letters and a link it then takes
// two SMS.
const maxShort = 42

// shortened reports whether an SMS has a shorter text in languages that Latin letters do not write.
func shortened(key string) bool {
	return strings.HasPrefix(key, "sms.request_") || strings.HasPrefix(key, "sms.reminder_")
}

func contextOf(key string) string {
	where, _, _ := strings.Cut(key, ".")
	switch where {
	case "sms":
		return "SMS"
	case "whatsapp", "whatsapp_button", "chat":
		return "chat by WhatsApp"
	case "call":
		return "spoken by a machine in a call"
	case "mail":
		return "e-mail"
	case "notification", "push":
		return "notification"
	case "notice":
		return "notice to families"
	}
	return "page: " + where
}

// FromUnits returns the texts of units. Empty ones are left out.
func FromUnits(units []Unit) Texts {
	texts := Texts{}
	for _, u := range units {
		switch {
		case u.Text == "":
		case u.Form == "":
			texts[u.Key] = u.Text
		default:
			forms, _ := texts[u.Key].(map[string]any)
			if forms == nil {
				forms = map[string]any{}
				texts[u.Key] = forms
			}
			forms[u.Form] = u.Text
		}
	}
	return texts
}

// Formats are the formats of files for translators.
var Formats = []string{"xliff", "csv", "json"}

// WriteUnits writes units in a format.
func WriteUnits(w io.Writer, format, code string, units []Unit) error {
	switch format {
	case "csv":
		c := csv.NewWriter(w)
		rows := [][]string{{"key", "form", "english", "text", "max", "context", "changed"}}
		for _, u := range units {
			rows = append(rows, []string{u.Key, u.Form, u.English, u.Text, strconv.Itoa(u.Max), u.Context, map[bool]string{true: "yes"}[u.Changed]})
		}
		return c.WriteAll(rows)
	case "json":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(units)
	case "xliff":
		return writeXLIFF(w, code, units)
	}
	return fmt.Errorf("the format must be one of %s", strings.Join(Formats, ", "))
}

// ReadUnits reads what WriteUnits wrote.
func ReadUnits(r io.Reader, format string) (units []Unit, err error) {
	switch format {
	case "csv":
		rows, err := csv.NewReader(r).ReadAll()
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		for _, row := range rows[1:] {
			if len(row) < 4 {
				return nil, fmt.Errorf("a row has %d columns, want key, form, english and text", len(row))
			}
			units = append(units, Unit{Key: row[0], Form: row[1], English: row[2], Text: row[3]})
		}
		return units, nil
	case "json":
		return units, json.NewDecoder(r).Decode(&units)
	case "xliff":
		return readXLIFF(r)
	}
	return nil, fmt.Errorf("the format must be one of %s", strings.Join(Formats, ", "))
}

// The elements of XLIFF 1.2, which the programs of translators read.
type (
	xliff struct {
		XMLName xml.Name  `xml:"urn:oasis:names:tc:xliff:document:1.2 xliff"`
		Version string    `xml:"version,attr"`
		File    xliffFile `xml:"file"`
	}
	xliffFile struct {
		Original string      `xml:"original,attr"`
		Source   string      `xml:"source-language,attr"`
		Target   string      `xml:"target-language,attr"`
		Datatype string      `xml:"datatype,attr"`
		Units    []xliffUnit `xml:"body>trans-unit"`
	}
	xliffUnit struct {
		ID     string      `xml:"id,attr"`
		Max    int         `xml:"maxwidth,attr"`
		Unit   string      `xml:"size-unit,attr"`
		Source string      `xml:"source"`
		Target xliffTarget `xml:"target"`
		Note   string      `xml:"note"`
	}
	xliffTarget struct {
		State string `xml:"state,attr,omitempty"`
		Text  string `xml:",chardata"`
	}
)

func writeXLIFF(w io.Writer, code string, units []Unit) error {
	file := xliffFile{Original: "touchline", Source: English, Target: code, Datatype: "plaintext"}
	for _, u := range units {
		id, state := u.Key, ""
		if u.Form != "" {
			id += "#" + u.Form
		}
		if u.Changed || u.Text == "" {
			state = "needs-translation"
		}
		file.Units = append(file.Units, xliffUnit{ID: id, Max: u.Max, Unit: "char", Source: u.English, Target: xliffTarget{state, u.Text}, Note: u.Context})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	return e.Encode(xliff{Version: "1.2", File: file})
}

func readXLIFF(r io.Reader) (units []Unit, err error) {
	var x xliff
	if err := xml.NewDecoder(r).Decode(&x); err != nil {
		return nil, err
	}
	for _, u := range x.File.Units {
		key, form, _ := strings.Cut(u.ID, "#")
		units = append(units, Unit{Key: key, Form: form, English: u.Source, Text: u.Target.Text})
	}
	return units, nil
}
