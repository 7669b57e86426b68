package team

// OutgoingText is the text of a message as it leaves the service.
type OutgoingText struct {
	CoachName, Text string
	// StudentName is set for the copy of a guardian.
	StudentName string
	// Restricted removes links and numbers from Text and says how to stop: the recipient
	// never approved.
	Restricted bool
	// Language is the recipient's, for the words around Text.
	Language string
}

// Addressee has the facts on which the text to one recipient depends.
type Addressee struct {
	// EverApproved is true if the account has approved a player of the coach at any time.
	EverApproved bool
	// Copy is true for a guardian who gets what the student gets.
	Copy        bool
	StudentName string
	Language    string
}

// NewOutgoingText returns the text to one recipient. Only the text of a copy names the student.
func NewOutgoingText(coachName, text string, to Addressee) OutgoingText {
	l := OutgoingText{CoachName: coachName, Text: text, Restricted: !to.EverApproved, Language: to.Language}
	if to.Copy {
		l.StudentName = to.StudentName
	}
	return l
}
