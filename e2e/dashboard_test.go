package e2e_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// getDashboard reads the dashboard, with new tokens if the test clock expired the
// old ones.
func getDashboard(t *testing.T, p *touchlinetest.User) *touchlinetest.Response {
	t.Helper()
	a := p.Call(t, "GET", "/api/coach/dashboard", nil)
	if a.Status == 401 {
		*p = *renewTokens(t, p)
		a = p.Call(t, "GET", "/api/coach/dashboard", nil)
	}
	return a.Want(t, 200)
}

// wantValues fails the test unless the dashboard has these values by path.
func wantValues(t *testing.T, when string, a *touchlinetest.Response, want map[string]string) {
	t.Helper()
	for path, value := range want {
		if got := a.String(path); got != value {
			t.Errorf("%s: %s = %q, want %q", when, path, got, value)
		}
	}
}

// attentionKinds returns the kinds of the attention list in order.
func attentionKinds(a *touchlinetest.Response) []string {
	var kinds []string
	list, _ := a.JSON["attention"].([]any)
	for _, item := range list {
		kinds = append(kinds, item.(map[string]any)["kind"].(string))
	}
	return kinds
}

// TestDashboard: every count follows the coach's actions and the clock.
func TestDashboard(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.SignIn(t, "coach", coachNumber)
		wantValues(t, "new", getDashboard(t, coach), map[string]string{
			"profile.complete": "false", "kyc.state": "disabled", "profile.missing": "[name bio experience_years sports]", "players.total": "0",
			"pending_approvals.total": "0", "pending_approvals.oldest_days": "", "follow_up.target_in": "172800",
			"follow_up.share": "", "attention_counts.profile_incomplete": "1", "unread_notifications": "0", "batches": "[]", "attendance_today": "[]",
		})
		coach = s.Coach(t, "+919812300002")
		other := s.Coach(t, "+919812300003") // its players must not count for the first coach
		other.AddPlayer(t, child(9, "+919812300039"))
		if a := getDashboard(t, coach); len(attentionKinds(a)) != 0 || a.String("profile.complete") != "true" {
			t.Errorf("complete profile: got %s", a.Body)
		}
		first := coach.AddPlayer(t, child(1, "+919812300031"))
		second := coach.AddPlayer(t, child(2, "+919812300032"))
		third := coach.AddPlayer(t, child(3, "+919812300033"))
		guardian := s.SignIn(t, "guardian", "+919812300031")
		decide := func(what string) {
			t.Helper()
			guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": first.String("player_id"), "action": what}).Want(t, 200)
		}
		decide("approved")
		wantValues(t, "approved", getDashboard(t, coach), map[string]string{
			"players.total": "3", "players.guardian.approved": "1", "players.guardian.pending": "2", "players.student.pending": "3",
			"pending_approvals.total": "5", "pending_approvals.under_48h": "5", "pending_approvals.over_48h": "0", "pending_approvals.oldest_days": "0",
			"unread_notifications": "1", "follow_up.overdue": "0", "follow_up.reached_target": "0",
		})
		decide("revoked")
		if a := getDashboard(t, coach); a.String("players.guardian.revoked") != "1" || !slices.Equal(attentionKinds(a), []string{"revoked"}) {
			t.Errorf("revoked: got %s", a.Body)
		}

		s.Clock.Advance(24 * time.Hour)
		coach = renewTokens(t, coach)
		remind := map[string]any{"player_id": second.String("player_id"), "approver_type": "guardian"}
		coach.Call(t, "POST", "/api/approval/send-reminder", remind).Want(t, 202)
		s.Clock.Advance(23 * time.Hour)
		wantValues(t, "47 h", getDashboard(t, coach), map[string]string{
			"pending_approvals.over_48h": "0", "pending_approvals.oldest_days": "1", "follow_up.overdue": "0", "follow_up.reached_target": "0",
		})
		s.Clock.Advance(2 * time.Hour)
		wantValues(t, "49 h", getDashboard(t, coach), map[string]string{
			"pending_approvals.over_48h": "5", "pending_approvals.under_48h": "0", "pending_approvals.over_3_days": "0", "pending_approvals.oldest_days": "2",
			"follow_up.overdue": "1", "follow_up.reached_target": "2", "follow_up.followed_up": "1", "follow_up.share": "0.5",
		})
		renewTokens(t, coach).Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": third.String("player_id")}).Want(t, 200)
		wantValues(t, "sent again, late", getDashboard(t, coach), map[string]string{
			"follow_up.overdue": "0", "follow_up.reached_target": "2", "follow_up.followed_up": "1",
		})
		s.Clock.Advance(24 * time.Hour)
		wantValues(t, "73 h", getDashboard(t, coach), map[string]string{"pending_approvals.over_3_days": "5", "pending_approvals.oldest_days": "3"})
		s.Clock.Advance(31 * 24 * time.Hour)
		coach = s.SignIn(t, "coach", coach.Number)
		wantValues(t, "a month on", getDashboard(t, coach), map[string]string{"follow_up.overdue": "0", "follow_up.reached_target": "0", "follow_up.share": ""})
	})
}

// TestDashboardAttention: items that need attention are listed, newest first, until
// they are resolved.
func TestDashboardAttention(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		refused := coach.AddPlayer(t, child(1, "+919812300041"))
		disputed := coach.AddPlayer(t, child(2, "+919812300042"))
		unsent := coach.AddPlayer(t, child(3, "+61412345678")) // a country that is not served
		guardian := s.SignIn(t, "guardian", "+919812300041")
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": refused.String("player_id"), "action": "rejected"}).Want(t, 200)
		disputer := s.SignIn(t, "guardian", "+919812300042")
		disputer.Call(t, "POST", "/api/approval/requests/"+disputed.String("guardian_request_id")+"/dispute", nil).Want(t, 200)
		coach.Call(t, "PATCH", "/api/coach/profile", map[string]any{"bio": nil}).Want(t, 200)
		a := getDashboard(t, coach)
		if got := attentionKinds(a); !slices.Equal(got, []string{"profile_incomplete", "disputed", "rejected", "delivery_failed"}) {
			t.Fatalf("attention list: got %v", got)
		}
		wantValues(t, "all", a, map[string]string{
			"attention_counts.disputed": "1", "attention_counts.rejected": "1", "attention_counts.delivery_failed": "1", "attention_counts.profile_incomplete": "1",
			"profile.missing": "[bio]",
		})
		item := a.JSON["attention"].([]any)[3].(map[string]any)
		if item["player_id"] != unsent.String("player_id") || item["request_id"] != unsent.String("guardian_request_id") || item["student_name"] != "Asha Rao 3" || item["approver_type"] != "guardian" {
			t.Errorf("failed delivery: got %v", item)
		}
		coach.Call(t, "PATCH", "/api/coach/profile", map[string]any{"bio": "Back."}).Want(t, 200)
		correct := func(player *touchlinetest.Response, number string) {
			t.Helper()
			coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{
				"player_id": player.String("player_id"), "guardian": map[string]any{"mobile_number": number},
			}).Want(t, 201)
		}
		correct(unsent, "+919812300043")
		correct(disputed, "+919812300044")
		coach.Call(t, "DELETE", "/api/players/"+refused.String("player_id"), nil).Want(t, 204)
		if a := getDashboard(t, coach); len(attentionKinds(a)) != 0 || a.String("players.total") != "2" {
			t.Errorf("all resolved: got %s", a.Body)
		}
		guardian.Call(t, "GET", "/api/coach/dashboard", nil).Want(t, 403, "role_not_allowed")

		repeated := coach.AddPlayer(t, child(5, "+919812300045"))
		s.SMS("+919812300045", "message", 0)
		coach.Call(t, "POST", "/api/approval/requests/"+repeated.String("guardian_request_id")+"/cancel", nil).Want(t, 200)
		held := coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": repeated.String("player_id")}).Want(t, 201)
		a = getDashboard(t, coach)
		if got := attentionKinds(a); !slices.Equal(got, []string{"message_limit"}) || a.String("attention_counts.message_limit") != "1" ||
			a.JSON["attention"].([]any)[0].(map[string]any)["request_id"] != held.String("request_id") {
			t.Errorf("held message: got %s", a.Body)
		}
	}, func(c *config.Config) { c.Countries = []string{"IN"} })
}

// TestDashboardDocumentsAndTier covers expiring certificates, tier usage and KYC.
func TestDashboardDocumentsAndTier(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		day := func(n int) string { return s.Clock.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
		soon := coach.Upload(t, "certification", "First aid.pdf", touchlinetest.PDF(1000, 1), "expires_on", day(32)).Want(t, 201)
		coach.Upload(t, "qualification", "Trainer.pdf", touchlinetest.PDF(500, 2), "expires_on", day(400)).Want(t, 201)
		coach.Upload(t, "identity", "Card.pdf", touchlinetest.PDF(300, 3)).Want(t, 201)
		coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		s.SMS(guardianNumber, "message", 0)
		// Approval messages do not count for the tier; what the coach writes does.
		coach.Call(t, "POST", "/api/messages", object{"to": object{"all": true}, "audience": "guardian", "text": "Hi", "channels": []string{"sms"}}).Want(t, 201)
		a := getDashboard(t, coach)
		wantValues(t, "at first", a, map[string]string{
			"kyc.state": "not_started", "tier.tier": "free", "tier.use.players": "1", "tier.use.storage_bytes": "1800", "tier.use.messages_today": "1",
			"tier.limits.players": "250", "tier.limits.messages_per_day": "200", "attention_counts.certificate_expiring": "0",
		})
		own := coach.Call(t, "GET", "/api/coach/subscription", nil).Want(t, 200)
		if own.String("use") != a.String("tier.use") || own.String("details.limits") != a.String("tier.limits") {
			t.Errorf("subscription: got %s", own.Body)
		}
		s.Clock.Advance(2 * 24 * time.Hour)
		a = getDashboard(t, coach)
		if got := attentionKinds(a); !slices.Equal(got, []string{"certificate_expiring"}) {
			t.Fatalf("attention list: got %v", got)
		}
		item := a.JSON["attention"].([]any)[0].(map[string]any)
		if item["document_id"] != soon.String("document_id") || item["title"] != "First aid" {
			t.Errorf("expiring certificate: got %v", item)
		}
		wantValues(t, "a day later", getDashboard(t, coach), map[string]string{"attention_counts.certificate_expiring": "1", "tier.use.messages_today": "0"})
		s.Clock.Advance(30 * 24 * time.Hour)
		coach = s.SignIn(t, "coach", coachNumber)
		if got := attentionKinds(getDashboard(t, coach)); !slices.Equal(got, []string{"certificate_expiring"}) {
			t.Errorf("on the last day: got %v", got)
		}
		s.Clock.Advance(24 * time.Hour)
		if got := attentionKinds(getDashboard(t, coach)); !slices.Equal(got, []string{"certificate_expired"}) {
			t.Errorf("after the last day: got %v", got)
		}
		renewTokens(t, coach).Call(t, "DELETE", "/api/coach/documents/"+soon.String("document_id"), nil).Want(t, 200)
		if got := attentionKinds(getDashboard(t, coach)); len(got) != 0 {
			t.Errorf("after the deletion: got %v", got)
		}
	}, func(c *config.Config) { c.KYC = true })
}

// TestDashboardLimitsAttentionList: of 60 rejections, 50 are listed and 60
// counted.
func TestDashboardLimitsAttentionList(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		guardian := (*touchlinetest.User)(nil)
		for i := range 60 {
			id := coach.AddPlayer(t, child(i, guardianNumber)).String("player_id")
			if guardian == nil {
				guardian = s.SignIn(t, "guardian", guardianNumber)
			}
			guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "rejected"}).Want(t, 200)
		}
		a := getDashboard(t, coach)
		if n := len(attentionKinds(a)); n != 50 || a.String("attention_counts.rejected") != "60" {
			t.Errorf("got %d listed and %s counted", n, a.String("attention_counts.rejected"))
		}
		if newest := a.JSON["attention"].([]any)[0].(map[string]any); newest["student_name"] != fmt.Sprint("Asha Rao ", 59) {
			t.Errorf("newest item: got %v", newest)
		}
	})
}
