package roster

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// meaning is what the title of a column says.
type meaning struct {
	// column is "" for a title that is not known. The columns of all guardians are those of the first one.
	column Column
	// who is the person: ofStudent, ofAny, or a guardian, such as "1" or "father".
	who string
	// relationship is the relationship that the title says, such as "father" in "Father's name".
	relationship string
	// contact: the title says a contact, not a guardian.
	contact bool
}

// The persons of a meaning other than guardians.
const (
	ofStudent = "student"
	// ofAny: a title that does not say whose it is, such as "Relationship".
	ofAny = "any"
)

// The meanings of a title that is no Column.
const (
	unclear Column = "unclear" // a number, without saying whose
	ignored Column = "ignored" // not imported
)

// person is a word in titles for a person.
type person struct {
	word string
	meaning
}

// vocabulary is what titles are made of: a person and a field, in either order ("Father's name", "Name of father"), or
// one of the plain titles.
type vocabulary struct {
	plain   map[string]meaning
	persons []person // the longest word first
	// fields are the fields of a guardian and of a student.
	guardian, student map[string]Column
}

var words = sync.OnceValue(newVocabulary)

func newVocabulary() *vocabulary {
	v := &vocabulary{plain: map[string]meaning{}, guardian: map[string]Column{}, student: map[string]Column{}}
	fields := func(fields map[string]Column, c Column, names ...string) {
		for _, name := range names {
			fields[foldTitle(name)] = c
		}
	}
	numbers := []string{
		"number", "mobile", "mobile number", "mobile no", "mobile phone", "mobile phone number", "phone", "phone number", "phone no", "contact", "contact number",
		"contact no", "cell", "cell phone", "cell number", "telephone", "telephone number", "tel", "whatsapp", "whatsapp number", "whatsapp no",
		"नंबर", "मोबाइल", "मोबाइल नंबर", "मोबाइल न", "फ़ोन", "फ़ोन नंबर", "संपर्क", "संपर्क नंबर", "सम्पर्क नंबर", "व्हाट्सएप नंबर",
	}
	emails := []string{"email", "e-mail", "mail", "email address", "e-mail address", "mail address", "email id", "ईमेल", "ई-मेल"}
	languages := []string{"language", "message language", "messages language", "language of messages", "भाषा", "संदेश की भाषा"}
	names, first, last := []string{"name", "full name", "नाम", "पूरा नाम"}, []string{"first name", "first", "given name", "forename", "fname", "पहला नाम"}, []string{"last name", "last", "surname", "family name", "lname", "उपनाम"}

	fields(v.student, StudentName, names...)
	fields(v.student, StudentFirstName, first...)
	fields(v.student, StudentMiddleName, "middle name", "middle")
	fields(v.student, StudentLastName, last...)
	fields(v.student, BirthDate, "date of birth", "birth date", "birthday", "birthdate", "dob", "d.o.b.", "born", "date birth",
		"जन्म तिथि", "जन्मतिथि", "जन्म की तारीख", "जन्म तारीख", "जन्म दिनांक", "जन्मदिन")
	fields(v.student, StudentNumber, numbers...)
	fields(v.student, StudentLanguage, languages...)

	fields(v.guardian, GuardianName, append(names, "")...)
	fields(v.guardian, GuardianFirstName, first...)
	fields(v.guardian, GuardianLastName, last...)
	fields(v.guardian, Relationship, "relationship", "relation", "relationship to student", "relationship to child", "relationship to player", "relation to student",
		"relation to child", "relation with student", "relation with child", "रिश्ता", "संबंध", "सम्बन्ध")
	fields(v.guardian, GuardianNumber, numbers...)
	fields(v.guardian, GuardianEmail, emails...)
	fields(v.guardian, GuardianLanguage, languages...)

	v.addPersons()
	v.addPlain(numbers, emails)
	return v
}

// addPersons adds the words for persons.
func (v *vocabulary) addPersons() {
	add := func(m meaning, english []string, hindi ...string) {
		for _, word := range english {
			v.persons = append(v.persons, person{foldTitle(word), m}, person{foldTitle(word + "s"), m})
		}
		for _, word := range hindi {
			for _, of := range []string{"", "का", "की", "के"} {
				v.persons = append(v.persons, person{foldTitle(word + of), m})
			}
		}
	}
	add(meaning{who: ofStudent}, []string{"student", "child", "player", "pupil", "athlete", "member", "participant", "kid", "trainee", "learner", "candidate"},
		"छात्र", "छात्रा", "विद्यार्थी", "बच्चे", "खिलाड़ी")
	add(meaning{who: "1", relationship: "guardian"}, []string{
		"guardian", "parent/guardian", "guardian/parent", "parent or guardian", "primary guardian", "first guardian", "legal guardian",
		"carer", "parent/carer", "parent or carer", "father/guardian", "guardian/father", "father or guardian", "mother/guardian", "guardian/mother", "mother or guardian",
	}, "संरक्षक")
	add(meaning{who: "1", relationship: "parent"}, []string{"parent", "primary parent", "first parent", "father/mother", "mother/father", "father or mother"})
	add(meaning{who: "1", relationship: "अभिभावक"}, nil, "अभिभावक", "माता-पिता")
	add(meaning{who: "2", relationship: "guardian"}, []string{"second guardian", "secondary guardian", "other guardian"})
	add(meaning{who: "2", relationship: "parent"}, []string{"second parent", "secondary parent", "other parent"})
	add(meaning{who: "father", relationship: "father"}, []string{"father", "dad"})
	add(meaning{who: "mother", relationship: "mother"}, []string{"mother", "mom", "mum"})
	add(meaning{who: "father", relationship: "पिता"}, nil, "पिता", "पिताजी")
	add(meaning{who: "mother", relationship: "माता"}, nil, "माता", "माताजी", "माँ", "मां")
	add(meaning{who: "emergency", contact: true}, []string{"emergency contact", "emergency contact person", "emergency", "emergency contact 1"})
	add(meaning{who: "contact 1", relationship: "guardian", contact: true}, []string{"primary contact", "primary contact person"})
	for n, digit := range []string{"1", "2", "3", "4"} {
		add(meaning{who: digit, relationship: "guardian"}, []string{
			"guardian " + digit, "parent/guardian " + digit, "guardian/parent " + digit, "parent or guardian " + digit, "g" + digit, "carer " + digit, "parent/carer " + digit,
		})
		add(meaning{who: digit, relationship: "parent"}, []string{"parent " + digit, "p" + digit})
		add(meaning{who: digit, relationship: "अभिभावक"}, nil, "अभिभावक "+digit)
		add(meaning{who: "contact " + digit, relationship: "guardian", contact: true}, []string{"contact " + digit})
		if n > 0 {
			add(meaning{who: "emergency " + digit, contact: true}, []string{"emergency contact " + digit})
		}
	}
	slices.SortStableFunc(v.persons, func(a, b person) int { return cmp.Compare(len(b.word), len(a.word)) })
}

// addPlain adds the titles that name no person.
func (v *vocabulary) addPlain(numbers, emails []string) {
	add := func(c Column, who string, names ...string) {
		for _, name := range names {
			v.plain[foldTitle(name)] = meaning{column: c, who: who}
		}
	}
	add(StudentName, ofStudent, "student", "child", "player", "छात्र", "छात्रा", "विद्यार्थी", "खिलाड़ी")
	for field, c := range v.student {
		if c != StudentLanguage && c != StudentNumber {
			v.plain[field] = meaning{column: c, who: ofStudent}
		}
	}
	add(Relationship, ofAny, "relationship", "relation", "relationship to student", "relationship to child", "relation to student", "relation to child",
		"relation with student", "relation with child", "रिश्ता", "संबंध", "सम्बन्ध", "बच्चे से रिश्ता", "छात्र से संबंध")
	add(GuardianEmail, ofAny, emails...)
	add(Batches, ofStudent, "batches", "batch", "batch name", "batch names", "बैच", "बैच का नाम", "बैचों के नाम")
	add(Basis, ofStudent, "basis", "reason", "आधार", "कारण")
	add(ignored, "", "guardian status", "student status", "added on", "player id")
	add(unclear, "", numbers...)
}

// meaningOf returns what a title means. What is in brackets counts only if it names the person, as in "Mobile
// (father)".
func meaningOf(title string) meaning {
	before, inside, _ := strings.Cut(strings.NewReplacer("[", "(", "]", ")").Replace(title), "(")
	inside, after, _ := strings.Cut(inside, ")")
	before, _ = cutDatePattern(strings.TrimSpace(before + " " + after))
	v, text := words(), foldTitle(before)
	inside = foldTitle(inside)
	if inside != "" {
		for _, both := range []string{inside + text, text + inside} {
			if m := v.find(both); m.column != "" {
				return m
			}
		}
	}
	return v.find(text)
}

// find returns the meaning of a folded title.
func (v *vocabulary) find(text string) meaning {
	if m, ok := v.plain[text]; ok {
		return m
	}
	if m := v.plain[strings.TrimSuffix(text, "1")]; m.column == unclear {
		return m
	}
	for _, p := range v.persons {
		rest, ok := strings.CutPrefix(text, p.word)
		if !ok {
			rest, ok = strings.CutSuffix(text, p.word)
			if !ok {
				continue
			}
			rest, ok = strings.CutSuffix(strings.TrimSuffix(rest, "the"), "of")
			if !ok {
				continue
			}
		}
		if rest == "" && p.contact {
			continue // a name or a number
		}
		if m := v.field(p.meaning, rest); m.column != "" {
			return m
		}
	}
	return meaning{}
}

// field returns the meaning of a field of a person. A number at its end is the number of the guardian, as in
// "Guardian email 2".
func (v *vocabulary) field(m meaning, field string) meaning {
	fields := v.guardian
	if m.who == ofStudent {
		fields = v.student
	}
	m.column = fields[field]
	if m.column != "" {
		return m
	}
	if n := len(field) - 1; n > 0 && m.who == "1" && strings.Contains("1234", field[n:]) {
		m.column = fields[field[:n]]
		if m.column != "" {
			m.who = field[n:]
		}
	}
	return m
}

// foldTitle returns the same text for titles that mean the same: it drops what is in
// brackets, spaces, signs, and the dot below Devanagari letters, which many leave out.
func foldTitle(title string) string {
	title, _, _ = strings.Cut(title, "(")
	return strings.Map(func(r rune) rune {
		const nukta = '\u093c'
		if r == nukta || !(unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)) {
			return -1
		}
		return r
	}, norm.NFD.String(strings.ToLower(title)))
}
