package notify

import (
	"cmp"
	"fmt"

	"github.com/touchline/touchline/internal/actor"
)

// questionsText returns the SMS for several questions of one coach to one number. It has
// one link for each role, to its first question: after sign-in the recipient sees the other
// open ones of that role, and a text with a link for each child would be long.
func questionsText(questions []Question, brand string) string {
	var children, students []string
	var guardianLink, studentLink string
	for _, q := range questions {
		if q.Party == actor.Guardian {
			children, guardianLink = append(children, q.StudentName), cmp.Or(guardianLink, q.Link)
		} else {
			students, studentLink = append(students, q.StudentName), cmp.Or(studentLink, q.Link)
		}
	}
	who := titled("Coach", questions[0].CoachName, "A coach")
	switch {
	case len(students) == 0:
		return fmt.Sprintf("%s added %s and asks if %s may serve you. Say yes or no for each: %s", who, studentList(children), brand, guardianLink)
	case len(children) == 0:
		return fmt.Sprintf("%s added %s. Say yes or no to %s, each of you: %s", who, studentList(students), brand, studentLink)
	}
	return fmt.Sprintf("%s asks if %s may serve you. Say yes or no. Guardian of %s: %s For %s to answer: %s",
		who, brand, studentList(children), guardianLink, studentList(students), studentLink)
}
