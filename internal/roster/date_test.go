package roster_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/roster"
)

// TestParseDates: which texts are which date, and what refuses one. Today is 2 March 2026.
func TestParseDates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2012-4-3": "2012-04-03", "2012/04/03": "2012-04-03", "2012.04.03": "2012-04-03", "20120403": "2012-04-03", "2012-Apr-03": "2012-04-03",
		"5 5 2012": "2012-05-05", "30/4/2012": "2012-04-30", "30. 4. 2012": "2012-04-30", "30.04.2012": "2012-04-30", "30042012": "2012-04-30",
		"30\u201304\u20132012": "2012-04-30", "30\u204404\u20442012": "2012-04-30", "\u200e30/\u200e04/\u200e2012": "2012-04-30",
		"3 April 2012": "2012-04-03", "03-Apr-2012": "2012-04-03", "April 3, 2012": "2012-04-03", "3 sept 2012": "2012-09-03", "3\u00a0April\u00a02012": "2012-04-03",
		"30th April 2014": "2014-04-30", "April 30th, 2014": "2014-04-30", "1st of May 2014": "2014-05-01", "2nd May, 2014": "2014-05-02", "3rd May 2014": "2014-05-03",
		"Wednesday, April 30, 2014": "2014-04-30", "Wed 30 Apr 2014": "2014-04-30", "Wednesday, 30 April, 2014": "2014-04-30",
		"३०/०४/२०१४": "2014-04-30", "30 अप्रैल 2014": "2014-04-30", "३० मई २०१४": "2014-05-30", "12 फ़रवरी 2014": "2014-02-12", "12 फरवरी 2014": "2014-02-12", "٣٠/٠٤/٢٠١٤": "2014-04-30",
		// Excel, LibreOffice and Google with a month first.
		"04/30/2012": "2012-04-30", "4/30/2012": "2012-04-30", "4/30/2012 0:00": "2012-04-30", "4/30/2014 12:00:00 AM": "2014-04-30", "4/30/14": "2014-04-30",
		// A time of midnight is none.
		"2012-04-03T00:00:00Z": "2012-04-03", "2012-04-03T00:00:00.000+05:30": "2012-04-03", "30-04-2014 12:00:00 AM": "2014-04-30", "30/04/2014 00:00": "2014-04-30",
		"2012-04-03 17:30": "date_with_time", "2014-04-29T18:30:00.000Z": "date_with_time", "30/04/2014 12:00 PM": "date_with_time",
		// A year of two digits is past.
		"30/4/14": "2014-04-30", "30-Apr-14": "2014-04-30", "30.04.98": "1998-04-30", "Apr 30, 14": "2014-04-30", "30 Apr '14": "2014-04-30", "1/1/26": "2026-01-01",
		"31-Dec-62": "1962-12-31", "98/04/30": "1998-04-30", "5-May-50": "1950-05-05",
		"14/04/30": "two_digit_year", "14-Apr-30": "two_digit_year", "30-Dec-26": "two_digit_year", // 1926 or 1930 makes a child an adult
		"29/02/2012": "2012-02-29", "29/02/2011": "invalid_date", "2012-13-01": "invalid_date", "31/04/2012": "invalid_date", "0000-01-01": "invalid_date", "31/02/12": "invalid_date",
		"13/13/2012": "invalid_date", "3 Ma 2012": "invalid_date", "soon": "invalid_date", "3 Foo 2012": "invalid_date", "4302014": "invalid_date", "30/04/2014 (?)": "invalid_date",
		"'30/04/2014": "2014-04-30", "’2014-04-30": "2014-04-30", `"=""30/04/2014"""`: "2014-04-30", // cells that a program keeps as texts
		"41029": "serial_date", "41759.0": "serial_date", "": "required",
		"3/4/2012": "ambiguous_date", "03-04-2012": "ambiguous_date", "3.4.12": "ambiguous_date", "12/01/2008": "ambiguous_date",
	} {
		sheet, err := roster.Parse([]byte("name\tdob\nAsha\t" + text + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		row := sheet.Rows[0]
		if got := row.Entry.BirthDate; len(row.Faults) == 0 && got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
		if len(row.Faults) > 0 && row.Faults[0].Code != want {
			t.Errorf("%q: %v, want %s", text, row.Faults, want)
		}
	}
}

// TestDateOrder: the order of the dates follows the whole column. One certain date decides; what stays open is a fault
// of each row, unless the caller says the order.
func TestDateOrder(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		title string
		dates string
		order roster.DateOrder // of the caller
		want  string
		read  roster.DateOrder
		warns string
	}{
		"open":                           {"dob", "12/01/2008 2012-05-06 5/5/2012", "", "ambiguous_date 2012-05-06 2012-05-05", roster.OpenOrder, ""},
		"a certain day":                  {"dob", "12/01/2008 30/04/2012", "", "2008-01-12 2012-04-30", roster.DayFirst, "day_first"},
		"a certain month":                {"dob", "12/01/2008 3/14/2015", "", "2008-12-01 2015-03-14", roster.MonthFirst, "month_first"},
		"the certain date is the last":   {"dob", strings.Repeat("01/02/2010 ", 30) + "04/30/2012", "", strings.Repeat("2010-01-02 ", 30) + "2012-04-30", roster.MonthFirst, "month_first"},
		"both":                           {"dob", "12/01/2008 30/04/2012 04/30/2012", "", "ambiguous_date 2012-04-30 2012-04-30", roster.OpenOrder, ""},
		"said: day":                      {"dob", "12/01/2008 2012-05-06", roster.DayFirst, "2008-01-12 2012-05-06", roster.DayFirst, ""},
		"said: month":                    {"dob", "12/01/2008 01/12/08", roster.MonthFirst, "2008-12-01 2008-01-12", roster.MonthFirst, ""},
		"said: month, another date":      {"dob", "12/01/2008 30/04/2012", roster.MonthFirst, "2008-12-01 day_first", roster.MonthFirst, ""},
		"said: day, another date":        {"dob", "12/01/2008 04/30/2012", roster.DayFirst, "2008-01-12 month_first", roster.DayFirst, ""},
		"the title says it":              {"Date of birth (MM/DD/YYYY)", "12/01/2008", "", "2008-12-01", roster.MonthFirst, "month_first"},
		"the title says day":             {"DOB [dd-mm-yyyy]", "12/01/2008", "", "2008-01-12", roster.DayFirst, "day_first"},
		"no brackets":                    {"DOB MM/DD/YYYY", "12/01/2008", "", "2008-12-01", roster.MonthFirst, "month_first"},
		"no brackets, day":               {"DOB DD-MM-YYYY", "12/01/2008", "", "2008-01-12", roster.DayFirst, "day_first"},
		"after a dash":                   {"Date of birth - mm/dd/yyyy", "12/01/2008", "", "2008-12-01", roster.MonthFirst, "month_first"},
		"no brackets, short":             {"Birthday: d.m.yy", "12/01/2008", "", "2008-01-12", roster.DayFirst, "day_first"},
		"no brackets, year":              {"DOB YYYY-MM-DD", "12/01/2008", "", "ambiguous_date", roster.OpenOrder, ""},
		"a certain date counts more":     {"DOB (dd/mm/yyyy)", "12/01/2008 04/30/2012", "", "2008-12-01 2012-04-30", roster.MonthFirst, "month_first"},
		"the year first in the title":    {"DOB (yyyy-mm-dd)", "12/01/2008", "", "ambiguous_date", roster.OpenOrder, ""},
		"only clear dates":               {"dob", "2012-05-06 5/5/2012", "", "2012-05-06 2012-05-05", "", ""},
		"short years, month first":       {"dob", "12/1/08 4/30/14 30-Apr-98", "", "2008-12-01 2014-04-30 1998-04-30", roster.MonthFirst, "month_first"},
		"short years, the year may lead": {"dob", "14/04/12 13/11/29", "", "two_digit_year two_digit_year", roster.DayFirst, ""},
		"short years, the year leads":    {"dob", "98/04/30 05/05/12", "", "1998-04-30 two_digit_year", "", ""},
		"a date that does not exist":     {"dob", "12/01/2008 31/02/2012", "", "ambiguous_date invalid_date", roster.OpenOrder, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := "name\t" + tt.title + "\n"
			for _, date := range strings.Fields(tt.dates) {
				file += "Asha\t" + date + "\n"
			}
			sheet, err := roster.ParseWith([]byte(file), roster.Options{DateOrder: tt.order})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, row := range sheet.Rows {
				if len(row.Faults) > 0 {
					got = append(got, row.Faults[0].Code)
				} else {
					got = append(got, row.Entry.BirthDate)
				}
			}
			warns := ""
			for _, w := range sheet.Warnings {
				warns += w.Code
			}
			if strings.Join(got, " ") != strings.TrimSpace(tt.want) || sheet.Layout.DateOrder != tt.read || warns != tt.warns {
				t.Errorf("got %v in order %q with warnings %q, want %v, %q, %q", got, sheet.Layout.DateOrder, warns, tt.want, tt.read, tt.warns)
			}
		})
	}
}

// TestDateOrderOfShiftedRows: a row whose cells may be in wrong columns decides nothing.
func TestDateOrderOfShiftedRows(t *testing.T) {
	t.Parallel()
	sheet, err := roster.Parse([]byte("name,dob,note\nAsha,12/01/2008,\nBela,04/30/2012,a,b\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f := fmt.Sprint(sheet.Rows[0].Faults); !strings.Contains(f, "ambiguous_date") {
		t.Errorf("got %v", sheet.Rows)
	}
}
