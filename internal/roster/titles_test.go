package roster_test

import (
	stdcmp "cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/roster"
)

// readOne parses a file of one row without faults, and returns its entry and the codes of the warnings.
func readOne(t *testing.T, file string, o roster.Options) (roster.Entry, []string) {
	t.Helper()
	sheet, err := roster.ParseWith([]byte(file), o)
	if err != nil {
		t.Fatalf("%v\nin %s", err, file)
	}
	if len(sheet.Rows) != 1 || len(sheet.Rows[0].Faults) > 0 {
		t.Fatalf("got %+v\nin %s", sheet.Rows, file)
	}
	var codes []string
	for _, w := range sheet.Warnings {
		codes = append(codes, w.Code)
	}
	return sheet.Rows[0].Entry, codes
}

// TestColumnsOfOtherSystems: the titles of other systems are read: of clubs, health services and schools.
func TestColumnsOfOtherSystems(t *testing.T) {
	t.Parallel()
	entry := func(change func(*roster.Entry)) roster.Entry {
		e := roster.Entry{StudentName: "Asha Rao", BirthDate: "2014-04-30", GuardianName: "Ravi Rao", Relationship: "guardian", GuardianNumber: "9812345680"}
		change(&e)
		return e
	}
	for name, tt := range map[string]struct {
		titles, row string
		want        roster.Entry
		warnings    string
	}{
		"TeamSnap": {
			"First Name,Last Name,Birthdate,Gender,Contact 1 First Name,Contact 1 Last Name,Contact 1 Email,Contact 1 Phone", "Asha,Rao,4/30/2014,F,Ravi,Rao,ravi@example.org,9812345680",
			entry(func(e *roster.Entry) { e.GuardianEmail = "ravi@example.org" }), "unknown_columns guardian_guessed",
		},
		"short": {"First,Last,DOB,P1 First Name,P1 Last Name,P1 Mobile", "Asha,Rao,2014-04-30,Ravi,Rao,9812345680", entry(func(e *roster.Entry) { e.Relationship = "parent" }), ""},
		"Spond": {
			"First name,Last name,Date of birth,Email,Phone,Guardian 1 First name,Guardian 1 Last name,Guardian 1 Email,Guardian 1 Phone,Guardian 2 First name,Guardian 2 Last name,Guardian 2 Email,Guardian 2 Phone",
			"Asha,Rao,30.04.2014,asha@example.org,9812345699,Ravi,Rao,ravi@example.org,9812345680,Meera,Rao,meera@example.org,9812345681",
			entry(func(e *roster.Entry) {
				e.GuardianEmail = "ravi@example.org"
				e.Guardian2Name, e.Guardian2Relationship, e.Guardian2Number, e.Guardian2Email = "Meera Rao", "guardian", "9812345681", "meera@example.org"
			}), "unknown_columns",
		},
		"NHS": {
			"CHILD_FIRST_NAME,CHILD_LAST_NAME,CHILD_DATE_OF_BIRTH,CHILD_POSTCODE,PARENT_1_NAME,PARENT_1_RELATIONSHIP,PARENT_1_EMAIL,PARENT_1_PHONE,PARENT_2_NAME,PARENT_2_RELATIONSHIP,PARENT_2_EMAIL,PARENT_2_PHONE",
			"Asha,Rao,2014-04-30,SW1A,Ravi Rao,Dad,ravi@example.org,9812345680,,,,",
			entry(func(e *roster.Entry) { e.GuardianEmail, e.Relationship = "ravi@example.org", "Dad" }), "unknown_columns",
		},
		"school 1": {
			"Admission No,Student Name,Father's Name,Mother's Name,DOB,Contact Number,Address", "7,Asha Rao,Ravi Rao,Meera Rao,30/04/2014,9812345680,Pune",
			entry(func(e *roster.Entry) { e.Relationship, e.OtherGuardians = "father", 1 }), "unknown_columns guardian_guessed guardians_not_imported",
		},
		"school 2": {
			"Student Name,Father Name,Mother Name,Date of Birth,Class,Phone Number", "Asha Rao,,Meera Rao,30/04/2014,5,9812345680",
			entry(func(e *roster.Entry) { e.GuardianName, e.Relationship = "Meera Rao", "mother" }), "unknown_columns guardian_guessed",
		},
		"school 3":        {"SR No,Roll No,Student Name,Father Name,Gender,DOB,Phone", "1,2,Asha Rao,Ravi Rao,F,30/04/2014,9812345680", entry(func(e *roster.Entry) { e.Relationship = "father" }), "unknown_columns guardian_guessed"},
		"father's mobile": {"student name,father name,mother name,dob,father mobile", "Asha Rao,Ravi Rao,,2014-04-30,9812345680", entry(func(e *roster.Entry) { e.Relationship = "father" }), ""},
		"the mother has a number": {"student name,father name,mother name,dob,mother mobile", "Asha Rao,Ravi Rao,Meera Rao,2014-04-30,9812345680", entry(func(e *roster.Entry) {
			e.GuardianName, e.Relationship, e.OtherGuardians = "Meera Rao", "mother", 1
		}), "guardians_not_imported"},
		"Parent 1":                {"Name,Date of Birth,Parent 1 Name,Parent 1 Relationship,Parent 1 Mobile", "Asha Rao,2014-04-30,Ravi Rao,uncle,9812345680", entry(func(e *roster.Entry) { e.Relationship = "uncle" }), ""},
		"emergency":               {"Full Name,DOB,Emergency Contact Name,Emergency Contact Relationship,Emergency Contact Phone", "Asha Rao,2014-04-30,Ravi Rao,father,9812345680", entry(func(e *roster.Entry) { e.Relationship = "father" }), "guardian_guessed"},
		"Parent/Guardian":         {"Student Name,DOB,Parent/Guardian Name,Relation to Child,Parent/Guardian Phone Number", "Asha Rao,2014-04-30,Ravi Rao,grandfather,9812345680", entry(func(e *roster.Entry) { e.Relationship = "grandfather" }), ""},
		"number after":            {"Child's date of birth,Child's name,Guardian Name 1,Guardian Phone 1,Guardian Name 2", "2014-04-30,Asha Rao,Ravi Rao,9812345680,", entry(func(*roster.Entry) {}), ""},
		"in brackets":             {"Name (child),D.O.B.,Name (Father),Mobile No. (Father)", "Asha Rao,2014-04-30,Ravi Rao,9812345680", entry(func(e *roster.Entry) { e.Relationship = "father" }), ""},
		"father or guardian":      {"Student name,DOB DD-MM-YYYY,Name of Father/Guardian,Mobile of Father/Guardian", "Asha Rao,30/04/2014,Ravi Rao,9812345680", entry(func(*roster.Entry) {}), ""},
		"primary contact":         {"Student name,DOB,Primary Contact Name,Primary Contact Number", "Asha Rao,30/04/2014,Ravi Rao,9812345680", entry(func(*roster.Entry) {}), "guardian_guessed"},
		"of":                      {"Name of the student,Date of birth,Name of father,Mobile number of father", "Asha Rao,2014-04-30,Ravi Rao,9812345680", entry(func(e *roster.Entry) { e.Relationship = "father" }), ""},
		"parent's mobile":         {"Student name,DOB,Father's name,Mother's name,Parent mobile", "Asha Rao,2014-04-30,Ravi Rao,,9812345680", entry(func(e *roster.Entry) { e.Relationship = "father" }), ""},
		"Hindi":                   {"छात्र का नाम,जन्म तिथि,पिता का नाम,माता का नाम,पिता का मोबाइल नंबर", "Asha Rao,2014-04-30,Ravi Rao,,9812345680", entry(func(e *roster.Entry) { e.Relationship = "पिता" }), ""},
		"middle name":             {"First name,Middle name,Surname,DOB,Guardian,Guardian mobile", "Asha,Ravi,Rao,2014-04-30,Ravi Rao,9812345680", entry(func(e *roster.Entry) { e.StudentName = "Asha Ravi Rao" }), ""},
		"family name":             {"Name,First name,DOB,Guardian,Guardian mobile", "Rao,Asha,2014-04-30,Ravi Rao,9812345680", entry(func(*roster.Entry) {}), ""},
		"name and surname":        {"Name,Surname,DOB,Guardian,Guardian mobile", "Asha,Rao,2014-04-30,Ravi Rao,9812345680", entry(func(*roster.Entry) {}), ""},
		"full name too":           {"First name,Last name,Name,DOB,Guardian,Guardian mobile", "Asha,Rao,Asha R,2014-04-30,Ravi Rao,9812345680", entry(func(*roster.Entry) {}), ""},
		"guardian without a name": {"First Name,Last Name,Birthdate,Parent Phone", "Asha,Rao,2014-04-30,9812345680", entry(func(e *roster.Entry) { e.GuardianName, e.Relationship = "", "parent" }), ""},
		"emergency beside a father": {
			"Name,DOB,Father,Father phone,Emergency contact name,Emergency contact phone", "Asha Rao,2014-04-30,Ravi Rao,9812345680,Kiran,9812345690",
			entry(func(e *roster.Entry) { e.Relationship = "father" }), "unknown_columns",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, warnings := readOne(t, tt.titles+"\n"+tt.row+"\n", roster.Options{})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("entry (-want +got):\n%s", diff)
			}
			if strings.Join(warnings, " ") != tt.warnings {
				t.Errorf("warnings %v, want %s", warnings, tt.warnings)
			}
		})
	}
}

// TestTitlesOfFurtherSystems: each list names its student, the guardian with a number, and nothing else by mistake.
func TestTitlesOfFurtherSystems(t *testing.T) {
	t.Parallel()
	cells := map[roster.Column]string{
		"student_name": "Asha Rao", "student_first_name": "Asha", "student_last_name": "Rao", "date_of_birth": "30/04/2014", "guardian_name": "Ravi Rao",
		"guardian_first_name": "Ravi", "guardian_last_name": "Rao", "relationship": "father", "guardian_number": "9812345680", "guardian_email": "ravi@example.org",
	}
	for titles, columns := range map[string]string{
		"Athlete First Name|Athlete Last Name|DOB (DD/MM/YYYY)|Primary Guardian Name|Primary Guardian Cell|Primary Guardian Email|Secondary Guardian Name|Secondary Guardian Cell": "student_first_name student_last_name date_of_birth guardian_name guardian_number guardian_email guardian_2_name guardian_2_number",
		"Player Name|Birth Date|Jersey|Parent Name|Parent Email|Parent Cell Phone":                                                                                                 "student_name date_of_birth - guardian_name guardian_email guardian_number",
		"Forename|Surname|Date of Birth|Parent/Carer Name|Parent/Carer Mobile|Emergency Contact Number":                                                                            "student_first_name student_last_name date_of_birth guardian_name guardian_number -",
		"Surname|First Name|DOB|Mum Name|Mum Mobile|Dad Name|Dad Mobile":                                                                                                           "student_last_name student_first_name date_of_birth guardian_name guardian_number guardian_2_name guardian_2_number",
		"Student Full Name|Gender|DOB(DD/MM/YYYY)|Father's Full Name|Father's Mobile No.|Mother's Full Name|Mother's Mobile No.":                                                   "student_name - date_of_birth guardian_name guardian_number guardian_2_name guardian_2_number",
		"Name of Child|Date of Birth (dd/mm/yy)|Name of Parent/Guardian|Mobile No. of Parent/Guardian":                                                                             "student_name date_of_birth guardian_name guardian_number",
		"Child Full Name|Child DOB|Parent's Full Name|Parent's Contact No|Blood group":                                                                                             "student_name date_of_birth guardian_name guardian_number -",
		"LastName|FirstName|BirthDate|ParentFirstName|ParentLastName|ParentPhone":                                                                                                  "student_last_name student_first_name date_of_birth guardian_first_name guardian_last_name guardian_number",
		"विद्यार्थी का नाम|पिता का नाम|माता का नाम|जन्म तिथि|मोबाइल नंबर":                                                                                                          "student_name guardian_name guardian_2_name date_of_birth guardian_number",
		"participant_name|participant_dob|guardian1_name|guardian1_phone|guardian1_relationship|guardian2_name":                                                                    "student_name date_of_birth guardian_name guardian_number relationship guardian_2_name",
		"S.No.|Name of the Player|D.O.B.|Father's Name|Mobile No.|Aadhaar No.|School|Remarks":                                                                                      "- student_name date_of_birth guardian_name guardian_number - - -",
	} {
		var row []string
		for _, c := range strings.Fields(columns) {
			row = append(row, cells[roster.Column(c)])
		}
		sheet, err := roster.Parse([]byte(strings.ReplaceAll(titles, "|", "\t") + "\n" + strings.Join(row, "\t") + "\n"))
		if err != nil {
			t.Errorf("%s: %v", titles, err)
			continue
		}
		var got []string
		for _, c := range sheet.Layout.Columns {
			got = append(got, stdcmp.Or(string(c.Column), "-"))
		}
		if strings.Join(got, " ") != columns {
			t.Errorf("%s:\ngot  %s\nwant %s", titles, strings.Join(got, " "), columns)
		}
		if e := sheet.Rows[0].Entry; len(sheet.Rows[0].Faults) > 0 || e.StudentName != "Asha Rao" || e.GuardianName != "Ravi Rao" || e.GuardianNumber != "9812345680" || e.Relationship == "" {
			t.Errorf("%s: %+v", titles, sheet.Rows[0])
		}
	}
}

// TestNoGuardianIsGuessed: a number whose title names no person is a question, and a relationship cell that is empty
// stays empty.
func TestNoGuardianIsGuessed(t *testing.T) {
	t.Parallel()
	for _, titles := range []string{"name,dob,phone", "name,dob,father name,phone,whatsapp", "name,dob,student mobile,phone"} {
		_, err := roster.Parse([]byte(titles + "\nAsha,2014-04-30,,,\n"))
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Fields[0].Code != "unclear_column" {
			t.Errorf("%s: %v, want unclear_column", titles, err)
		}
	}
	if e, _ := readOne(t, "name,dob,guardian,relationship,guardian mobile\nAsha,2014-04-30,Ravi,,9812345680\n", roster.Options{}); e.Relationship != "" {
		t.Errorf("relationship %q", e.Relationship)
	}
	if e, _ := readOne(t, "name,dob,father,father mobile\nAsha,1990-04-30,,\n", roster.Options{}); e.HasGuardian() {
		t.Errorf("a guardian of nothing: %+v", e)
	}
}

// TestChosenColumns: the caller says what the columns are, in their order.
func TestChosenColumns(t *testing.T) {
	t.Parallel()
	e, warnings := readOne(t, "Spieler,Geburt,Handy,Vater,Mutter,Notiz\nAsha Rao,2014-04-30,9812345680,Ravi Rao,Meera Rao,x\n", roster.Options{
		Columns: []roster.Column{"student_name", "date_of_birth", "guardian_number", "guardian_name", "guardian_2_name", "ignored"},
	})
	want := roster.Entry{StudentName: "Asha Rao", BirthDate: "2014-04-30", GuardianName: "Ravi Rao", GuardianNumber: "9812345680", OtherGuardians: 1}
	if diff := cmp.Diff(want, e); diff != "" || !slices.Equal(warnings, []string{"guardians_not_imported"}) {
		t.Errorf("warnings %v, entry (-want +got):\n%s", warnings, diff)
	}
	// A column that is not named is read by its title; the title of a father says who the guardian is.
	e, _ = readOne(t, "Name,DOB,Father's name,Phone,WhatsApp\nAsha Rao,2014-04-30,Ravi Rao,9812345680,1\n", roster.Options{Columns: []roster.Column{"", "", "guardian_name", "guardian_number", "ignored"}})
	if e.Relationship != "father" || e.GuardianNumber != "9812345680" || e.StudentName != "Asha Rao" {
		t.Errorf("got %+v", e)
	}
	sheet, err := roster.Parse([]byte("Name,DOB,Father,Mother,Phone,Shoe size\nAsha,2014-04-30,Ravi,Meera,9812345680,3\n"))
	if err != nil {
		t.Fatal(err)
	}
	read := []roster.ReadColumn{
		{Title: "Name", Column: "student_name"},
		{Title: "DOB", Column: "date_of_birth"},
		{Title: "Father", Column: "guardian_name"},
		{Title: "Mother", Column: "guardian_2_name"},
		{Title: "Phone", Column: "guardian_number", Guessed: true},
		{Title: "Shoe size"},
	}
	if diff := cmp.Diff(read, sheet.Layout.Columns); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

// TestTitleRows: lines above the titles, and lines that name the separator as other programs save them.
func TestTitleRows(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file string
		row  int
	}{
		"a title":             {"ABC Hockey Academy - U12 2026,,,,\nname,dob,guardian,guardian mobile,note\nAsha Rao,2014-04-30,Ravi Rao,9812345680,\n", 3},
		"Numbers":             {"Table 1\n\nname,dob,guardian,guardian mobile\nAsha Rao,2014-04-30,Ravi Rao,9812345680\n", 4},
		"a merged header":     {"Student,,Guardian,\nFirst name,DOB,Guardian name,Guardian mobile\nAsha Rao,2014-04-30,Ravi Rao,9812345680\n", 3},
		"only commas":         {",,,\nname,dob,guardian,guardian mobile\nAsha Rao,2014-04-30,Ravi Rao,9812345680\n", 3},
		"a line break above":  {"\"U12\nevening\",,,\nname,dob,guardian,guardian mobile\nAsha Rao,2014-04-30,Ravi Rao,9812345680\n", 3},
		"a title, semicolons": {"Liste; alle, auch neue\nname;dob;guardian;guardian mobile\nAsha Rao;2014-04-30;Ravi Rao;9812345680\n", 3},
		"sep with commas":     {"sep=;,,,\nname,dob,guardian,guardian mobile\nAsha Rao,2014-04-30,Ravi Rao,9812345680\n", 2},
		"sep with semicolons": {"sep=;;;;\nname;dob;guardian;guardian mobile\nAsha Rao;2014-04-30;Ravi Rao;9812345680\n", 2},
		"sep in quotes":       {"\"sep=;\"\nname;dob;guardian;guardian mobile\nAsha Rao;2014-04-30;Ravi Rao;9812345680\n", 2},
		"sep is a pipe":       {"sep=|\nname|dob|guardian|guardian mobile\nAsha Rao|2014-04-30|Ravi Rao|9812345680\n", 2},
		"SEP":                 {"SEP=;\nname;dob;guardian;guardian mobile\nAsha Rao;2014-04-30;Ravi Rao;9812345680\n", 2},
		"a wrong sep":         {"sep=,\nname;dob;guardian;guardian mobile\nAsha Rao;2014-04-30;Ravi Rao;9812345680\n", 2},
	} {
		sheet, err := roster.Parse([]byte(tt.file))
		if err != nil || len(sheet.Rows) != 1 || len(sheet.Rows[0].Faults) > 0 || sheet.Rows[0].Number != tt.row || sheet.Rows[0].Entry.GuardianNumber != "9812345680" {
			t.Errorf("%s: %+v, %v", name, sheet.Rows, err)
		}
	}
}

// TestExtraCells: a row with more cells than titles is a fault, also if the last ones are empty, unless each row has
// such cells: its cells may have moved.
func TestExtraCells(t *testing.T) {
	t.Parallel()
	const titles = "Student name,Date of birth,Guardian number,Address,Relationship,Guardian name,Notes\n"
	for name, row := range map[string]string{
		"a comma in the address": "Asha Rao,2014-04-30,+919812345680,12 MG Road, Pune,father,Ravi Rao,",
		"one empty cell":         "Asha Rao,2014-04-30,+919812345680,12 MG Road,father,Ravi Rao,,",
		"one more":               "Asha Rao,2014-04-30,+919812345680,12 MG Road,father,Ravi Rao,a,b",
	} {
		sheet, err := roster.Parse([]byte(titles + row + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		t.Log(name)
		wantFault(t, sheet.Rows[0], 2, "", "extra_cells")
	}
	// A separator after each row is no fault if moved cells would be found: a number is in the last column that is read.
	const numberLast = "Student name,Date of birth,Guardian name,Relationship,Guardian number,Notes\n"
	const asha, bela = "Asha Rao,12/01/2014,Ravi Rao,father,+919812345680,", "Bela Rao,30/04/2014,Ravi Rao,father,+919812345680,x"
	for name, tt := range map[string]struct {
		file   string
		faulty int
	}{
		"after each row":   {numberLast + asha + ",\n" + bela + ",\n", 0},
		"two of them":      {numberLast + asha + ",,\n" + bela + ",\n", 0},
		"not in each row":  {numberLast + asha + ",\n" + bela + "\n", 1},
		"one cell has one": {numberLast + asha + ",\n" + bela + ",,x\n", 2},
		"a name is last":   {titles + "Asha Rao,2014-04-30,+919812345680,12 MG Road, Pune,father,Ravi Rao,\nBela Rao,2014-04-30,+919812345680,1 MG Road, Pune,father,Ravi Rao,\n", 2},
	} {
		sheet, err := roster.Parse([]byte(tt.file))
		if err != nil {
			t.Fatal(err)
		}
		faulty := 0
		for _, row := range sheet.Rows {
			faulty += len(row.Faults)
		}
		if len(sheet.Rows) != 2 || faulty != tt.faulty {
			t.Errorf("%s: %+v, want %d faults", name, sheet.Rows, tt.faulty)
		}
	}
}
