package e2e_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/touchlinetest"
)

// featureTiers: players are in every tier, documents and the directory in the second one.
const featureTiers = `{"tiers": [
	{"name": "bare", "title": "Bare", "self_service": true, "features": ["roster", "in_app_notifications"], "shows": ["name"]},
	{"name": "full", "title": "Full", "self_service": true, "shows": ["name"]}
]}`

// TestTierFeatures: a feature gates its calls, and an app service that the tier does not
// have is off whatever the parties approved.
func TestTierFeatures(t *testing.T) {
	t.Parallel()
	touchlinetest.EachDatabase(t, func(t *testing.T, url string) {
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
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "full"}).Want(t, 200)
		wantFeeReminders(true, "")
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
	})
}
