package message

import (
	"cmp"
	"slices"

	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// types has the types of the notifications that the coach and the party get for an event.
// An empty Type means no notification.
type types struct{ coach, party Type }

// plan has the notifications of each event about a guardian or about a student. The events
// of consents are in the spec's section 6.
var plan = map[event.Type]struct{ guardian, student types }{
	event.Requested:       {types{party: GuardianRequest}, types{party: StudentRequest}},
	event.Reminded:        {types{party: RequestReminder}, types{party: RequestReminder}},
	event.Approved:        {types{GuardianApproved, GuardianApprovalConfirmed}, types{StudentApproved, StudentApprovalConfirmed}},
	event.Rejected:        {types{GuardianRejected, GuardianRejectConfirmed}, types{StudentRejected, StudentRejectConfirmed}},
	event.Revoked:         {types{GuardianRevoked, GuardianRevoked}, types{StudentRevoked, StudentRevoked}},
	event.Disputed:        {types{coach: RequestDisputed}, types{coach: RequestDisputed}},
	event.DisputeLifted:   {types{coach: DisputeLifted}, types{coach: DisputeLifted}},
	event.DeliveryFailed:  {types{coach: DeliveryFailed}, types{coach: DeliveryFailed}},
	event.Changed:         {types{party: PlayerChanged}, types{party: PlayerChanged}},
	event.Unlinked:        {types{party: PlayerRemoved}, types{party: PlayerRemoved}},
	event.Removed:         {types{party: PlayerRemoved}, types{party: PlayerRemoved}},
	event.Left:            {types{coach: GuardianLeft}, types{coach: StudentLeft}},
	event.GuardianAdded:   {types{party: GuardianAdded}, types{party: GuardianAdded}},
	event.GuardianRemoved: {guardian: types{party: GuardianRemoved}},
	event.SecondMessage:   {guardian: types{party: SecondMessage}},
	event.ProofEnding:     {guardian: types{party: ProofEnding}},
	event.ProofEnded:      {guardian: types{ProofEnded, ProofEnded}},
	event.FeeReminded:     {types{party: FeeReminder}, types{party: FeeReminder}},
	event.TurningAdult:    {types{party: TurningAdult}, types{party: TurningAdult}},
	event.TurnedAdult:     {types{party: TurnedAdult}, types{party: TurnedAdult}},
	event.CoachChanged:    {types{party: CoachRenamed}, types{party: CoachRenamed}},
	event.CoachRenaming:   {types{party: CoachRenaming}, types{party: CoachRenaming}},
	event.CoachLeft:       {types{party: CoachLeft}, types{party: CoachLeft}},
	event.TeamMessage:     {types{party: TeamMessageType}, types{party: TeamMessageType}},
	event.FeeTold:         {types{coach: FeeTold}, types{coach: FeeTold}},
	event.TeamReply:       {types{coach: TeamReplyType}, types{coach: TeamReplyType}},
	event.ProgressAdded:   {types{party: ProgressUpdate}, types{party: ProgressUpdate}},
	event.ReportAdded:     {types{party: PerformanceReport}, types{party: PerformanceReport}},

	event.TrainingAdded:     {types{party: TrainingAdded}, types{party: TrainingAdded}},
	event.TrainingChanged:   {types{party: TrainingChanged}, types{party: TrainingChanged}},
	event.TrainingRestored:  {types{party: TrainingRestored}, types{party: TrainingRestored}},
	event.TrainingCancelled: {types{party: TrainingCancelled}, types{party: TrainingCancelled}},
	event.TrainingAsked:     {types{party: TrainingAsked}, types{party: TrainingAsked}},
}

// coachPlan has the events that are only about a coach.
var coachPlan = map[event.Type]Type{
	event.PendingLong:         PendingReminder,
	event.CertificateExpiring: CertificateExpiring,
	event.KYCVerified:         KYCVerified,
	event.KYCRejected:         KYCRejected,
	event.NameConfirmed:       NameConfirmed,
	event.NameRefused:         NameRefused,
	event.TierApproved:        TierApproved,
	event.TierRefused:         TierRefused,
	event.UPIChanged:          SecurityNotice,
	event.AdultUnanswered:     TurnedAdult,
	event.GuardianViewEnded:   GuardianViewEnded,
	event.GuardiansDisagree:   GuardianConflict,
	event.UnansweredEnding:    UnansweredEnding,
	event.PlayerErased:        PlayerErased,
}

// Plan returns the drafts of the notifications for e, in the default language. brand is the
// name of the service.
func Plan(e event.Event, brand string) []Draft {
	to := plan[e.Type].student
	switch {
	case coachPlan[e.Type] != "":
		to = types{coach: coachPlan[e.Type]}
	case e.Type == event.TokenReused || e.Type == event.NumberChanged || e.Type == event.PasskeyAdded:
		to = types{party: SecurityNotice}
	case e.Party == actor.Guardian:
		to = plan[e.Type].guardian
	}
	var drafts []Draft
	if to.coach != "" {
		drafts = append(drafts, write(actor.Coach, e.CoachID, to.coach, e, brand))
	}
	if to.party != "" {
		drafts = append(drafts, write(e.Party, e.PartyID, to.party, e, brand))
	}
	return drafts
}

// mailed are the types that a recipient in the role gets by mail, too.
var mailed = map[actor.Role][]Type{
	actor.Guardian: {GuardianApprovalConfirmed, GuardianRejectConfirmed, GuardianRevoked, PlayerChanged, GuardianAdded, GuardianRemoved, ProofEnding, ProofEnded, CoachRenamed, CoachRenaming},
	actor.Student:  {StudentApprovalConfirmed, StudentRejectConfirmed, StudentRevoked, GuardianAdded, CoachRenamed, CoachRenaming},
	actor.Coach: {
		GuardianApproved, GuardianRejected, GuardianRevoked, StudentApproved, StudentRejected, StudentRevoked, GuardianLeft, StudentLeft, GuardianConflict, ProofEnded,
		RequestDisputed, DisputeLifted, DeliveryFailed, PendingReminder, UnansweredEnding, KYCVerified, KYCRejected, NameConfirmed, NameRefused, SecurityNotice,
	},
}

// copiesOf returns the channels that carry a notification beside the app.
func copiesOf(to actor.Role, t Type, e event.Event) []Channel {
	switch {
	case e.AppOnly:
		return nil
	case e.Type == event.CoachLeft:
		return []Channel{SMS}
	case e.Type == event.TurningAdult || e.Type == event.TurnedAdult || e.Type == event.SecondMessage:
		return []Channel{SMS, Email}
	case e.Type == event.Removed && to == actor.Guardian:
		return []Channel{SMS, Email}
	case e.Type == event.Removed:
		return []Channel{SMS} // the recipient may have lost the role and can then not sign in to read it
	case t.OfTraining():
		return []Channel{SMS, Email}
	case slices.Contains(mailed[to], t):
		return []Channel{Email}
	}
	return nil
}

// MailTo returns the address to which mail about d goes; it may be empty. confirmed is that of the party, profile that of a coach. What
// a party decided goes to the address that it confirmed rather than to the one that the coach entered.
func (d Draft) MailTo(confirmed, profile string) string {
	if d.To != actor.Coach && d.Type.ofReceipt() {
		return cmp.Or(confirmed, d.Email)
	}
	return cmp.Or(d.Email, profile)
}

// CopyTo is where a copy of a notification goes.
type CopyTo struct {
	Channel Channel
	Address string
}

// Copies returns where copies of d go outside of the app: to every push subscription, and on
// its channels that have an address, as far as the recipient's preferences allow.
// Nothing switches off copies about security, nor a second message.
func (d Draft) Copies(p Preferences, addresses map[Channel]string, subscriptions []string) []CopyTo {
	var reach []Channel
	for _, c := range d.Channels {
		if addresses[c] != "" {
			reach = append(reach, c)
		}
	}
	var copies []CopyTo
	if len(subscriptions) > 0 && p.Pushed(d.Type) && !d.event.AppOnly {
		reach = append(reach, Push)
		for _, id := range subscriptions {
			copies = append(copies, CopyTo{Push, id})
		}
	}
	if d.Type != SecurityNotice && d.Type != SecondMessage {
		reach = p.Choose(NotificationCopy, reach)
	}
	for _, c := range reach {
		if c != Push {
			copies = append(copies, CopyTo{c, addresses[c]})
		}
	}
	return copies
}

// write returns the draft of type t for e.
func write(to actor.Role, accountID string, t Type, e event.Event, brand string) Draft {
	d := Draft{To: to, AccountID: accountID, Type: t, event: e, brand: brand, Data: Data{
		PlayerID: e.PlayerID, RequestID: e.RequestID, CoachID: e.CoachID, SessionID: e.SessionID, Count: e.Count, DocumentID: e.DocumentID, FeeID: e.FeeID,
		MessageID: e.MessageID, RecordID: e.RecordID, TrainingID: e.Training.ID, Changes: e.Changes,
	}}
	if t == PlayerRemoved || t == CoachLeft || t == PlayerErased {
		// The recipient is no longer linked and must not see the player, or nothing is known about the player.
		d.Data = Data{CoachID: e.CoachID}
	}
	d.Data.Words = Words{
		Language: language.English, Event: e.Type, Party: e.Party, Title: e.Title, Day: e.Day, Reason: e.Reason, Training: e.Training, Channel: e.Channel, Waited: e.Waited,
		GuardianID: e.GuardianID, Other: e.OtherName, OtherIs: e.OtherRelationship, Yes: e.Yes, No: e.No,
	}
	if t == GuardianRequest || t == StudentRequest {
		d.Data.Words.Batches = e.BatchNames
	}
	if t == CoachRenamed || t == CoachRenaming {
		d.Data.Words.Coach, d.Data.Words.FormerCoach = e.CoachName, e.FormerCoach
	}
	d.Channels = copiesOf(to, t, e)
	if to == actor.Guardian {
		d.Email = e.GuardianEmail
	}
	d.Title, d.Body = wording(language.English, to, t, e, brand)
	return d
}
