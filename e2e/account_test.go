package e2e_test

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestProfile covers the required fields of a profile, clearing fields with a
// patch, and invalid values.
func TestProfile(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.SignIn(t, "coach", coachNumber)
		if got := faultPointers(coach.Call(t, "POST", "/auth/complete-profile", map[string]any{
			"bio": "x", "sports": []string{"Hockey", "hockey"}, "email": "unknown", "certifications": []string{"x"}, "profile_picture": "y", "age": 3,
		}).Want(t, 422, "validation_failed")); !slices.Equal(got, []string{"/age", "/certifications/0", "/email", "/experience_years", "/name", "/profile_picture", "/sports"}) {
			t.Errorf("invalid fields: got %v", got)
		}
		done := coach.Call(t, "POST", "/auth/complete-profile", map[string]any{
			"name": " Asha Rao ", "bio": "I coach.\nEvery day.", "experience_years": 0, "sports": []string{"Hockey"}, "email": "asha@example.com", "certifications": []string{}, "profile_picture": nil,
		}).Want(t, 200)
		if done.String("name") != "Asha Rao" || done.String("profile_complete") != "true" || done.String("experience_years") != "0" {
			t.Errorf("completed profile: got %s", done.Body)
		}
		me := coach.Call(t, "GET", "/api/me", nil).Want(t, 200)
		if me.String("next") != "dashboard" || me.String("name") != "Asha Rao" || me.String("account.id") != coach.ID {
			t.Errorf("/api/me: got %s", me.Body)
		}
		patched := coach.Call(t, "PATCH", "/api/coach/profile", `{"bio":null,"experience_years":3,"email":null}`, "Content-Type: application/merge-patch+json").Want(t, 200)
		if patched.String("email") != "" || patched.String("name") != "Asha Rao" || patched.String("missing") != "[bio]" {
			t.Errorf("patched profile: got %s", patched.Body)
		}
		coach.Call(t, "PATCH", "/api/coach/profile", `{"name":"","sports":[],"experience_years":81}`).Want(t, 422)
		if read := coach.Call(t, "GET", "/api/coach/profile", nil).Want(t, 200); string(read.Body) != string(patched.Body) {
			t.Errorf("profile: got %s, want %s", read.Body, patched.Body)
		}
		for range 2 { // also while another name waits
			coach.Call(t, "PATCH", "/api/coach/profile", `{"name":null}`).Want(t, 422, "validation_failed")
			coach.Call(t, "PATCH", "/api/coach/profile", `{"name":"Wholly Other"}`).Want(t, 202)
		}
		coach.Call(t, "PATCH", "/api/coach/profile", `{"name_pending":null}`).Want(t, 200)
		coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(guardianNumber, "")).Want(t, 403, "profile_incomplete")
	})
}

// faultPointers returns the sorted JSON pointers of a validation_failed problem.
func faultPointers(a *touchlinetest.Response) []string {
	var at []string
	list, _ := a.JSON["errors"].([]any)
	for _, e := range list {
		at = append(at, e.(map[string]any)["pointer"].(string))
	}
	slices.Sort(at)
	return at
}

// TestSessions lists sessions newest first with paging, and ends them one by one.
func TestSessions(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		var last *touchlinetest.User
		for range 3 {
			last = s.SignIn(t, "coach", coachNumber)
			s.Clock.Advance(2 * time.Minute)
		}
		first := last.Call(t, "GET", "/auth/sessions?limit=2", nil).Want(t, 200)
		items := first.Items()
		if len(items) != 2 || items[0]["current"] != true || items[0]["session_id"] != last.Login.String("session_id") || items[0]["device_name"] != "test phone" {
			t.Fatalf("first page: got %s", first.Body)
		}
		rest := last.Call(t, "GET", "/auth/sessions?limit=2&cursor="+first.String("next_cursor"), nil).Want(t, 200)
		if len(rest.Items()) != 1 || rest.JSON["next_cursor"] != nil {
			t.Fatalf("second page: got %s", rest.Body)
		}
		other := s.SignIn(t, "coach", coach2Number)
		other.Call(t, "GET", "/auth/sessions?cursor="+first.String("next_cursor"), nil).Want(t, 422)
		id := items[1]["session_id"].(string)
		other.Call(t, "DELETE", "/auth/sessions/"+id, nil).Want(t, 404)
		last.Call(t, "DELETE", "/auth/sessions/"+id, nil).Want(t, 204)
		last.Call(t, "DELETE", "/auth/sessions/"+id, nil).Want(t, 404)
		s.Call(t, "POST", "/auth/logout", "", map[string]any{"refresh_token": last.Refresh}).Want(t, 204)
		last.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
	})
}

// TestNotifications lists, reads and streams notifications on two replicas. A
// stream resumes after the last event id and ends with its session.
func TestNotifications(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		events := streamIDs(t, coach.On(s.Replica()), "")
		for _, action := range []string{"approved", "revoked"} {
			guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": action}).Want(t, 200)
		}
		approved, revoked := <-events, <-events

		all := coach.Call(t, "GET", "/api/notifications?limit=1", nil).Want(t, 200)
		if all.Items()[0]["id"] != revoked {
			t.Fatalf("first page: got %s, want the newest notification", all.Body)
		}
		more := coach.Call(t, "GET", "/api/notifications?limit=1&cursor="+all.String("next_cursor"), nil).Want(t, 200)
		if more.Items()[0]["id"] != approved {
			t.Fatalf("second page: got %s, want the older notification", more.Body)
		}
		guardian.Call(t, "POST", "/api/notifications/read", map[string]any{"ids": []string{approved}}).Want(t, 200)
		if left := coach.Call(t, "POST", "/api/notifications/read", map[string]any{"ids": []string{approved}}).Want(t, 200); left.String("unread") != "1" {
			t.Errorf("after reading one: got %s, want 1 unread", left.Body)
		}
		if unread := coach.Call(t, "GET", "/api/notifications?unread=true", nil).Want(t, 200).Items(); len(unread) != 1 || unread[0]["id"] != revoked {
			t.Errorf("unread notifications: got %v", unread)
		}
		coach.Call(t, "POST", "/api/notifications/read", map[string]any{"all": true, "ids": []string{approved}}).Want(t, 422)
		coach.Call(t, "POST", "/api/notifications/read", map[string]any{"all": true}).Want(t, 200)

		resumed := streamIDs(t, coach, approved)
		if got := <-resumed; got != revoked {
			t.Errorf("resumed stream: got event %q, want %q", got, revoked)
		}
		coach.Call(t, "POST", "/auth/logout", nil).Want(t, 204)
		for _, ended := range []<-chan string{events, resumed} {
			select {
			case id, open := <-ended:
				if open {
					t.Errorf("got event %s on an ended stream", id)
				}
			case <-time.After(waitLimit):
				t.Error("the stream is still open after its session ended")
			}
		}
	})
}

// streamIDs opens a notification stream and returns a channel of event ids,
// closed when the stream ends.
func streamIDs(t *testing.T, p *touchlinetest.User, last string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Service.URL+"/api/notifications/stream", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.Access)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("open stream: got status %s", resp.Status)
	}
	lines, ids := bufio.NewScanner(resp.Body), make(chan string, 16)
	lines.Scan() // the retry line: the server has registered the stream
	go func() {
		defer close(ids)
		defer func() { _ = resp.Body.Close() }()
		for lines.Scan() {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				ids <- id
			}
		}
	}()
	return ids
}
