package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// withTiers configures a tiers file with this text.
func withTiers(t *testing.T, text string) touchlinetest.Option {
	path := filepath.Join(t.TempDir(), "tiers.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(c *config.Config) { c.Tiers = path }
}

// smallTiers have limits that a test can reach.
const smallTiers = `{"tiers": [
	{"name": "small", "title": "Small", "self_service": true, "limits": {"players": 3, "messages_per_day": 2}, "shows": ["name"]},
	{"name": "large", "title": "Large", "self_service": true, "limits": {"players": 5, "messages_per_day": 4}, "shows": ["name", "bio"]},
	{"name": "staff", "title": "Staff"}
]}`

func tierUse(t *testing.T, coach *touchlinetest.User) map[string]any {
	t.Helper()
	a := coach.Call(t, "GET", "/api/coach/subscription", nil).Want(t, 200)
	return a.JSON["use"].(map[string]any)
}

func TestTiers(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.SignIn(t, "coach", coachNumber) // without a complete profile
		a := coach.Call(t, "GET", "/api/subscription-tiers", nil).Want(t, 200)
		var names []any
		for _, item := range a.Items() {
			names = append(names, item["name"])
		}
		if diff := cmp.Diff([]any{"free", "pro", "academy"}, names); diff != "" || a.JSON["next_cursor"] != nil {
			t.Error(diff, a.JSON["next_cursor"])
		}
		two := coach.Call(t, "GET", "/api/subscription-tiers?limit=2", nil).Want(t, 200)
		rest := coach.Call(t, "GET", "/api/subscription-tiers?cursor="+two.String("next_cursor"), nil).Want(t, 200)
		if items := rest.Items(); len(two.Items()) != 2 || len(items) != 1 || items[0]["name"] != "academy" || rest.JSON["next_cursor"] != nil {
			t.Errorf("pages: got %s and %s", two.Body, rest.Body)
		}
		coach.Call(t, "GET", "/api/subscription-tiers?limit=0", nil).Want(t, 422, "validation_failed")
		first := coach.Call(t, "GET", "/api/coach/subscription", nil).Want(t, 200)
		want := map[string]any{"players": 0.0, "storage_bytes": 0.0, "messages_today": 0.0}
		if diff := cmp.Diff(want, first.JSON["use"]); diff != "" || first.String("tier") != "free" || first.String("details.title") != "Free" {
			t.Error(diff, string(first.Body))
		}
		profile := coach.Call(t, "GET", "/api/coach/profile", nil).Want(t, 200)
		if first.String("since") != profile.String("created_at") || profile.String("tier") != "free" || profile.String("kyc_state") != "disabled" {
			t.Errorf("got %s, %s", first.Body, profile.Body)
		}
		choose := func(tier any) *touchlinetest.Response {
			return coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": tier})
		}
		if same := choose("free").Want(t, 200); string(same.Body) != string(first.Body) {
			t.Errorf("same tier: got %s, want %s", same.Body, first.Body)
		}
		for _, unknown := range []any{"gold", "Free", 7, nil} {
			if a := choose(unknown).Want(t, 422, "validation_failed"); faultPointers(a)[0] != "/tier" {
				t.Errorf("%v: got %s", unknown, a.Body)
			}
		}
		for range 2 {
			if a := choose("academy").Want(t, 202); a.String("requested_tier") != "academy" || a.String("tier") != "free" || a.String("since") != first.String("since") {
				t.Errorf("requested tier: got %s", a.Body)
			}
		}
		if same := choose("free").Want(t, 200); string(same.Body) != string(first.Body) {
			t.Errorf("withdrawn request: got %s, want %s", same.Body, first.Body)
		}
		s.Clock.Advance(time.Minute)
		choose("pro").Want(t, 202)
		op := s.Operator(t, operator.Coaches)
		path := "/api/admin/coaches/" + coach.ID
		if a := op.Call(t, "GET", path, nil).Want(t, 200); a.String("requested_tier") != "pro" || a.String("tier") != "free" {
			t.Errorf("operator's view: got %s", a.Body)
		}
		op.Call(t, "PUT", path+"/tier", object{"tier": "free"}).Want(t, 200)
		if a := coach.Call(t, "GET", "/api/coach/subscription", nil).Want(t, 200); a.JSON["requested_tier"] != nil || a.String("tier") != "free" {
			t.Errorf("refused request: got %s", a.Body)
		}
		choose("pro").Want(t, 202)
		op.Call(t, "PUT", path+"/tier", object{"tier": "pro"}).Want(t, 200)
		pro := coach.Call(t, "GET", "/api/coach/subscription", nil).Want(t, 200)
		if pro.String("tier") != "pro" || pro.JSON["requested_tier"] != nil || pro.String("since") == first.String("since") || pro.String("details.limits.players") != "1000" {
			t.Errorf("granted request: got %s", pro.Body)
		}
		s.Clock.Advance(time.Minute)
		if again := choose("pro").Want(t, 200); string(again.Body) != string(pro.Body) {
			t.Errorf("current tier: got %s, want %s", again.Body, pro.Body)
		}
		if p := coach.Call(t, "GET", "/api/coach/profile", nil).Want(t, 200); p.String("tier") != "pro" {
			t.Errorf("profile: got %s", p.Body)
		}
		choose("free").Want(t, 200)
		s.Coach(t, coach2Number).AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		guardian := s.SignIn(t, "guardian", guardianNumber)
		for _, path := range []string{"/api/subscription-tiers", "/api/coach/subscription"} {
			guardian.Call(t, "GET", path, nil).Want(t, 403, "role_not_allowed")
			s.Call(t, "GET", path, "", nil).Want(t, 401, "token_missing")
		}
	})
}

// TestTiersFromFile: a tier missing from the file counts as the first tier until
// it is back. A coach over a limit keeps everything and can add nothing.
func TestTiersFromFile(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		var ids []string
		add := func(i int) *touchlinetest.Response {
			return coach.Call(t, "POST", "/api/players/add", child(i, fmt.Sprintf("+9198124%05d", i)))
		}
		for i := range 3 {
			ids = append(ids, add(i).Want(t, 201).String("player_id"))
		}
		full := add(3).Want(t, 403, "tier_limit")
		for name, want := range map[string]string{"limit": "players", "limit_value": "3", "use": "3", "tier": "small", "needed_tier": "large"} {
			if full.String(name) != want {
				t.Errorf("%s: got %s, want %s", name, full.String(name), want)
			}
		}
		if n := tierUse(t, coach)["players"]; n != 3.0 {
			t.Errorf("got %v players after a refused one", n)
		}
		if n := len(coach.Call(t, "GET", "/api/players", nil).Items()); n != 3 {
			t.Errorf("got %d players", n)
		}
		// A duplicate player is reported before a full tier.
		if a := add(0).Want(t, 409, "player_exists"); a.String("player_id") != ids[0] {
			t.Errorf("got %s", a.Body)
		}
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "large"}).Want(t, 200)
		for i := 3; i < 5; i++ {
			ids = append(ids, add(i).Want(t, 201).String("player_id"))
		}
		if a := add(5).Want(t, 403, "tier_limit"); a.JSON["needed_tier"] != "staff" {
			t.Errorf("got %s", a.Body)
		}
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "small"}).Want(t, 200)
		if n := len(coach.Call(t, "GET", "/api/players", nil).Items()); n != 5 || tierUse(t, coach)["players"] != 5.0 {
			t.Errorf("got %d players after the downgrade", n)
		}
		coach.Call(t, "PATCH", "/api/players/"+ids[4], object{"student": object{"full_name": "Another Name"}}).Want(t, 200)
		for _, id := range ids[:2] {
			coach.Call(t, "DELETE", "/api/players/"+id, nil).Want(t, 204)
			coach.Call(t, "DELETE", "/api/players/"+id, nil).Want(t, 404)
			add(6).Want(t, 403, "tier_limit")
		}
		coach.Call(t, "DELETE", "/api/players/"+ids[2], nil).Want(t, 204)
		add(6).Want(t, 201)
		add(7).Want(t, 403, "tier_limit")
		// A replica with another tiers file does not know the coach's tier.
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "large"}).Want(t, 200)
		s.Config.Tiers = config.BuiltIn
		if a := coach.On(s.Replica()).Call(t, "GET", "/api/coach/subscription", nil).Want(t, 200); a.String("tier") != "free" {
			t.Errorf("got %s", a.Body)
		}
		if a := coach.Call(t, "GET", "/api/coach/subscription", nil).Want(t, 200); a.String("tier") != "large" {
			t.Errorf("got %s", a.Body)
		}
	}, withTiers(t, smallTiers))
}

// TestConcurrentAddsRespectPlayerLimit: of many concurrent adds, exactly as many
// succeed as the tier allows.
func TestConcurrentAddsRespectPlayerLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "large"}).Want(t, 200)
		var added, refused atomic.Int32
		var adds sync.WaitGroup
		for i := range 50 {
			adds.Go(func() {
				body := child(i, fmt.Sprintf("+9198124%05d", i))
				a, err := s.Do(context.Background(), "POST", "/api/players/add", coach.Access, body, "Idempotency-Key: "+fmt.Sprint("add-", i))
				switch {
				case err != nil:
					t.Error(err)
				case a.Status == 201:
					added.Add(1)
				case a.Status == 403 && a.Code() == "tier_limit" && a.String("use") == "5":
					refused.Add(1)
				default:
					t.Errorf("got %d %s", a.Status, a.Body)
				}
			})
		}
		adds.Wait()
		players := len(coach.Call(t, "GET", "/api/players", nil).Items())
		if added.Load() != 5 || refused.Load() != 45 || players != 5 || tierUse(t, coach)["players"] != 5.0 {
			t.Errorf("got %d added, %d refused, %d players, usage %v", added.Load(), refused.Load(), players, tierUse(t, coach))
		}
	}, withTiers(t, smallTiers), touchlinetest.ManyConnections)
}

// TestExplicitSendIsHeld: a message beyond the limit is held, also if the coach asked for
// it and whatever the tier, and is sent later.
func TestExplicitSendIsHeld(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, child(1, guardianNumber))
		s.SMS(guardianNumber, "message", 0)
		if n := tierUse(t, coach)["messages_today"]; n != 0.0 {
			t.Errorf("%v approval messages count for the tier", n)
		}
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "large"}).Want(t, 200)
		coach.Call(t, "POST", "/api/approval/send-reminder", object{"player_id": player.String("player_id"), "approver_type": "guardian"}).Want(t, 202)
		waitForHeld(t, coach, player.String("guardian_request_id"), heldByCoach)
		s.Clock.Advance(day + time.Minute)
		s.SMS(guardianNumber, "message", 1)
	}, withTiers(t, smallTiers), func(c *config.Config) { c.MessagesPerCoach = 1 })
}
