package conversation

import (
	"cmp"
	"maps"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/team"
)

// Rules are the settings that a plan needs.
type Rules struct {
	// CopyGuardian is the setting COPY_GUARDIAN.
	CopyGuardian bool
	// HasChat is true if the service has a transport for the chat.
	HasChat bool
	// Reachable reports whether the service sends to a number on a channel.
	Reachable func(c Channel, n phone.Number) bool
	// Render returns the text that leaves the service, or "" if nothing visible is left.
	Render func(message.TeamMessage) string
	// Price returns the price of a segment, and ChatPrice that of a WhatsApp template; nil if no prices are configured.
	Price, ChatPrice func(phone.Number) Cost
	// Currency is the ISO 4217 currency of the prices.
	Currency string
}

// Plan decides who gets a message on which channel. It is made for all recipients before
// the message is accepted, and again for a few at a time when they get their deliveries.
type Plan struct {
	rules     Rules
	coachName string
	draft     Draft
	// reached has the numbers that already get the message on a channel.
	reached map[numberOn]bool
	// texts has the number of segments of each text that was rendered.
	texts map[message.TeamMessage]int

	Recipients []Recipient
}

type numberOn struct {
	channel Channel
	number  phone.Number
}

// recipientsPerPlayer returns how many recipients a player has, other guardians not counted: the parties of the
// audience, and the guardian who gets a copy.
func (r Rules) recipientsPerPlayer(a Audience) int {
	if a == ToBoth || a == ToStudents && r.CopyGuardian {
		return 2
	}
	return 1
}

// newPlan returns a plan without recipients. Add adds them.
func (r Rules) newPlan(coachName string, d Draft) *Plan {
	return &Plan{rules: r, coachName: coachName, draft: d, reached: map[numberOn]bool{}, texts: map[message.TeamMessage]int{}}
}

// add adds the recipients of a player: the parties of the audience, and each guardian of a
// student under 18 on each channel that reaches the student (COPY_GUARDIAN).
func (p *Plan) add(f playerFacts) {
	for _, party := range approval.Parties {
		if !p.draft.Audience.Has(party) {
			continue
		}
		for _, facts := range f.of(party) {
			if party != actor.Guardian || p.draft.GuardianID == "" || facts.GuardianID == p.draft.GuardianID {
				p.Recipients = append(p.Recipients, p.recipient(f, facts, party, p.draft.Channels, false))
			}
		}
	}
	if !p.rules.CopyGuardian || f.Adult || p.draft.Audience.Has(actor.Guardian) || !f.Guardian.Exists {
		return
	}
	var channels []Channel
	for _, s := range p.Recipients[len(p.Recipients)-1].Sends {
		if s.Reason == "" {
			channels = append(channels, s.Channel)
			if s.Channel == Chat && !s.Stays { // SMS takes over for the guardian, too
				channels = append(channels, SMS)
			}
		}
	}
	if len(channels) > 0 {
		for _, facts := range f.of(actor.Guardian) {
			p.Recipients = append(p.Recipients, p.recipient(f, facts, actor.Guardian, channels, true))
		}
	}
}

func (p *Plan) recipient(f playerFacts, facts *partyFacts, party actor.Role, channels []Channel, isCopy bool) Recipient {
	r := Recipient{PlayerID: f.PlayerID, StudentName: f.StudentName, Party: party, GuardianID: facts.GuardianID, AccountID: facts.AccountID, Name: facts.Name, Copy: isCopy}
	for _, c := range Channels {
		if slices.Contains(channels, c) {
			r.Sends = append(r.Sends, p.send(f, facts, c, isCopy))
		}
	}
	r.preferChat()
	return r
}

// preferChat leaves out the SMS of a recipient whom the chat reaches: the same delivery leaves by SMS if
// WhatsApp cannot deliver it. A message by chat alone never does.
func (r *Recipient) preferChat() {
	index := func(c Channel) int {
		return slices.IndexFunc(r.Sends, func(s Send) bool { return s.Channel == c && s.Reason == "" })
	}
	chat := index(Chat)
	if chat < 0 {
		return
	}
	sms := index(SMS)
	if sms < 0 {
		r.Sends[chat].Stays, r.Sends[chat].SMSCost = true, 0
		return
	}
	r.Sends = slices.Delete(r.Sends, sms, sms+1)
}

// send decides about one recipient on one channel.
func (p *Plan) send(f playerFacts, facts *partyFacts, c Channel, isCopy bool) Send {
	text := outgoing(p.coachName, p.draft.Text, addressee{
		EverApproved: facts.EverApproved, Copy: isCopy, StudentName: f.StudentName, Language: facts.Language,
	})
	s := Send{Channel: c, Number: facts.Number, Restricted: c != InApp && text.Restricted, Language: text.Language, Template: c == Chat && !facts.InWindow}
	if s.Reason = facts.refuses(f, c, p.rules); s.Reason != "" || c == InApp {
		return s
	}
	on := numberOn{c, facts.Number}
	// A message to this number may have moved from the chat to SMS meanwhile.
	if p.reached[on] || len(facts.HasMessage) > 0 {
		s.Reason = ReasonSameNumber
		return s
	}
	if s.Segments = p.segments(text); s.Segments == 0 {
		s.Reason = ReasonOnlyLinks
		return s
	}
	p.reached[on] = true
	if p.rules.Price == nil {
		return s
	}
	s.SMSCost = Cost(s.Segments) * p.rules.Price(facts.Number)
	switch {
	case c != Chat:
		s.Cost = s.SMSCost
	case s.Template:
		s.Cost = Cost(message.ChatParts(text)) * p.rules.ChatPrice(facts.Number)
	}
	return s
}

// refuses returns why the channel does not reach the party, or "".
func (f *partyFacts) refuses(p playerFacts, c Channel, rules Rules) Reason {
	switch {
	case p.Suspended:
		return ReasonSuspended
	case p.Removed:
		return ReasonPlayerRemoved
	case !f.Exists:
		return ReasonNoGuardian
	case f.AccountID == "":
		return ReasonNoNumber
	case c == InApp && f.App == team.NotInTier:
		return ReasonNotInTier
	case c == InApp && f.App != team.Granted:
		return ReasonNotApproved
	case c == InApp:
		return ""
	case f.Disputed:
		return ReasonDisputed
	case f.Stopped:
		return ReasonStopped
	case c == Chat && !rules.HasChat:
		return ReasonChatNotConfigured
	case !rules.Reachable(c, f.Number):
		return ReasonNumberNotAllowed
	case !f.EverApproved && f.SentInWeek >= MaxPerWeek:
		return ReasonWeeklyLimit
	}
	return ""
}

// segments returns how many segments a text takes, or 0 if nothing is left of it.
func (p *Plan) segments(m message.TeamMessage) int {
	n, known := p.texts[m]
	if !known {
		if text := p.rules.Render(m); text != "" {
			n = message.Segments(text)
		}
		p.texts[m] = n
	}
	return n
}

// Totals are the sums of a plan.
type Totals struct {
	// Recipients counts all, LeftOut those that no channel reaches.
	Recipients, LeftOut int
	// People counts the numbers that a message reaches: a guardian of two players is two recipients
	// and one person. PeopleLeftOut counts the people whom no channel reaches.
	People, PeopleLeftOut int
	// Segments is what the tier counts: each message that leaves the service counts as it does by SMS. MostSMS is how many SMS
	// leave if WhatsApp fails.
	Segments, MostSMS int
	// Cost is what the messages cost if WhatsApp takes those by chat, and MostCost if it fails at worst.
	Cost, MostCost Cost
	// Priced is false if no prices are configured.
	Priced bool
	// Currency is the ISO 4217 currency of Cost.
	Currency string
}

// Totals returns the sums of the plan.
func (p *Plan) Totals() Totals {
	t := Totals{Recipients: len(p.Recipients), Priced: p.rules.Price != nil, Currency: p.rules.Currency}
	for _, r := range p.Recipients {
		if r.LeftOut() != "" {
			t.LeftOut++
		}
		for _, s := range r.Sends {
			if s.Reason == "" {
				t.Segments += s.Segments
				t.Cost += s.Cost
				t.MostCost += max(s.Cost, s.SMSCost)
				if !s.Stays {
					t.MostSMS += s.Segments
				}
			}
		}
	}
	t.People, t.PeopleLeftOut = len(p.reachedPeople()), len(p.PeopleLeftOut())
	return t
}

// number returns the number of the recipient, or "" without one.
func (r Recipient) number() phone.Number { return r.Sends[0].Number }

func (p *Plan) reachedPeople() map[phone.Number]bool {
	reached := map[phone.Number]bool{}
	for _, r := range p.Recipients {
		if r.LeftOut() == "" {
			reached[r.number()] = true
		}
	}
	return reached
}

// PeopleLeftOut returns one recipient of each person whom no channel reaches, also not for another
// player.
func (p *Plan) PeopleLeftOut() []Recipient {
	known := p.reachedPeople()
	var leftOut []Recipient
	for _, r := range p.Recipients {
		if r.LeftOut() == "" || known[r.number()] {
			continue
		}
		if r.number() != "" {
			known[r.number()] = true
		}
		leftOut = append(leftOut, r)
	}
	return leftOut
}

// Variant is one text of a message, how many messages have it, and how many people get it.
type Variant struct {
	Text             string
	Restricted       bool
	Segments         int
	Messages, People int
}

// Variants returns the texts that leave the service, without the copies for guardians. Texts
// for recipients that approved at any time come first, then the restricted texts. Texts in two
// languages are two variants if they differ.
func (p *Plan) Variants() []Variant {
	counts, people := map[message.TeamMessage]int{}, map[message.TeamMessage]map[phone.Number]bool{}
	for _, r := range p.Recipients {
		for _, s := range r.Sends {
			if s.Channel != InApp && s.Reason == "" {
				text := message.TeamMessage{CoachName: p.coachName, Text: p.draft.Text, Restricted: s.Restricted, Language: s.Language}
				counts[text]++
				if people[text] == nil {
					people[text] = map[phone.Number]bool{}
				}
				people[text][s.Number] = true
			}
		}
	}
	var variants []Variant
	for _, l := range slices.SortedFunc(maps.Keys(counts), compareTexts) {
		text := p.rules.Render(l)
		i := slices.IndexFunc(variants, func(v Variant) bool { return v.Restricted == l.Restricted && v.Text == text })
		if i < 0 {
			i = len(variants)
			variants = append(variants, Variant{Text: text, Restricted: l.Restricted, Segments: message.Segments(text)})
		}
		variants[i].Messages += counts[l]
		variants[i].People += len(people[l])
	}
	return variants
}

// compareTexts orders restricted texts last, then by language.
func compareTexts(a, b message.TeamMessage) int {
	switch {
	case a.Restricted == b.Restricted:
		return cmp.Compare(a.Language, b.Language)
	case a.Restricted:
		return 1
	}
	return -1
}

// addressee has the facts on which the text to one recipient depends.
type addressee struct {
	// EverApproved is true if the account has approved a player of the coach at any time.
	EverApproved bool
	// Copy is true for a guardian who gets what the student gets.
	Copy        bool
	StudentName string
	Language    string
}

// outgoing returns the message to one recipient. Only the text of a copy names the student.
func outgoing(coachName, text string, to addressee) message.TeamMessage {
	m := message.TeamMessage{CoachName: coachName, Text: text, Restricted: !to.EverApproved, Language: to.Language}
	if to.Copy {
		m.StudentName = to.StudentName
	}
	return m
}
