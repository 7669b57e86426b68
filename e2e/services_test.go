package e2e_test

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestServiceAvailability: a service reads the same availability as the coach, of one
// player, of many, and of those that name a number.
func TestServiceAvailability(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		service, byNumber, auditor := s.Operator(t, operator.AvailabilityScope), s.Operator(t, operator.AvailabilityByNumber), s.Operator(t, operator.Audit)
		coach := s.Coach(t, coachNumber)
		first := coach.AddPlayer(t, touchlinetest.Minor("+919812300011", "+919812300021")).String("player_id")
		other := s.Coach(t, "+919812300002")
		second := other.AddPlayer(t, touchlinetest.Minor("+919812300011", "+919812300022")).String("player_id")
		guardian := s.SignIn(t, "guardian", "+919812300011")
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": first, "action": "approved"}).Want(t, 200)

		got := service.Call(t, "GET", "/api/services/availability/"+first, nil).Want(t, 200)
		want := coach.Call(t, "GET", "/api/services/availability/"+first, nil).Want(t, 200)
		if sequence := got.JSON["sequence"]; sequence != 3.0 { // two pending, one approved
			t.Errorf("got sequence %v, want 3", sequence)
		}
		delete(got.JSON, "sequence")
		if !reflect.DeepEqual(got.JSON, want.JSON) {
			t.Errorf("got %s, the coach reads %s", got.Body, want.Body)
		}

		query := func(o *touchlinetest.Operator, body any) []string {
			t.Helper()
			a := o.Call(t, "POST", "/api/services/availability/query", body).Want(t, 200)
			for _, private := range []string{"98123", "name", "Mehta"} {
				if strings.Contains(string(a.Body), private) {
					t.Errorf("the response contains %q: %s", private, a.Body)
				}
			}
			var ids []string
			for _, item := range a.Items() {
				ids = append(ids, item["player_id"].(string))
			}
			return ids
		}
		unknown := "0198f2c4-5e00-7b11-8f3a-2d6c4e8b9a01"
		if ids := query(service, map[string]any{"player_ids": []string{second, unknown, first}}); !slices.Equal(ids, []string{second, first}) {
			t.Errorf("by id: got %v", ids)
		}
		number := map[string]any{"mobile_number": "098123 00011", "role": "guardian"}
		if ids := query(byNumber, number); !slices.Equal(ids, []string{second, first}) {
			t.Errorf("by number: got %v", ids)
		}
		if ids := query(byNumber, map[string]any{"mobile_number": "+919812300011", "role": "student"}); len(ids) != 0 {
			t.Errorf("as a student: got %v", ids)
		}
		entries := auditor.Call(t, "GET", "/api/admin/audit", nil).Want(t, 200)
		if !strings.Contains(string(entries.Body), `"availability.by_number"`) || strings.Contains(string(entries.Body), "98123") {
			t.Errorf("got audit log %s", entries.Body)
		}

		const path = "/api/services/availability/query"
		service.Call(t, "POST", path, number).Want(t, 403, "insufficient_scope")
		byNumber.Call(t, "POST", path, map[string]any{"player_ids": []string{first}}).Want(t, 403, "insufficient_scope")
		auditor.Call(t, "POST", path, number).Want(t, 403, "insufficient_scope")
		byNumber.Call(t, "GET", "/api/services/availability/"+first, nil).Want(t, 403, "insufficient_scope")
		for _, tt := range []struct {
			body map[string]any
			want string // the only pointer
		}{
			{map[string]any{}, ""},
			{map[string]any{"player_ids": []string{}}, "/player_ids"},
			{map[string]any{"player_ids": []string{"x"}}, "/player_ids/0"},
			{map[string]any{"player_ids": slices.Repeat([]string{first}, 201)}, "/player_ids"},
		} {
			if a := service.Call(t, "POST", path, tt.body).Want(t, 422, "validation_failed"); !slices.Equal(faultPointers(a), []string{tt.want}) {
				t.Errorf("got faults %v, want one at %q", faultPointers(a), tt.want)
			}
		}
		for _, body := range []map[string]any{
			{"mobile_number": "+919812300011"},
			{"role": "guardian"},
			{"mobile_number": "+919812300011", "role": "coach"},
			{"mobile_number": "12", "role": "guardian"},
			{"player_ids": []string{first}, "mobile_number": "+919812300011", "role": "guardian"},
		} {
			byNumber.Call(t, "POST", path, body).Want(t, 422, "validation_failed")
		}

		coach.Call(t, "DELETE", "/api/players/"+first, nil).Want(t, 204)
		service.Call(t, "GET", "/api/services/availability/"+first, nil).Want(t, 404, "not_found")
		if ids := query(service, map[string]any{"player_ids": []string{first, second}}); !slices.Equal(ids, []string{second}) {
			t.Errorf("after the removal: got %v", ids)
		}
	})
}

// TestChangeFeed: a service follows the feed with its cursor, also with another token. A
// call that waits returns with the change.
func TestChangeFeed(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		service, other := s.Operator(t, operator.AvailabilityScope), s.Operator(t, operator.AvailabilityScope)
		const path = "/api/services/changes"
		read := func(o *touchlinetest.Operator, query string) ([]string, string) {
			t.Helper()
			a := o.Call(t, "GET", path+query, nil).Want(t, 200)
			var rows []string
			for _, c := range a.Items() {
				rows = append(rows, fmt.Sprint(c["player_id"], " ", c["sequence"], " ", c["type"], " ", c["party"], " ", c["guardian_status"], "/", c["student_status"]))
			}
			return rows, a.String("next_cursor")
		}
		rows, start := read(service, "")
		if len(rows) != 0 {
			t.Errorf("an empty feed has %q", rows)
		}
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor("+919812300011", "+919812300021")).String("player_id")
		guardian := s.SignIn(t, "guardian", "+919812300011")
		decide := func(action string) {
			t.Helper()
			guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": action}).Want(t, 200)
		}
		decide("approved")
		first, next := read(service, "?limit=2&cursor="+start)
		rest, end := read(other, "?cursor="+next)
		want := []string{
			id + " 1 pending guardian pending/pending", id + " 2 pending student pending/pending", id + " 3 approved guardian approved/pending",
		}
		if got := slices.Concat(first, rest); len(first) != 2 || !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}

		type page struct {
			rows []string
			next string
		}
		waited := make(chan page)
		go func() {
			rows, next := read(service, "?wait=30&cursor="+end)
			waited <- page{rows, next}
		}()
		time.Sleep(100 * time.Millisecond) // the call waits by then, mostly; the test holds for both orders
		decide("revoked")
		got := <-waited
		if !slices.Equal(got.rows, []string{id + " 4 revoked guardian rejected/pending"}) {
			t.Errorf("after the wait: got %q", got.rows)
		}
		begun := time.Now()
		if rows, _ := read(service, "?wait=1&cursor="+got.next); len(rows) != 0 || time.Since(begun) < 500*time.Millisecond {
			t.Errorf("a wait without a change returned %q after %s", rows, time.Since(begun))
		}

		service.Call(t, "GET", path+"?cursor=x", nil).Want(t, 422, "validation_failed")
		if rows, _ := read(service, "?cursor=&limit=1"); len(rows) != 1 {
			t.Errorf("an empty cursor: got %q, want the first change", rows)
		}
		service.Call(t, "GET", path+"?wait=99999999999", nil).Want(t, 200) // as 30
		service.Call(t, "GET", path+"?wait=soon", nil).Want(t, 422, "validation_failed")
		s.Operator(t, operator.AvailabilityByNumber).Call(t, "GET", path, nil).Want(t, 403, "insufficient_scope")
		s.Clock.Advance(feed.ChangesKept + time.Second)
		s.Operator(t, operator.AvailabilityScope).Call(t, "GET", path+"?cursor="+got.next, nil).Want(t, 410, "cursor_expired")
	})
}

// TestChangeFeedWakes: a commit wakes a call that waits, also in another replica on
// PostgreSQL. No ticker ticks here, so no poll can find the change.
func TestChangeFeedWakes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		s := touchlinetest.NewWith(t, url, func(o *server.Options) {
			o.NewTicker = func(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }
		})
		service, coach := s.Operator(t, operator.AvailabilityScope), s.Coach(t, coachNumber)
		writers := []*touchlinetest.User{coach}
		if strings.HasPrefix(url, "postgres") {
			writers = append(writers, coach.On(s.Replica()))
		}
		for i, writer := range writers {
			end := service.Call(t, "GET", "/api/services/changes", nil).Want(t, 200).String("next_cursor")
			waited := make(chan *touchlinetest.Response, 1)
			go func() {
				resp, _ := s.AdminDo(context.Background(), "GET", "/api/services/changes?wait=30&cursor="+end, service.Token, nil)
				waited <- resp
			}()
			for added := 0; ; added++ { // the call may not be waiting yet, or the replica not listening
				writer.AddPlayer(t, child(10*i+added, fmt.Sprintf("+9198123000%d", 20+added))).Want(t, 201)
				select {
				case resp := <-waited:
					if resp == nil || resp.Status != 200 || len(resp.Items()) == 0 {
						t.Fatalf("writer %d: got %v", i, resp)
					}
				case <-time.After(3 * time.Second):
					if added < 8 {
						continue
					}
					t.Fatalf("writer %d: no commit woke the call", i)
				}
				break
			}
		}
	})
}

// TestChangeFeedAtShutdown: a shutdown does not wait for a call that waits.
func TestChangeFeedAtShutdown(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		service := s.Operator(t, operator.AvailabilityScope)
		done, sent := make(chan *touchlinetest.Response), make(chan struct{}, 9) // the client may try again
		go func() {
			ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent <- struct{}{} }})
			resp, err := s.AdminDo(ctx, "GET", "/api/services/changes?wait=30", service.Token, nil)
			if err != nil {
				t.Error(err)
			}
			done <- resp
		}()
		<-sent
		time.Sleep(200 * time.Millisecond) // the handler reads the feed
		begun := time.Now()
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		if resp := <-done; resp == nil || resp.Status != 200 || time.Since(begun) > 20*time.Second {
			t.Errorf("got %v after %s", resp, time.Since(begun))
		}
	})
}
