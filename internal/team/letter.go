package team

// Letter is the text of a message as it leaves the service.
type Letter struct {
	CoachName, Text string
	// StudentName is set for the copy of a guardian.
	StudentName string
	// Restricted removes links and numbers from Text and says how to stop: the recipient
	// never approved.
	Restricted bool
	// Language is the recipient's, for the words around Text.
	Language string
}

// Addressee has the facts on which the letter to one recipient depends.
type Addressee struct {
	// EverApproved is true if the account has approved a player of the coach at any time.
	EverApproved bool
	// Copy is true for a guardian who gets what the student gets.
	Copy        bool
	StudentName string
	Language    string
}

// NewLetter returns the letter to one recipient. Only the letter of a copy names the student.
func NewLetter(coachName, text string, to Addressee) Letter {
	l := Letter{CoachName: coachName, Text: text, Restricted: !to.EverApproved, Language: to.Language}
	if to.Copy {
		l.StudentName = to.StudentName
	}
	return l
}
