package approval

import (
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/fault"
)

// StudentIdentity identifies a child across the player records of a coach. A coach has at
// most one live player with an identity.
type StudentIdentity struct {
	NameKey     string // see coach.FoldName
	DateOfBirth Date
}

// Identity returns the identity of the student.
func (p *Player) Identity() StudentIdentity {
	return StudentIdentity{coach.FoldName(p.Student.FullName), p.Student.DateOfBirth}
}

// SearchKey returns the text that a search for players matches.
func (p *Player) SearchKey() string {
	return coach.FoldName(p.Student.FullName) + "\n" + coach.FoldName(p.GuardianName())
}

// ErrPlayerExists says that the coach has a live player with the same identity.
func ErrPlayerExists(id string) error {
	return fault.New(fault.Conflict, "player_exists", "You have a player of this name and birth date already.").With("player_id", id)
}
