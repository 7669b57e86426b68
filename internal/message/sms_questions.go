package message

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/internal/platform/actor"
)

// questionsText returns the SMS for several questions of one coach to one number. It has
// one link for each role, to its first question: after sign-in the recipient sees the other
// open ones of that role, and a text with a link for each child would be long.
func questionsText(questions []Question, m Message) Text {
	var children, students []string
	var guardianLink, studentLink, guardianCode, studentCode string
	for _, q := range questions {
		if q.Party == actor.Guardian {
			children = append(children, nameInRequest(q.StudentName))
			guardianLink, guardianCode = cmp.Or(guardianLink, q.Link), cmp.Or(guardianCode, q.ShortCode)
		} else {
			students = append(students, nameInRequest(q.StudentName))
			studentLink, studentCode = cmp.Or(studentLink, q.Link), cmp.Or(studentCode, q.ShortCode)
		}
	}
	template := templateQuestionsBoth
	switch {
	case len(students) == 0:
		template = templateQuestionsGuardian
	case len(children) == 0:
		template = templateQuestionsStudent
	}
	coach, w := nameInRequest(questions[0].CoachName), textsIn(m.Language)
	return fillShort(template, m.Language, func(names int) (map[string]string, int) {
		coach, children, students := shortName(coach, names), shortNames(children, names), shortNames(students, names)
		values := map[string]string{"brand": m.Brand, "coach": w.coach(coach, false), "page": codePage(cmp.Or(guardianLink, studentLink))}
		switch template {
		case templateQuestionsGuardian:
			values["students"], values["link"], values["short_code"] = w.list(children), guardianLink, guardianCode
		case templateQuestionsStudent:
			values["students"], values["link"], values["short_code"] = w.list(students), studentLink, studentCode
		default:
			values["students"], values["link"] = w.list(children), guardianLink
			values["others"], values["other_link"] = w.list(students), studentLink
		}
		return values, longestOf(slices.Concat(children, students, []string{coach})...)
	})
}

// shortNames shortens each name.
func shortNames(names []string, longest int) []string {
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = shortName(name, longest)
	}
	return short
}
