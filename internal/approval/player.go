package approval

import (
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/team"
)

// Player is one coach–student link: one record with two consents. A student with
// three coaches is three players (spec section 3, rule 6).
type Player struct {
	ID      string
	CoachID string
	// CoachName is the current name of the coach.
	CoachName string
	// CoachPicture is the SHA-256 of the picture of the coach that families see, in hexadecimal digits, or "".
	CoachPicture string
	// CoachTier is the stored name of the coach's tier.
	CoachTier string
	// Version increases with each save; a save with an outdated version is refused.
	Version int64

	// Student is the child. Its number is that of the party.
	Student Child
	// Parties are those who answer: the guardians in their order, then the student. Without a first guardian there is
	// an empty one in its place: see Guardian.
	Parties []Party
	// Rule says whose yes the services of the student need.
	Rule GuardianRule

	// Batches are the batches that the player is in, by id. A new player has those that the
	// coach names, without their names until the store has read them.
	Batches []Batch

	// CoachNumber is the coach's own number. It is loaded together with Disputes.
	CoachNumber phone.Number
	// CoachHeld reports whether n was the coach's own number within auth.FormerNumbersKept. It is
	// loaded together with Disputes; nil if the coach has had one number only.
	CoachHeld func(n phone.Number) bool
	// Disputes are the contacts that refuse requests from this coach about this
	// student. AddPlayer loads them, and UpdatePlayer on request.
	Disputes []Contact
	// History are the decisions, oldest first, if loadOptions asked for them.
	History []Record

	// Unproved says that the log of consents could not prove the approvals when the player was read: see
	// Rules.Unproved.
	Unproved bool

	CreatedAt time.Time
	// DeletedAt is zero until the coach removes the player.
	DeletedAt time.Time
}

// Child is the coach's data about a student (spec section 2.5).
type Child struct {
	FullName    string
	DateOfBirth Date
	// HasMedical reports whether the coach noted medical information.
	HasMedical bool
	// Medical is that text. It is encrypted in the database and never logged. It is empty unless
	// Service.Medical read it or the coach sets it.
	Medical string
	// Basis is why the coach may keep the data. The zero Basis of a new player is Rules.DefaultBasis.
	Basis Basis
}

// Student is a child whom a coach adds, with the number and the language of the party.
type Student struct {
	FullName    string
	DateOfBirth Date
	// Number is optional.
	Number   phone.Number
	Medical  string
	Language string
	Basis    Basis
	// Rule is AnyGuardian if it is empty.
	Rule GuardianRule
}

// Person is who a party is, as the coach entered it (spec section 2.5). The name of a student is that of the child.
type Person struct {
	Name         string
	Relationship string
	// Number is optional for a student.
	Number phone.Number
	Email  string
	// Language is the coach's choice for a number that has chosen none, or empty.
	Language string
}

// Batch is a batch of the coach.
type Batch struct{ ID, Name string }

// Contact is a number in the role of a party.
type Contact struct {
	Party  actor.Role
	Number phone.Number
}

// Party is one party of a player: who it is, its account, its consent and its newest request.
type Party struct {
	Role actor.Role
	// GuardianID names a guardian for as long as it is one. It is empty for a student.
	GuardianID string
	Person
	// AccountID is the account that may respond; empty while the party has no number.
	AccountID string
	Consent   Consent
	// Proof is the newest proof that a guardian is an adult. It may have ended.
	Proof AdultProof
	// Request is the newest request in any state, or nil.
	Request *Request
	// Reminders are the times of the reminders within the window, oldest first, if
	// loadOptions asked for them.
	Reminders []time.Time
	// CallFacts are set if loadOptions asked for them and the request is open for CallAfter.
	CallFacts CallFacts
}

// NewestRequests returns the newest request to each party that has one.
func (p *Player) NewestRequests() []*Request {
	var newest []*Request
	for i := range p.Parties {
		if r := p.Parties[i].Request; r != nil {
			newest = append(newest, r)
		}
	}
	return newest
}

// OpenRequest returns the open request, or nil.
func (a *Party) OpenRequest() *Request {
	if a.Request != nil && a.Request.State == RequestPending {
		return a.Request
	}
	return nil
}

// RequestID returns the id of the newest request, or "".
func (a *Party) RequestID() string {
	if a.Request == nil {
		return ""
	}
	return a.Request.ID
}

// Party returns the first guardian, or for another role the student. It adds both to a player without parties.
func (p *Player) Party(role actor.Role) *Party {
	if len(p.Parties) == 0 {
		p.Parties = []Party{{Role: actor.Guardian}, {Role: actor.Student}}
	}
	for i := range p.Parties {
		if p.Parties[i].Role == role {
			return &p.Parties[i]
		}
	}
	if role == actor.Guardian { // its row is missing: see package proof
		return &Party{Role: role, Consent: Consent{State: Pending}}
	}
	return &p.Parties[len(p.Parties)-1]
}

// Find returns a party; an empty guardianID is the first guardian. It returns nil if the player has no such guardian.
func (p *Player) Find(role actor.Role, guardianID string) *Party {
	if role != actor.Guardian || guardianID == "" {
		return p.Party(role)
	}
	for i := range p.Parties {
		if a := &p.Parties[i]; a.Role == role && a.GuardianID == guardianID {
			return a
		}
	}
	return nil
}

// find is Find, but returns not_found without that guardian. A guardian without a name is none.
func (p *Player) find(role actor.Role, guardianID string) (*Party, error) {
	a := p.Find(role, guardianID)
	if a == nil || guardianID != "" && a.Person == (Person{}) {
		return nil, fault.Missing()
	}
	return a, nil
}

// Asked returns the party that a request asked, or nil if the player no longer has it.
func (p *Player) Asked(r *Request) *Party { return p.Find(r.Party, r.GuardianID) }

// PartyOf returns the party that by is, or nil. Two guardians of a player never have the same account.
func (p *Player) PartyOf(by actor.Actor) *Party {
	for i := range p.Parties {
		if a := &p.Parties[i]; by.AccountID != "" && a.Role == by.Role && a.AccountID == by.AccountID {
			return a
		}
	}
	return nil
}

// SeenBy returns the party of a role that by sees as the one: a guardian sees itself, others see the first guardian.
func (p *Player) SeenBy(by actor.Actor, role actor.Role) *Party {
	if by.Role == role {
		if own := p.PartyOf(by); own != nil {
			return own
		}
	}
	return p.Party(role)
}

// Guardian returns the first guardian, or nil for a student without one.
func (p *Player) Guardian() *Party {
	if g := p.Party(actor.Guardian); g.Person != (Person{}) {
		return g
	}
	return nil
}

// Guardians returns the guardians in their order.
func (p *Player) Guardians() []*Party {
	var list []*Party
	for i := range p.Parties {
		if a := &p.Parties[i]; a.Role == actor.Guardian && a.Person != (Person{}) {
			list = append(list, a)
		}
	}
	return list
}

// Copy returns a copy of p that later changes of its parties do not change. Their requests are the same.
func (p *Player) Copy() *Player {
	c := *p
	c.Parties = slices.Clone(p.Parties)
	return &c
}

// Number returns the number of the first guardian or the student, or "".
func (p *Player) Number(role actor.Role) phone.Number { return p.Party(role).Number }

// Adult reports whether the student is 18 or older on the UTC date of now.
func (p *Player) Adult(now time.Time) bool { return p.Student.DateOfBirth.IsAdult(now) }

// SharedContact reports whether a guardian and the student have the same number.
func (p *Player) SharedContact() bool {
	n := p.Number(actor.Student)
	return n != "" && slices.ContainsFunc(p.Parties, func(a Party) bool { return a.Role == actor.Guardian && a.Number == n })
}

// PendingReason returns why the consent of the first guardian or of the student is pending, or "".
func (p *Player) PendingReason(party actor.Role) PendingReason { return p.Party(party).PendingReason() }

// PendingReason returns why the consent is pending, or "". An adult without a
// guardian has no guardian to wait for.
func (a *Party) PendingReason() PendingReason {
	if a.Role == actor.Guardian && a.Person == (Person{}) {
		return ""
	}
	return a.Consent.PendingReason
}

// VisibleTo reports whether by may know that the player exists.
func (p *Player) VisibleTo(by actor.Actor) bool {
	if !p.DeletedAt.IsZero() {
		return false
	}
	switch by.Role {
	case actor.Coach:
		return p.CoachID == by.AccountID
	case actor.Guardian, actor.Student:
		return p.PartyOf(by) != nil
	}
	return false
}

// ownedBy returns not_found unless by is the player's coach.
func (p *Player) ownedBy(by actor.Actor) error {
	if by.Role != actor.Coach || !p.VisibleTo(by) {
		return fault.Missing()
	}
	return nil
}

// Languages returns the languages that the coach chose for the numbers of p. If two parties
// have one number, the first counts.
func (p *Player) Languages() map[phone.Number]string {
	languages := map[phone.Number]string{}
	for i := range p.Parties {
		if a := &p.Parties[i]; a.Number != "" && a.Language != "" && languages[a.Number] == "" {
			languages[a.Number] = a.Language
		}
	}
	return languages
}

// NewEvent returns an event about a party with the common ids and names. An event about no party has the ids of the
// student.
func (p *Player) NewEvent(t event.Type, a *Party) event.Event {
	e := event.Event{Type: t, CoachID: p.CoachID, PlayerID: p.ID, CoachName: p.CoachName, StudentName: p.Student.FullName}
	g := p.Party(actor.Guardian)
	if a == nil {
		a = p.Party(actor.Student)
	} else {
		e.Party, e.GuardianID = a.Role, a.GuardianID
		if a.Role == actor.Guardian {
			g = a
		}
	}
	e.PartyID, e.RequestID, e.GuardianName, e.GuardianEmail = a.AccountID, a.RequestID(), g.Name, g.Email
	for _, b := range p.Batches {
		e.BatchNames = append(e.BatchNames, b.Name)
	}
	return e
}

// StudentIdentity identifies a child across the player records of a coach. A coach has at
// most one live player with an identity.
type StudentIdentity struct {
	NameKey     string // see team.FoldName
	DateOfBirth Date
}

// SortKey returns the place of the name in alphabetical order. Equal names have equal keys.
func (i StudentIdentity) SortKey() string { return team.SortKey(i.NameKey) }

// Identity returns the identity of the student.
func (p *Player) Identity() StudentIdentity {
	return StudentIdentity{team.FoldName(p.Student.FullName), p.Student.DateOfBirth}
}

// SearchKey returns the text in which a search for players finds team.SearchText.
func (p *Player) SearchKey() string {
	key := team.SearchKey(p.Student.FullName) + "\n" + team.SearchKey(p.Party(actor.Guardian).Name)
	for i := range p.Parties {
		if a := &p.Parties[i]; i > 0 && a.Role == actor.Guardian {
			key += "\n" + team.SearchKey(a.Name)
		}
	}
	return key
}

// ErrPlayerExists says that the coach has a live player with the same identity.
func ErrPlayerExists(id string) error {
	return fault.New(fault.Conflict, "player_exists", "You have a player of this name and birth date already.").With("player_id", id)
}

// Position returns the stored position of the ith party of p.
func (p *Player) Position(i int) int {
	if p.Parties[i].Role == actor.Student {
		return 1
	}
	return i + 1
}

// UnansweredSince returns the latest time since which a party has been pending, or zero if one has answered.
func (p *Player) UnansweredSince() (since time.Time) {
	for i := range p.Parties {
		c := &p.Parties[i].Consent
		if c.State != Pending {
			return time.Time{}
		}
		since = latest(since, c.PendingSince)
	}
	return since
}

// AccountOf returns the account of the party with a contact, or "".
func (p *Player) AccountOf(c Contact) string {
	for _, a := range p.Parties {
		if a.Role == c.Party && a.Number == c.Number {
			return a.AccountID
		}
	}
	return ""
}
