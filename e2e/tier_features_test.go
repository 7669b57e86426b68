package e2e_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// featureTiers: players are in every tier, documents and the directory in the second one.
const featureTiers = `{"tiers": [
	{"name": "bare", "title": "Bare", "self_service": true, "features": ["roster", "in_app_notifications"], "shows": ["name"]},
	{"name": "full", "title": "Full", "self_service": true, "shows": ["name"]}
]}`

// TestTierFeatures: calls require the features of the tier, and an app service that the tier does not
// have is off whatever the parties approved.
func TestTierFeatures(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url, withTiers(t, featureTiers))
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "approved"}).Want(t, 200)
		wantFeeReminders := func(on bool, reason string) {
			t.Helper()
			for _, path := range []string{"/api/players/", "/api/services/availability/"} {
				for _, by := range []*touchlinetest.User{coach, guardian} {
					list, _ := by.Call(t, "GET", path+id, nil).Want(t, 200).JSON["services"].([]any)
					if len(list) != 11 {
						t.Fatalf("%s: got %d services, want 11", path, len(list))
					}
					for _, row := range list {
						row := row.(map[string]any)
						got, _ := row["reason"].(string)
						switch row["service"] {
						case "fee_reminders":
							if row["guardian"] != on || got != reason {
								t.Errorf("%s: got %v, want guardian %t, reason %q", path, row, on, reason)
							}
						case "in_app_notifications":
							if row["guardian"] != true || got != "" {
								t.Errorf("%s: got %v, want it on", path, row)
							}
						}
					}
				}
			}
		}
		wantFeeReminders(false, "tier")
		refused := coach.Upload(t, "certification", "a.pdf", []byte("%PDF-1.4\n%%EOF\n")).Want(t, 403, "tier_limit")
		if refused.String("limit") != "documents" || refused.String("tier") != "bare" || refused.String("needed_tier") != "full" {
			t.Errorf("upload: got %s", refused.Body)
		}
		refused = coach.Call(t, "PUT", "/api/coach/visibility", object{"visible": true, "show": []string{"name"}}).Want(t, 403, "tier_limit")
		if refused.String("limit") != "directory" || refused.String("needed_tier") != "full" {
			t.Errorf("visibility: got %s", refused.Body)
		}
		service := s.Operator(t, operator.AvailabilityScope)
		feed := "/api/services/changes?cursor=" + service.Call(t, "GET", "/api/services/changes", nil).Want(t, 200).String("next_cursor")
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "full"}).Want(t, 200)
		wantFeeReminders(true, "")
		if got := service.Call(t, "GET", feed, nil).Want(t, 200).Items(); len(got) != 1 || got[0]["type"] != "availability" || got[0]["player_id"] != id || got[0]["guardian_status"] != "approved" {
			t.Errorf("changes after the tier changed: %v", got)
		}
		coach.Call(t, "PUT", "/api/coach/visibility", object{"visible": true, "show": []string{"name"}}).Want(t, 200)

		// Fees stay when the tier loses them; reminders and links to pay end at once.
		coach.Call(t, "PATCH", "/api/coach/profile", object{"upi_id": "meera@okbank"}).Want(t, 200)
		today := s.Clock.Now().UTC().Format(time.DateOnly)
		fee := coach.Call(t, "POST", "/api/fees", object{"player_id": id, "title": "Kit", "amount": 100, "due_on": today}).Want(t, 201).String("fee_id")
		own := "/api/me/players/" + id + "/fees/" + fee
		if got := guardian.Call(t, "GET", own, nil).Want(t, 200); got.String("payment_link.upi_id") != "meera@okbank" {
			t.Errorf("with the feature: got %s", got.Body)
		}
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "bare"}).Want(t, 200)
		coach.Call(t, "POST", "/api/fees", object{"player_id": id, "title": "Kit", "amount": 100, "due_on": today}).Want(t, 403, "tier_limit")
		coach.Call(t, "POST", "/api/fees/"+fee+"/remind", nil).Want(t, 403, "tier_limit")
		coach.Call(t, "POST", "/api/fees/"+fee+"/payments", object{"amount": 1, "method": "upi", "paid_on": today}).Want(t, 201)
		if got := guardian.Call(t, "GET", own, nil).Want(t, 200); got.String("balance") != "99" || got.JSON["payment_link"] != nil {
			t.Errorf("without the feature: got %s", got.Body)
		}
		testTeamFeatures(t, coach, guardian, id, today)
	})
}

// testTeamFeatures: the calls of the coach's day need their features. What exists stays when
// the tier loses them.
func testTeamFeatures(t *testing.T, coach, guardian *touchlinetest.User, player, today string) {
	t.Helper()
	choose := func(tier string) { coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": tier}).Want(t, 200) }
	batch := addBatch(t, coach, "Juniors") // roster is in both tiers
	coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+player, nil).Want(t, 204)
	family, sheet := "/api/me/players/"+player, "/api/batches/"+batch+"/attendance/"+today
	marks := object{"marks": []object{{"player_id": player, "mark": "late"}}}
	calls := []struct {
		method, path, feature string
		body                  object
		lists                 []string // of the coach
		family                string   // what the guardian reads
	}{
		{"PUT", sheet, "attendance", marks, []string{"/api/batches/" + batch + "/attendance", "/api/players/" + player + "/attendance"}, "/attendance"},
		{"POST", "/api/players/" + player + "/progress", "progress_tracking", object{"metric": "m", "value": 1, "on": today}, []string{"/api/players/" + player + "/progress"}, ""},
		{"POST", "/api/players/" + player + "/reports", "performance_reports", object{"title": "T", "text": "x", "from": today, "to": today}, []string{"/api/players/" + player + "/reports"}, ""},
		{"POST", "/api/messages", "sms", newMessage("Hi", []string{"sms"}, player), []string{"/api/messages"}, ""},
		{"POST", "/api/messages", "chat", newMessage("Hi", []string{"chat"}, player), []string{"/api/messages"}, ""},
	}
	for i, c := range calls {
		refused := coach.Call(t, c.method, c.path, c.body).Want(t, 403, "tier_limit")
		if refused.String("limit") != c.feature || refused.String("needed_tier") != "full" {
			t.Errorf("%s %s: %s, want the feature %s", c.method, c.path, refused.Body, c.feature)
		}
		if n := len(coach.Call(t, "GET", c.lists[0], nil).Want(t, 200).Items()); n != 0 && i < 4 {
			t.Errorf("%s has %d entries after a refused call", c.lists[0], n)
		}
		choose("full")
		if got := coach.Call(t, c.method, c.path, c.body); got.Status != 200 && got.Status != 201 {
			t.Errorf("%s %s with the feature: %d %s", c.method, c.path, got.Status, got.Body)
		}
		choose("bare")
		for _, path := range c.lists {
			if len(coach.Call(t, "GET", path, nil).Want(t, 200).Items()) == 0 {
				t.Errorf("%s is empty after the tier lost %s", path, c.feature)
			}
		}
		if c.family != "" && len(guardian.Call(t, "GET", family+c.family, nil).Want(t, 200).Items()) == 0 {
			t.Errorf("the family reads nothing after the tier lost %s", c.feature)
		}
	}
	// The families' app services of the tier are off until it is back.
	for _, path := range []string{"/progress", "/reports", "/messages"} {
		guardian.Call(t, "GET", family+path, nil).Want(t, 403, "tier_limit")
	}
	choose("full")
	for _, path := range []string{"/progress", "/reports"} {
		if len(guardian.Call(t, "GET", family+path, nil).Want(t, 200).Items()) != 1 {
			t.Errorf("%s is empty after the tier has it again", path)
		}
	}
}
