package consent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/consent"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/team"
)

// inputs reads bodies on 2026-03-06 with the default region India.
var inputs = consent.NewInputs("IN", testNow)

// faultsOf returns the faults of err as "pointer code".
func faultsOf(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Code != "validation_failed" {
		t.Fatalf("got %v, want validation_failed", err)
	}
	var got []string
	for _, f := range e.Fields {
		if f.Detail == "" {
			t.Errorf("%s: no detail", f.Pointer)
		}
		got = append(got, f.Pointer+" "+f.Code)
	}
	slices.Sort(got)
	return got
}

// object is a JSON object.
type object map[string]any

func minor() object {
	return object{
		"student":  object{"full_name": "Kabir Mehta", "date_of_birth": "2012-04-30"},
		"guardian": object{"name": "Meera Mehta", "relationship": "mother", "mobile_number": "+919898765432"},
	}
}

// put sets the member at a path such as student.full_name; nil removes it.
func (o object) put(path string, value any) object {
	at := o
	steps := strings.Split(path, ".")
	for _, step := range steps[:len(steps)-1] {
		at = at[step].(object)
	}
	if last := steps[len(steps)-1]; value == nil {
		delete(at, last)
	} else {
		at[last] = value
	}
	return o
}

func (o object) body(t testing.TB) []byte {
	t.Helper()
	body, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// null is JSON null, because put removes a member for nil.
var null = json.RawMessage("null")

func TestAddPlayerFaults(t *testing.T) {
	tests := map[string]struct {
		body object
		want []string
	}{
		"good":                               {minor(), nil},
		"optional as null":                   {minor().put("student.contact_number", null).put("student.medical_information", null).put("guardian.email", null), nil},
		"adult alone":                        {minor().put("guardian", nil).put("student.date_of_birth", "2008-03-06"), nil},
		"adult tomorrow, without a guardian": {minor().put("guardian", nil).put("student.date_of_birth", "2008-03-07"), []string{"/guardian required"}},
		"no guardian":                        {minor().put("guardian", nil), []string{"/guardian required"}},
		"guardian null":                      {minor().put("guardian", null), []string{"/guardian required"}},
		"empty body":                         {object{}, []string{"/student required"}},
		"empty objects": {object{"student": object{}, "guardian": object{}}, []string{
			"/guardian/mobile_number required", "/guardian/name required", "/guardian/relationship required", "/student/date_of_birth required", "/student/full_name required",
		}},
		"wrong types": {object{"student": []int{1}, "guardian": "Meera"}, []string{"/guardian invalid_type", "/student invalid_type"}},
		"wrong types inside": {minor().put("student.full_name", 7).put("student.date_of_birth", true).put("guardian.mobile_number", 919898765432).put("guardian.email", []string{}), []string{
			"/guardian/email invalid_type", "/guardian/mobile_number invalid_type", "/student/date_of_birth invalid_type", "/student/full_name invalid_type",
		}},
		"unknown fields": {minor().put("coach_id", coachID).put("student.age", 13).put("guardian.a~b/c", 1), []string{
			"/coach_id unknown_field", "/guardian/a~0b~1c unknown_field", "/student/age unknown_field",
		}},
		"everything at once, the guardian too": {
			object{"student": object{"full_name": "", "date_of_birth": "2012-04-30", "contact_number": "12", "medical_information": strings.Repeat("x", 4001)}, "x": 1},
			[]string{"/guardian required", "/student/contact_number invalid_number", "/student/full_name too_short", "/student/medical_information too_long", "/x unknown_field"},
		},
		"guardian's faults": {
			minor().put("guardian.name", strings.Repeat("ñ", 101)).put("guardian.relationship", strings.Repeat("r", 51)).put("guardian.email", "meera@example").put("guardian.mobile_number", "+911140000000"),
			[]string{"/guardian/email invalid_email", "/guardian/mobile_number invalid_number", "/guardian/name too_long", "/guardian/relationship too_long"},
		},
		"at the bounds": {
			minor().put("guardian.name", strings.Repeat("ñ", 100)).put("guardian.relationship", strings.Repeat("r", 50)).put("student.medical_information", strings.Repeat("x\n", 1999)+"é."), nil,
		},
		"empty number": {minor().put("guardian.mobile_number", "").put("student.contact_number", " "), []string{"/guardian/mobile_number too_short", "/student/contact_number too_short"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := inputs.AddPlayer(tt.body.body(t))
			if diff := cmp.Diff(tt.want, faultsOf(t, err)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHostileNames(t *testing.T) {
	tests := map[string]struct{ name, want string }{ // want "" means a fault
		"script":               {"<script>alert(1)</script>", "<script>alert(1)</script>"},
		"quotes and SQL":       {`Robert'); DROP TABLE players;--"`, `Robert'); DROP TABLE players;--"`},
		"space around":         {" \t Kabir \u00a0\n", "Kabir"},
		"decomposed":           {"Jose\u0301", "José"},
		"Tamil":                {"விஸ்வநாதன்", "விஸ்வநாதன்"},
		"Persian with joiner":  {"علی\u200cرضا", "علی\u200cرضا"},
		"Arabic right to left": {"محمد\u200f علي", "محمد علي"},
		"initials":             {"A.P.J. Abdul", "A.P.J. Abdul"},
		"newline":              {"Kabir\nMehta", ""},
		"carriage return":      {"Kabir\r\nX-Injected: 1", ""},
		"NUL":                  {"Kabir\x00", ""},
		"escape":               {"\x1b[31mKabir", ""},
		"C1 control":           {"Kabir\u0085Mehta", ""},
		"line separator":       {"Kabir\u2028Mehta", ""},
		"override":             {"Kabir \u202etixe", ""},
		"isolate":              {"Kabir \u2067x\u2069", "Kabir x"},
		"zero-width spaces":    {"\ufeffKa\u200bbir\u2060", "Kabir"},
		"fillers":              {"\u3164Kabir\u3164", "Kabir"},
		"only marks":           {"\u200f\u200e", ""},
		"only spaces":          {" \u2003 ", ""},
		"only an emoji":        {"🏑", "🏑"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			student, _, err := inputs.AddPlayer(minor().put("student.full_name", tt.name).body(t))
			if tt.want == "" {
				if got := faultsOf(t, err); len(got) != 1 || !strings.HasPrefix(got[0], "/student/full_name ") {
					t.Fatalf("faults %q", got)
				}
				return
			}
			if err != nil || student.FullName != tt.want {
				t.Fatalf("%q, %v; want %q", student.FullName, err, tt.want)
			}
		})
	}
}

func TestBirthDates(t *testing.T) {
	good := []string{"2026-03-06", "2012-02-29", "1906-03-06", "1905-03-07", "2000-02-29"}
	bad := []string{
		"2026-03-07", "1905-03-06", "0000-01-01", "0001-01-01", "9999-12-31", "2013-02-29", "1900-02-29", "2012-13-01", "2012-00-10", "2012-04-31", "2012-04-00",
		"12-04-30", "2012-4-30", "30-04-2012", "2012/04/30", "2012-04-30T00:00:00Z", "20120430", "+2012-04-30", "-2012-04-30", "２０１２-04-30", "tomorrow", "",
	}
	for _, date := range good {
		student, _, err := inputs.AddPlayer(minor().put("student.date_of_birth", date).body(t))
		if err != nil || student.DateOfBirth.String() != date {
			t.Errorf("%s: %v, %v", date, student.DateOfBirth, err)
		}
	}
	for _, date := range bad {
		_, _, err := inputs.AddPlayer(minor().put("student.date_of_birth", date).put("guardian", nil).body(t))
		if got := faultsOf(t, err); !slices.Equal(got, []string{"/student/date_of_birth invalid_date"}) {
			t.Errorf("%q: got %q, want only the date: without an age no guardian is required", date, got)
		}
	}
}

func TestNumbersInManySpellings(t *testing.T) {
	for _, typed := range []string{
		"+919898765432", "+91 98987 65432", "+91-98987-65432", "(+91) 98987 65432", "0091 98987 65432", "9898765432", "09898765432", "98987.65432",
		" +91 98987 65432 ", "tel:+91-98987-65432", "＋９１９８９８７６５４３２", "+९१ ९८९८७ ६५४३२", "\u202a+91 98987 65432\u202c", "+91\u00a098987\u00a065432", "98987\t65432", "+91\t98987\t65432\t", "+91\u200b98987\u206065432",
	} {
		_, guardian, err := inputs.AddPlayer(minor().put("guardian.mobile_number", typed).body(t))
		if err != nil || guardian.Number != "+919898765432" {
			t.Errorf("%q: %+v, %v", typed, guardian, err)
		}
	}
	for _, typed := range []string{
		"12345", "+91 11 4000 0000", "+91989876543", "+9198987654321", "+999123456789", "112", "call me", "+919898765432 ext. 5", "+919898765432;+919898765433", "9e9", "'; --", "+",
	} {
		_, _, err := inputs.AddPlayer(minor().put("guardian.mobile_number", typed).body(t))
		if got := faultsOf(t, err); !slices.Equal(got, []string{"/guardian/mobile_number invalid_number"}) {
			t.Errorf("%q: %q", typed, got)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestPlayerPatch(t *testing.T) {
	birthDate := approval.Date{Year: 2011, Month: 1, Day: 2}
	tests := map[string]struct {
		body   string
		want   approval.Patch
		faults []string
	}{
		"empty body":  {`{}`, approval.Patch{}, nil},
		"one member":  {`{"student":{"full_name":" Kabir "}}`, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Kabir")}}, nil},
		"all student": {`{"student":{"full_name":"K","date_of_birth":"2011-01-02","contact_number":"9876501234","medical_information":"a\r\nb"}}`, approval.Patch{Student: approval.StudentPatch{FullName: ptr("K"), DateOfBirth: &birthDate, Number: ptr(phone.Number("+919876501234")), Medical: ptr("a\nb")}}, nil},
		"null clears": {`{"student":{"contact_number":null,"medical_information":null},"guardian":{"email":null}}`, approval.Patch{Student: approval.StudentPatch{Number: ptr(phone.Number("")), Medical: ptr("")}, Guardian: &approval.GuardianPatch{Email: ptr("")}}, nil},
		"guardian": {`{"guardian":{"name":"M","relationship":"aunt","mobile_number":"+91 98987 65433","email":"m@example.com"}}`, approval.Patch{
			Guardian: &approval.GuardianPatch{Name: ptr("M"), Relationship: ptr("aunt"), Number: ptr(phone.Number("+919898765433")), Email: ptr("m@example.com")},
		}, nil},
		"guardian removed": {`{"guardian":null}`, approval.Patch{RemoveGuardian: true}, nil},
		"required as null": {`{"student":{"full_name":null,"date_of_birth":null},"guardian":{"name":null,"relationship":null,"mobile_number":null}}`, approval.Patch{}, []string{"/guardian/mobile_number invalid_type", "/guardian/name invalid_type", "/guardian/relationship invalid_type", "/student/date_of_birth invalid_type", "/student/full_name invalid_type"}},
		"student as null":  {`{"student":null}`, approval.Patch{}, []string{"/student invalid_type"}},
		"read-only fields": {`{"player_id":"x","guardian_status":"approved","student":{"student_status":"approved"}}`, approval.Patch{}, []string{"/guardian_status unknown_field", "/player_id unknown_field", "/student/student_status unknown_field"}},
		"several":          {`{"student":{"full_name":"","date_of_birth":"2011-02-30","contact_number":"1"},"guardian":{"email":"a@b"}}`, approval.Patch{}, []string{"/guardian/email invalid_email", "/student/contact_number invalid_number", "/student/date_of_birth invalid_date", "/student/full_name too_short"}},
		"not an object":    {`[]`, approval.Patch{}, []string{" invalid_type"}},
		"twice":            {`{"guardian":null,"guardian":null}`, approval.Patch{}, []string{"/guardian duplicate_field"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := inputs.Patch([]byte(tt.body))
			if diff := cmp.Diff(tt.faults, faultsOf(t, err)); diff != "" {
				t.Fatalf("faults (-want +got):\n%s", diff)
			}
			if err == nil {
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("patch (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// FuzzAddPlayer checks that any body gives a player within all limits or faults with
// pointers.
func FuzzAddPlayer(f *testing.F) {
	f.Add(minor().body(f))
	f.Add(minor().put("guardian", nil).put("student.contact_number", "+91 98765 01234").body(f))
	f.Add([]byte(`{"student":{"full_name":"\u202ex","date_of_birth":"2012-02-30","medical_information":"\u0000"},"student":null}`))
	f.Add([]byte("{\"student\":\xff}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		student, guardian, err := inputs.AddPlayer(body)
		if err != nil {
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Kind != fault.Malformed && (e.Kind != fault.Invalid || len(e.Fields) == 0) {
				t.Fatalf("%v", err)
			}
			return
		}
		line := func(what, s string, most int) {
			if s == "" || utf8.RuneCountInString(s) > most || strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s) || s != strings.TrimSpace(s) {
				t.Errorf("%s: %q", what, s)
			}
		}
		number := func(n phone.Number) {
			if n != "" {
				if again, err := (phone.Parser{}).Parse(string(n)); err != nil || again != n {
					t.Errorf("number %q: %v", n, err)
				}
			}
		}
		line("name", student.FullName, approval.MaxName)
		number(student.Number)
		if utf8.RuneCountInString(student.Medical) > 4000 || strings.ContainsRune(student.Medical, 0) {
			t.Errorf("medical: %q", student.Medical)
		}
		if detail := approval.CheckBirthDate(student.DateOfBirth, testNow); detail != "" {
			t.Errorf("birth date %v: %s", student.DateOfBirth, detail)
		}
		if guardian == nil {
			if student.DateOfBirth.AgeOn(testNow) < team.AdultAge {
				t.Error(fmt.Errorf("got a minor without a guardian: %v", student.DateOfBirth))
			}
			return
		}
		line("guardian", guardian.Name, approval.MaxName)
		line("relationship", guardian.Relationship, approval.MaxRelationship)
		if guardian.Number == "" {
			t.Error("got a guardian without a number")
		}
		number(guardian.Number)
	})
}
