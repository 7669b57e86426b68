package coach

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// NameWait is how long families are told of a name before it takes effect without an operator.
	NameWait = 7 * 24 * time.Hour
	// nameWindow is the time in which changes of a name are counted.
	nameWindow = 30 * 24 * time.Hour
	// freeChanges is how many changes in nameWindow take effect at once.
	freeChanges = 2
	// maxWishes is how many names that wait a coach can ask for in nameWindow: each is told to the families.
	maxWishes = 3
)

// NameChanges is what happened to the name of a coach, and what will.
type NameChanges struct {
	// Completed: the profile was complete once. Families may know the coach from then on.
	Completed bool
	// FormerNames are the names of the last 30 days that the coach no longer has, oldest first, and the newest one
	// before.
	FormerNames []FormerName
	// NamePending takes effect at NameTakesEffectAt, or when an operator confirms it; "" is none.
	NamePending       string
	NameTakesEffectAt time.Time
}

// FormerName is a name that a coach no longer has, or only asked for. It is stored as JSON.
type FormerName struct {
	Name  string    `json:"name"`
	Until time.Time `json:"until"`
	// Told: the families were told of a later name before it took effect.
	Told bool `json:"told,omitempty"`
	// Wish: the coach asked for this name at Until.
	Wish bool `json:"wish,omitempty"`
}

// setName changes the name. Families said yes to a coach whom they know: a name that shares no word with the names of
// the last 30 days, or a third change in that time, waits.
func (p *Profile) setName(name *string, cancel bool, now time.Time) error {
	if cancel {
		p.NamePending, p.NameTakesEffectAt = "", time.Time{}
	}
	if name == nil || *name == p.Name || *name == p.NamePending {
		return nil
	}
	switch first := p.Name == "" && !slices.ContainsFunc(p.FormerNames, isChange); {
	case first || !p.Completed:
		p.Name = *name
	case *name != "" && slices.Equal(splitWords(*name), splitWords(p.Name)):
		p.Name = *name // another spelling
	case *name == "" || p.renamesAtOnce(*name, now):
		p.leaveName(now)
		p.Name, p.NamePending, p.NameTakesEffectAt = *name, "", time.Time{}
	default:
		return p.wishName(*name, now)
	}
	return nil
}

func (p *Profile) wishName(name string, now time.Time) error {
	wishes := recent(p.FormerNames, now, func(f FormerName) bool { return f.Wish })
	if len(wishes) >= maxWishes {
		ends := wishes[0].Until.Add(nameWindow)
		return fault.New(fault.Conflict, "name_limit", "You asked for %d names in 30 days that families do not know. You can ask again after %s.",
			maxWishes, ends.UTC().Format(time.DateOnly)).With("allowed_at", ends.UTC().Format(time.RFC3339))
	}
	p.remember(FormerName{Name: name, Until: now, Wish: true}, now)
	p.NamePending, p.NameTakesEffectAt = name, now.Add(NameWait)
	return nil
}

// TakeName gives the coach the name that waits.
func (p *Profile) TakeName(now time.Time) {
	p.leaveName(now)
	for i := range p.FormerNames {
		p.FormerNames[i].Told = true
	}
	p.Name, p.NamePending, p.NameTakesEffectAt, p.UpdatedAt = p.NamePending, "", time.Time{}, now
}

// leaveName remembers the name as a former one.
func (p *Profile) leaveName(now time.Time) {
	if p.Name != "" {
		p.remember(FormerName{Name: p.Name, Until: now}, now)
	}
}

func (p *Profile) remember(f FormerName, now time.Time) {
	var kept []FormerName
	for i, old := range p.FormerNames {
		newest := !slices.ContainsFunc(p.FormerNames[i+1:], isChange) // the name before an empty one
		if now.Sub(old.Until) < nameWindow || isChange(old) && newest {
			kept = append(kept, old)
		}
	}
	p.FormerNames = append(kept, f)
}

func isChange(f FormerName) bool { return !f.Wish }

func recent(all []FormerName, now time.Time, which func(FormerName) bool) (found []FormerName) {
	for _, f := range all {
		if which(f) && now.Sub(f.Until) < nameWindow {
			found = append(found, f)
		}
	}
	return found
}

// renamesAtOnce reports whether a name takes effect without a wait. It is compared with each name of the last 30 days, so
// that two changes of one word each do not replace the whole name.
func (p *Profile) renamesAtOnce(name string, now time.Time) bool {
	changes := recent(p.FormerNames, now, isChange)
	if len(changes) >= freeChanges {
		return false
	}
	known := p.Name
	for _, f := range p.FormerNames {
		if p.Name == "" && isChange(f) {
			known = f.Name
		}
	}
	if !sharesWord(name, known) {
		return false
	}
	return !slices.ContainsFunc(changes, func(f FormerName) bool { return !f.Told && !sharesWord(name, f.Name) })
}

// commonWords are words that many names of coaches and clubs have, so that they do not say who it is.
var commonWords = strings.Fields(`coach coaches coaching sir madam mam maam mr mrs ms miss dr prof shri sri smt kumari ji bhai bhaiya didi uncle aunty the and of for at in
	academy club clubs school sports sport team trainer training teacher centre center institute group foundation association games kids junior juniors india indian
	cricket football hockey tennis badminton basketball volleyball kabaddi athletics swimming chess yoga judo karate skating gymnastics boxing wrestling
	कोच सर मैडम श्री श्रीमती जी अकादमी क्लब स्कूल खेल`)

// sharesWord reports whether two names have a word in common that names somebody.
func sharesWord(a, b string) bool {
	words := splitWords(b)
	return slices.ContainsFunc(splitWords(a), func(word string) bool {
		return utf8.RuneCountInString(word) > 1 && !slices.Contains(commonWords, word) && slices.Contains(words, word)
	})
}

// FitsLegalName reports whether a name is a legal name, whatever the case, the accents, the order of the words, and
// initials: "A. Mehta" and "Mehta Arjun" fit "Arjun Mehta". Each word of the name is a word of the legal name or the initial of
// one, so "Arjun Mehta I.P.S." does not fit. The name lacks none but initials, and writes at least one word out.
func FitsLegalName(name, legal string) bool {
	rest := splitWords(legal)
	take := func(fits func(word string) bool) bool {
		i := slices.IndexFunc(rest, fits)
		if i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
		return i >= 0
	}
	others := slices.DeleteFunc(splitWords(name), func(word string) bool { return take(func(l string) bool { return l == word }) })
	written := slices.ContainsFunc(splitWords(name), func(word string) bool { return !isInitial(word) && !slices.Contains(others, word) })
	for _, word := range others {
		if !isInitial(word) || !take(func(l string) bool { return strings.HasPrefix(l, word) }) {
			return false
		}
	}
	return written && !slices.ContainsFunc(rest, func(l string) bool { return !isInitial(l) })
}

func isInitial(word string) bool { return utf8.RuneCountInString(word) == 1 }

// What keeps the mark of a verified coach off.
const (
	UnmarkedName    = "name"
	UnmarkedPicture = "picture"
	unverified      = "kyc"
)

// Unmarked returns why the coach does not have the mark of a verified identity: another name or another picture than the one that
// an operator confirmed. It is empty if the coach has it.
func (p Profile) Unmarked() []string {
	if p.KYC != Verified {
		return []string{unverified}
	}
	why := []string{}
	if p.Name != p.ConfirmedName {
		why = append(why, UnmarkedName)
	}
	if hash := p.shown().PictureHash; hash != "" && hash != p.ConfirmedPicture {
		why = append(why, UnmarkedPicture)
	}
	return why
}
