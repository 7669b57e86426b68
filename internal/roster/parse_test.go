package roster_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/roster"
)

var asha = roster.Entry{
	StudentName: "Asha Rao", BirthDate: "2012-04-30", StudentNumber: "98765 43210",
	GuardianName: "Ravi Rao", Relationship: "father", GuardianNumber: "+91 98765 43211", GuardianEmail: "ravi@example.org",
}

const english = "Student name,Date of birth,Student number,Guardian name,Relationship,Guardian number,Guardian email\n"

// TestParse: the spellings in which the same player may arrive.
func TestParse(t *testing.T) {
	t.Parallel()
	const row = "Asha Rao,2012-04-30,98765 43210,Ravi Rao,father,+91 98765 43211,ravi@example.org\n"
	hindi := "छात्र का नाम,जन्म तिथि,छात्र का मोबाइल नंबर,अभिभावक का नाम,रिश्ता,अभिभावक का फोन नंबर,अभिभावक का ईमेल\n"
	for name, data := range map[string]string{
		"comma":               english + row,
		"semicolon":           strings.ReplaceAll(english+row, ",", ";"),
		"pasted":              strings.ReplaceAll(english+row, ",", "\t"),
		"CRLF":                strings.ReplaceAll(english+row, "\n", "\r\n"),
		"CR":                  strings.ReplaceAll(english+row, "\n", "\r"),
		"byte order mark":     "\xef\xbb\xbf" + english + row,
		"named separator":     "sep=;\n" + strings.ReplaceAll(english+row, ",", ";"),
		"no last line break":  english + strings.TrimSuffix(row, "\n"),
		"quoted":              `"Student name","Date of birth","Student number","Guardian name","Relationship","Guardian number","Guardian email"` + "\n" + `"` + strings.ReplaceAll(strings.TrimSpace(row), ",", `","`) + `"`,
		"spaces":              english + strings.ReplaceAll(row, ",", " , "),
		"empty rows":          english + "\n,,,,,,\n" + row + "\n ,\n",
		"hindi":               hindi + row,
		"other titles":        "DOB (dd/mm/yyyy),CHILD'S FULL NAME,Parent e-mail,Parents Mobile No.,Relation to child,parent,player_whatsapp\n30/04/2012,Asha Rao,ravi@example.org,+91 98765 43211,father,Ravi Rao,98765 43210\n",
		"languages":           strings.ReplaceAll(english, "\n", ",Child language,अभिभावक की भाषा\n") + strings.ReplaceAll(row, "\n", ",,\n"),
		"neutralised":         english + strings.ReplaceAll(row, "+91", "'+91"),
		"formulas of texts":   english + "\"=\"\"Asha Rao\"\"\",\"=\"\"2012-04-30\"\"\",\"=\"\"98765 43210\"\"\",\"=\"\" Ravi Rao\"\"\",\"=\"\"father\"\"\",+91 98765 43211,ravi@example.org\n",
		"formulas of titles":  strings.ReplaceAll(english, "Student name", "\"=\"\"Student name\"\"\"") + row,
		"day first":           english + strings.ReplaceAll(row, "2012-04-30", "30-04-2012"),
		"month name":          english + strings.ReplaceAll(row, "2012-04-30", "30-Apr-2012"),
		"time of a date":      english + strings.ReplaceAll(row, "2012-04-30", "2012/04/30 00:00:00"),
		"direction marks":     english + strings.NewReplacer("2012-04-30", "\u200e2012-04-30\u200e ", "ravi@example.org", "\u202aravi@example.org\u202c", "Asha Rao", "\ufeffAsha Rao\u200b").Replace(row) + "\u200b,\u200e,,,,,\n",
		"digits of Hindi":     english + strings.ReplaceAll(row, "2012-04-30", "३०/०४/२०१२"),
		"export":              strings.TrimSuffix(english, "\n") + ",Guardian status,Student status\n" + strings.TrimSuffix(row, "\n") + ",approved,pending\n",
		"UTF-16 little":       utf16Text(english+row, false),
		"UTF-16 big":          utf16Text(english+row, true),
		"UTF-16 pasted, CRLF": utf16Text(strings.NewReplacer(",", "\t", "\n", "\r\n").Replace(english+row), false),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sheet, err := roster.Parse([]byte(data))
			if err != nil {
				t.Fatal(err)
			}
			if len(sheet.Rows) != 1 || len(sheet.Rows[0].Faults) > 0 || len(sheet.Warnings) > 0 {
				t.Fatalf("got %d rows, faults %v, warnings %v", len(sheet.Rows), sheet.Rows[0].Faults, sheet.Warnings)
			}
			if diff := cmp.Diff(asha, sheet.Rows[0].Entry); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
		})
	}
}

func utf16Text(s string, big bool) string {
	var b bytes.Buffer
	for _, unit := range utf16.Encode([]rune("\ufeff" + s)) {
		hi, lo := byte(unit>>8), byte(unit)
		if big {
			b.Write([]byte{hi, lo})
		} else {
			b.Write([]byte{lo, hi})
		}
	}
	return b.String()
}

// TestParseWindows1252: a file without a known encoding is read with a warning.
func TestParseWindows1252(t *testing.T) {
	t.Parallel()
	sheet, err := roster.Parse([]byte("name;dob\nZo\xeb M\xfcller;2001-02-03\nB\x81d;2001-02-03\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := sheet.Rows[0].Entry.StudentName; got != "Zoë Müller" {
		t.Errorf("name %q", got)
	}
	if len(sheet.Warnings) != 1 || sheet.Warnings[0].Code != "encoding_guessed" {
		t.Errorf("warnings %v", sheet.Warnings)
	}
	wantFault(t, sheet.Rows[1], 3, roster.StudentName, "unreadable")
}

func wantFault(t *testing.T, row roster.Row, number int, column roster.Column, code string) {
	t.Helper()
	if row.Number != number {
		t.Errorf("row %d, want %d", row.Number, number)
	}
	for _, f := range row.Faults {
		if f.Column == column && f.Code == code {
			return
		}
	}
	t.Errorf("row %d: faults %v, want %s in %q", row.Number, row.Faults, code, column)
}

// TestParseUnknownColumns: the warning names at most 10 columns and counts the others. A title
// that shows nothing is no column.
func TestParseUnknownColumns(t *testing.T) {
	t.Parallel()
	for titles, want := range map[string]string{
		"\u200b":                  "",
		"\u200bnote\u200b":        `"note"`,
		"a,b,c,d,e,f,g,h,i,j":     `"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"`,
		"a,b,c,d,e,f,g,h,i,j,k,l": `"a", "b", "c", "d", "e", "f", "g", "h", "i", "j" (+2)`,
	} {
		sheet, err := roster.Parse([]byte("name,dob," + titles + "\nAsha,2012-04-30\n"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(sheet.Warnings) > 0 {
			got = sheet.Warnings[0].Text
		}
		if got != want {
			t.Errorf("%q: warning about %s, want %s", titles, got, want)
		}
	}
}

// TestParseRowFaults: a broken row does not hide the rows after it, and each row has the
// number that a spreadsheet program shows.
func TestParseRowFaults(t *testing.T) {
	t.Parallel()
	sheet, err := roster.Parse([]byte("sep=,\nname,dob,note\n\"Asha\nRao\",2012-04-30,\n\nBela,2012-04-30,,x\nAn \"a\" Rao,2012-04-30\nDev,2012-04-30,\"a\nb\"\nEsha,\n\"Fay,2012-04-30\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(sheet.Rows) != 6 {
		t.Fatalf("got %d rows: %+v", len(sheet.Rows), sheet.Rows)
	}
	if sheet.Rows[0].Number != 2 {
		t.Errorf("the first row is %d, want 2", sheet.Rows[0].Number)
	}
	wantFault(t, sheet.Rows[1], 4, "", "extra_cells")
	wantFault(t, sheet.Rows[2], 5, "", "unclosed_quote")
	if sheet.Rows[3].Number != 6 || len(sheet.Rows[3].Faults) > 0 {
		t.Errorf("row 6: %+v", sheet.Rows[3])
	}
	wantFault(t, sheet.Rows[4], 7, roster.BirthDate, "required")
	wantFault(t, sheet.Rows[5], 8, "", "unclosed_quote")
}

// TestParseFileFaults: what no row can be read for.
func TestParseFileFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ data, code string }{
		"empty":             {"", "empty"},
		"only lines":        {"\n\n", "empty"},
		"titles alone":      {english, "no_rows"},
		"no titles":         {"Asha Rao,2012-04-30\n", "missing_column"},
		"no birth date":     {"name,relation\nAsha,father\n", "missing_column"},
		"two names":         {"name,student name,dob\nA,B,2012-04-30\n", "duplicate_column"},
		"whose number":      {"name,dob,mobile\nA,2012-04-30,98765 43210\n", "unclear_column"},
		"Excel":             {"PK\x03\x04anything", "not_csv"},
		"old Excel":         {"\xd0\xcf\x11\xe0anything", "not_csv"},
		"page":              {"<html><body>", "not_csv"},
		"UTF-16 unmarked":   {"n\x00a\x00m\x00e\x00", "not_csv"},
		"too many rows":     {"name,dob\n" + strings.Repeat("Asha,2012-04-30\n", roster.MaxRows+1), "too_many_rows"},
		"too many cells":    {"name,dob\n" + strings.Repeat(",", 600_000), "too_many_columns"},
		"quote in titles":   {"\"name,dob\nAsha,2012-04-30\n", "unclosed_quote"},
		"titles of nothing": {"a,b\n1,2\n", "missing_column"},
	} {
		_, err := roster.Parse([]byte(c.data))
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Code != "validation_failed" || f.Fields[0].Code != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if _, err := roster.Parse(make([]byte, roster.MaxBytes+1)); fault.CodeOf(err) != "payload_too_large" {
		t.Errorf("a large file: %v", err)
	}
}

// TestExportReadsBack: Parse returns every player that an export has, whatever its texts
// are, and no cell begins as a formula.
func TestExportReadsBack(t *testing.T) {
	t.Parallel()
	text := rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune("=+-@'\",;\tabcé नाम")), 1, 12, -1), strings.TrimSpace).
		Filter(func(s string) bool { return s != "" })
	rapid.Check(t, func(t *rapid.T) {
		var want []roster.Entry
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			e := asha
			e.StudentName, e.GuardianName, e.Relationship = text.Draw(t, "student"), text.Draw(t, "guardian"), text.Draw(t, "relationship")
			e.Batches = text.Draw(t, "batches")
			e.StudentLanguage, e.GuardianLanguage = "Hindi", "English"
			if rapid.Bool().Draw(t, "adult") {
				e = roster.Entry{StudentName: e.StudentName, BirthDate: "1990-01-31"}
			}
			want = append(want, e)
		}
		var b bytes.Buffer
		if err := roster.WriteEntries(&b, want...); err != nil {
			t.Fatal(err)
		}
		sheet, err := roster.Parse(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		var got []roster.Entry
		for _, row := range sheet.Rows {
			if len(row.Faults) > 0 {
				t.Fatalf("faults %v", row.Faults)
			}
			got = append(got, row.Entry)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("read back (-want +got):\n%s\nin %s", diff, b.String())
		}
	})
}

// TestExportNeutralisesFormulas: a formula leaves as text.
func TestExportNeutralisesFormulas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+91": "'+91", "-1": "'-1", "@x": "'@x", "'=1": "''=1", "O'Neil": "O'Neil", "'Abd": "'Abd", "a=b": "a=b",
	} {
		var b bytes.Buffer
		if err := roster.WriteEntries(&b, roster.Entry{StudentName: text}); err != nil {
			t.Fatal(err)
		}
		_, row, _ := strings.Cut(b.String(), "\n")
		if got, _, _ := strings.Cut(row, ","); got != want {
			t.Errorf("%s is written as %s, want %s", text, got, want)
		}
	}
}

// FuzzParse: no file makes Parse panic, lose the limit of rows, or return a row without a
// name that has no fault and no birth date.
func FuzzParse(f *testing.F) {
	f.Add([]byte(english + "Asha Rao,2012-04-30,,,,,\n"))
	f.Add([]byte("name\tdob\n\"a\nb\"\t3/4/2012\n"))
	f.Add([]byte(utf16Text("नाम;जन्म तिथि\nआशा;३/४/२०१२\n", true)))
	f.Add([]byte("sep=;\nname;dob\n'=1;2012-04-30;;;\n"))
	f.Add([]byte("name,dob\nZo\xeb,\"30-Apr-2012\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sheet, err := roster.Parse(data)
		if err != nil {
			if fault.KindOf(err) != fault.Invalid {
				t.Fatalf("Parse: %v", err)
			}
			return
		}
		if len(sheet.Rows) == 0 || len(sheet.Rows) > roster.MaxRows {
			t.Fatalf("%d rows", len(sheet.Rows))
		}
		last := 1
		for _, row := range sheet.Rows {
			if row.Number <= last {
				t.Fatalf("row %d follows row %d", row.Number, last)
			}
			last = row.Number
			if row.Entry.BirthDate == "" && len(row.Faults) == 0 {
				t.Fatalf("row %d has neither a birth date nor a fault", row.Number)
			}
		}
	})
}
