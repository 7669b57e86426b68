package approval

import (
	"crypto/sha256"

	"github.com/touchline/touchline/internal/actor"
)

// Asking is what the link in a message tells whoever opens it: who asks whom,
// and about which student. It holds no number and no id.
type Asking struct {
	// Party is who is asked.
	Party actor.Role
	// CoachName is empty where the coach has taken it out of the profile.
	CoachName   string
	StudentName string
}

// LinkHash is what is kept of the token of a link (contract section 4): whoever
// reads the database cannot open the page.
func LinkHash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
