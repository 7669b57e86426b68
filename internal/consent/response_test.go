package consent_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/consent"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/server/touchlinetest/openapitest"
)

var updateResponses = flag.Bool("update-responses", false, "rewrite the golden files of responses")

const (
	playerID          = "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21"
	coachID           = "0198f2c4-0000-7000-8000-000000000001"
	parentID          = "0198f2c4-0000-7000-8000-000000000002"
	childID           = "0198f2c4-0000-7000-8000-000000000003"
	guardianRequestID = "0198f2c4-6a2b-7d10-8e44-1c9b5f7a2d03"
	studentRequestID  = "0198f2c4-6a2c-7a41-b3d7-90e15c4f8a66"
	recordID          = "0198f2c4-7000-7a41-b3d7-90e15c4f8a66"
)

// The times have nanoseconds and a zone, because responses must have neither.
var (
	testNow     = time.Date(2026, 3, 6, 14, 45, 0, 123456789, time.FixedZone("IST", 5*3600+1800))
	requestedAt = testNow.Add(-(4*24 + 1) * time.Hour)

	coachActor    = actor.Actor{AccountID: coachID, Role: actor.Coach}
	guardianActor = actor.Actor{AccountID: parentID, Role: actor.Guardian}
	studentActor  = actor.Actor{AccountID: childID, Role: actor.Student}
	testRules     = approval.Rules{ResendAfter: 48 * time.Hour, RemindersPerWindow: 2, ReminderWindow: 168 * time.Hour}
)

const guardianID = "0198f2c4-6a11-7c3e-9b52-4f0e8d1a7b31"

// fixturePlayer is a minor whose guardian has approved. The student has not decided.
func fixturePlayer() *approval.Player {
	decidedAt := requestedAt.Add(3 * time.Hour)
	return &approval.Player{
		ID: playerID, CoachID: coachID, CoachName: "Asha Rao", Version: 2,
		Student: approval.Child{FullName: `Kabir "K" <Mehta>`, DateOfBirth: approval.Date{Year: 2012, Month: 4, Day: 30}, HasMedical: true, Medical: "Asthma;\ncarries an inhaler.", Basis: approval.Basis{Kind: approval.FamilyAsked}},
		Parties: []approval.Party{{
			Role: actor.Guardian, GuardianID: guardianID, Person: approval.Person{Name: "Meera Mehta", Relationship: "mother", Number: "+919898765432"},
			AccountID: parentID,
			Consent:   approval.Consent{State: approval.Approved, ChangedAt: decidedAt, PendingSince: requestedAt},
			Request: &approval.Request{
				ID: guardianRequestID, PlayerID: playerID, CoachID: coachID, Party: actor.Guardian, GuardianID: guardianID, PartyID: parentID, State: approval.RequestApproved, ShortCode: "KTMWXS",
				Channels: []message.Channel{"in_app", "sms"}, RequestedAt: requestedAt, LastSentAt: requestedAt, ClosedAt: decidedAt, Version: 2, SentVersion: 1,
				Deliveries: []approval.Delivery{
					{Channel: "in_app", State: "delivered", At: requestedAt},
					{Channel: "sms", State: "sent", At: requestedAt.Add(time.Second)},
				},
			},
		}, {
			Role: actor.Student, Person: approval.Person{Number: "+919876501234"},
			AccountID: childID,
			Consent:   approval.Consent{State: approval.Pending, PendingSince: requestedAt, PendingReason: approval.PendingAdded},
			Request: &approval.Request{
				ID: studentRequestID, PlayerID: playerID, CoachID: coachID, Party: actor.Student, PartyID: childID, State: approval.RequestPending, ShortCode: "KTMWXR",
				Channels: []message.Channel{"in_app", "sms"}, RequestedAt: requestedAt, LastSentAt: requestedAt, Version: 1, SentVersion: 1,
				Deliveries: []approval.Delivery{{Channel: "sms", State: "queued", Reason: "held", Hold: message.HoldNumber, At: requestedAt}},
			},
		}},
		Rule:      approval.AnyGuardian,
		CreatedAt: requestedAt,
	}
}

// playerWith returns fixturePlayer after change.
func playerWith(change func(*approval.Player)) *approval.Player {
	p := fixturePlayer()
	change(p)
	return p
}

func TestResponses(t *testing.T) {
	var (
		coach, guardian, student = consent.NewView(coachActor, testRules, testNow), consent.NewView(guardianActor, testRules, testNow), consent.NewView(studentActor, testRules, testNow)
		bothApproved             = playerWith(func(p *approval.Player) { p.Party(actor.Student).Consent.State = approval.Approved })
		adult                    = playerWith(func(p *approval.Player) {
			p.Parties[0] = approval.Party{Role: actor.Guardian, Consent: approval.Consent{State: approval.Pending, PendingSince: requestedAt}}
			p.Student.DateOfBirth.Year, p.Student.HasMedical = 2000, false
			p.Party(actor.Student).Consent.State = approval.Approved
		})
		revoked = playerWith(func(p *approval.Player) { p.Party(actor.Guardian).Consent.State = approval.Revoked })
		failed  = playerWith(func(p *approval.Player) {
			p.Party(actor.Student).Request.DeliveryFailed, p.Party(actor.Student).Request.FailedChannels = true, []message.Channel{"sms"}
		})
		cancelled = playerWith(func(p *approval.Player) { p.Party(actor.Student).Request.State = approval.RequestCancelled })
		nameless  = playerWith(func(p *approval.Player) { p.CoachName = "" })
		strict    = testRules
		history   = []approval.Record{
			{ID: recordID, PlayerID: playerID, Party: actor.Guardian, GuardianID: guardianID, ApproverID: parentID, Action: approval.Approve, Via: actor.ViaPage, Reason: "Of course.\nHe loves it.", RequestID: guardianRequestID, At: requestedAt.Add(3 * time.Hour), Wording: approval.Wording{CoachName: "Asha Rao", StudentName: "Kabir Mehta", Batch: "U12 Evening", Language: "en", Version: 2}},
			{ID: studentRequestID, PlayerID: playerID, Party: actor.Student, ApproverID: childID, Action: approval.Reject, Via: actor.ViaChat, At: requestedAt.Add(4 * time.Hour)},
		}
		waiting = approval.PendingItem{
			PlayerID: playerID, StudentName: "Kabir Mehta", Party: actor.Student, ApproverName: "Kabir Mehta",
			PendingSince: requestedAt, Reason: approval.PendingResent, HasNumber: true, Request: fixturePlayer().Party(actor.Student).Request, Reminders: 1,
		}
		blocked       = approval.PendingItem{PlayerID: playerID, StudentName: "Kabir Mehta", Party: actor.Student, ApproverName: "Kabir Mehta", PendingSince: requestedAt, Reminders: 3}
		cancelledItem = approval.PendingItem{PlayerID: playerID, StudentName: "Kabir Mehta", Party: actor.Guardian, GuardianID: guardianID, ApproverName: "Meera Mehta", PendingSince: testNow, HasNumber: true, Request: cancelled.Party(actor.Student).Request}
	)
	strict.GuardianBelow = 18
	revokedStrictly := playerWith(func(p *approval.Player) {
		p.Party(actor.Guardian).Consent.State, p.Party(actor.Student).Consent.State = approval.Revoked, approval.Approved
	})
	tests := map[string]struct {
		schema   string
		response any
	}{
		"player_coach":              {"Player", coach.Player(fixturePlayer())},
		"player_coach_adult":        {"Player", coach.Player(adult)},
		"player_coach_revoked":      {"Player", coach.Player(revoked)},
		"player_coach_cancelled":    {"Player", coach.Player(cancelled)},
		"player_coach_strict":       {"Player", consent.NewView(coachActor, strict, testNow).Player(revokedStrictly)},
		"player_guardian_approved":  {"Player", guardian.Player(fixturePlayer())},
		"player_guardian_revoked":   {"PlayerForParty", guardian.Player(revoked)},
		"player_student_pending":    {"PlayerForParty", student.Player(fixturePlayer())},
		"player_student_nameless":   {"PlayerForParty", student.Player(nameless)},
		"player_student_minor":      {"Player", student.Player(bothApproved)},
		"player_student_adult":      {"Player", student.Player(adult)},
		"my_player_guardian":        {"MyPlayer", guardian.MyPlayer(fixturePlayer())},
		"my_player_student":         {"MyPlayer", student.MyPlayer(fixturePlayer())},
		"request_open":              {"Request", coach.Request(fixturePlayer().Party(actor.Student).Request)},
		"request_failed":            {"Request", coach.Request(failed.Party(actor.Student).Request)},
		"request_closed":            {"Request", coach.Request(fixturePlayer().Party(actor.Guardian).Request)},
		"request_other_party":       {"Request", guardian.Request(fixturePlayer().Party(actor.Student).Request)},
		"reminder":                  {"ReminderSent", coach.Reminder(fixturePlayer().Party(actor.Student).Request, 1)},
		"status":                    {"ApprovalStatus", coach.Status(fixturePlayer(), history)},
		"status_adult_no_decisions": {"ApprovalStatus", student.Status(adult, nil)},
		"pending":                   {"PendingApproval", coach.Pending(waiting)},
		"pending_no_number":         {"PendingApproval", coach.Pending(blocked)},
		"pending_cancelled":         {"PendingApproval", coach.Pending(cancelledItem)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(tt.response, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			checkSchema(t, tt.schema, got)
			compareGolden(t, name+".json", append(got, '\n'))
		})
	}
}

func TestAvailabilityResponse(t *testing.T) {
	for _, a := range []approval.Availability{
		{PlayerID: playerID},
		{PlayerID: playerID, GuardianApp: true},
		{PlayerID: playerID, StudentApp: true, HasChat: true},
		{PlayerID: playerID, GuardianApp: true, StudentApp: true},
	} {
		a.HasGuardian, a.HasStudentNumber = true, true
		got, err := json.Marshal(consent.Availability(a))
		if err != nil {
			t.Fatal(err)
		}
		checkSchema(t, "Availability", got)
		var response struct {
			PlayerID string `json:"player_id"`
			Chat     bool   `json:"chat_available"`
			Guardian bool   `json:"guardian_app_enabled"`
			Student  bool   `json:"student_app_enabled"`
			Services []struct {
				Service           string
				Guardian, Student bool
			}
		}
		if err := json.Unmarshal(got, &response); err != nil {
			t.Fatal(err)
		}
		if response.PlayerID != a.PlayerID || response.Guardian != a.GuardianApp || response.Student != a.StudentApp || response.Chat != a.HasChat {
			t.Errorf("%+v: %s", a, got)
		}
		for i, s := range response.Services {
			immediate := i < len(approval.Immediate)
			if s.Guardian != (immediate || a.GuardianApp) || s.Student != (immediate || a.StudentApp) {
				t.Errorf("%+v: service %+v", a, s)
			}
		}
	}
}

// checkSchema validates a response against its schema in the OpenAPI document.
func checkSchema(t *testing.T, schema string, response []byte) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	const at = "https://touchline.test/openapi.json"
	raw, err := api.Document()
	if err == nil {
		raw, err = openapitest.Strict(raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource(at, doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(at + "#/components/schemas/" + schema)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(response))
	if err != nil {
		t.Fatalf("%v: %s", err, response)
	}
	if err := compiled.Validate(value); err != nil {
		t.Errorf("%v\n%s", err, response)
	}
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "responses", name)
	if *updateResponses {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run with -update-responses and read the difference\n%s", path, got)
	}
}
