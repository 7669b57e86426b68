package training_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/team"
)

const (
	coachNumber    = "+919812300001"
	otherCoach     = "+919812300002"
	guardianNumber = "+919812300011"
	studentNumber  = "+919812300021"
)

var kolkata = team.Zone("Asia/Kolkata")

// squad is a coach with a batch that trains each day, and a player whose guardian approved.
type squad struct {
	*touchlinetest.Service
	t               *testing.T
	coach, guardian *touchlinetest.User
	batch, player   string
}

func newSquad(t *testing.T, s *touchlinetest.Service) squad {
	t.Helper()
	q := squad{Service: s, t: t, coach: s.Coach(t, coachNumber)}
	var schedule []map[string]any
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		schedule = append(schedule, map[string]any{"weekday": day, "start": "17:30", "end": "19:00"})
	}
	q.batch = q.coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12 Evening", "venue": "North ground", "schedule": schedule}).Want(t, 201).String("batch_id")
	body := touchlinetest.Minor(guardianNumber, studentNumber)
	body["batch_ids"] = []string{q.batch}
	q.player = q.coach.AddPlayer(t, body).String("player_id")
	s.SMS(guardianNumber, "message", 0)
	q.guardian = s.SignIn(t, "guardian", guardianNumber)
	q.decide("approved")
	return q
}

func isPostgres(s *touchlinetest.Service) bool {
	return strings.HasPrefix(s.Config.DatabaseURL.Reveal(), "postgres")
}

func (q squad) decide(action string) {
	q.t.Helper()
	q.guardian.Call(q.t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": q.player, "action": action}).Want(q.t, 200)
}

// day returns the day that is n days after today.
func (q squad) day(n int) team.Date { return team.DateOf(q.Clock.Now(), kolkata).AddDays(n) }

// slot returns the id of the training of the schedule on a day.
func (q squad) slot(n int) string { return q.batch + "." + string(q.day(n)) }

// family is the path of a training for the guardian.
func (q squad) family(id string) string { return "/api/me/players/" + q.player + "/trainings/" + id }

// answer sends an answer of the guardian.
func (q squad) answer(id string, attending bool, reason string) *touchlinetest.Response {
	q.t.Helper()
	body := map[string]any{"attending": attending}
	if reason != "" {
		body["reason"] = reason
	}
	return q.guardian.Call(q.t, "PUT", q.family(id)+"/attending", body)
}

// counts returns the counts of a training as "comes cannot none".
func (q squad) counts(id string) string {
	q.t.Helper()
	a := q.coach.Call(q.t, "GET", "/api/trainings/"+id, nil).Want(q.t, 200)
	return a.String("counts.comes") + " " + a.String("counts.cannot_come") + " " + a.String("counts.no_answer")
}

// types returns the types of the notifications of a user about trainings, newest first.
func (q squad) types(u *touchlinetest.User) []string {
	q.t.Helper()
	var types []string
	for _, n := range u.Call(q.t, "GET", "/api/notifications", nil).Want(q.t, 200).Items() {
		if kind := n["type"].(string); len(kind) > 8 && kind[:8] == "training" {
			types = append(types, kind)
		}
	}
	return types
}

// TestCancelledTraining: a guardian answers, the coach cancels the day, and the family is told. No answer
// is taken until the coach undoes it.
func TestCancelledTraining(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		id := q.slot(2)
		if got := q.counts(id); got != "0 0 1" {
			t.Errorf("counts without an answer: %s", got)
		}
		a := q.answer(id, false, "School trip").Want(t, 200)
		if a.String("answer.reason") != "School trip" || a.String("answer.answered_by") != "guardian" {
			t.Errorf("got %s", a.Body)
		}
		if got := q.counts(id); got != "0 1 0" {
			t.Errorf("counts after a no: %s", got)
		}
		again := q.answer(id, true, "").Want(t, 200)
		if same := q.answer(id, true, "").Want(t, 200); same.String("answer.answered_at") != again.String("answer.answered_at") {
			t.Error("the same answer again changed its time")
		}

		cancelled := q.coach.Call(t, "DELETE", "/api/trainings/"+id, map[string]any{"reason": "The ground is under water"}).Want(t, 200)
		if cancelled.String("state") != "cancelled" || cancelled.String("reason") != "The ground is under water" {
			t.Errorf("got %s", cancelled.Body)
		}
		q.coach.Call(t, "DELETE", "/api/trainings/"+id, nil).Want(t, 200)
		if got := fmt.Sprint(q.types(q.guardian)); got != "[training_cancelled]" {
			t.Errorf("cancelled twice: the guardian has %s", got)
		}
		q.answer(id, false, "").Want(t, 409, "training_cancelled")
		seen := q.guardian.Call(t, "GET", q.family(id), nil).Want(t, 200)
		if seen.String("state") != "cancelled" || seen.String("can_answer") != "false" || seen.String("answer.attending") != "true" {
			t.Errorf("got %s", seen.Body)
		}
		q.coach.Call(t, "PATCH", "/api/trainings/"+id, map[string]any{"venue": "Hall"}).Want(t, 409, "training_cancelled")
		q.coach.Call(t, "PATCH", "/api/trainings/"+id, map[string]any{"state": "planned"}).Want(t, 200)
		if got := fmt.Sprint(q.types(q.guardian)); got != "[training_restored training_cancelled]" {
			t.Errorf("after the undo the guardian has %s", got)
		}
		q.answer(id, false, "").Want(t, 200)
	})
}

// TestSingleTraining: a match is added once, changed, and listed with the days of the schedule.
func TestSingleTraining(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		path, key := "/api/batches/"+q.batch+"/trainings", "Idempotency-Key: "+uuid.NewString()
		body := map[string]any{"date": q.day(3), "start": "09:00", "end": "10:30", "kind": "match", "opponent": "Tigers", "venue": "City stadium"}
		first := q.coach.Call(t, "POST", path, body, key).Want(t, 201)
		if again := q.coach.Call(t, "POST", path, body, key).Want(t, 201); string(again.Body) != string(first.Body) {
			t.Errorf("the same key again: %s, want %s", again.Body, first.Body)
		}
		id := first.String("training_id")
		list := q.coach.Call(t, "GET", fmt.Sprintf("%s?from=%s&to=%s", path, q.day(3), q.day(3)), nil).Want(t, 200).Items()
		if len(list) != 2 || list[0]["training_id"] != id || list[1]["training_id"] != q.slot(3) {
			t.Errorf("got %v", list)
		}
		q.answer(id, true, "").Want(t, 200)
		moved := q.coach.Call(t, "PATCH", "/api/trainings/"+id, map[string]any{"date": q.day(4), "venue": nil}).Want(t, 200)
		if moved.String("date") != string(q.day(4)) || moved.String("venue") != "North ground" || moved.String("counts.comes") != "1" {
			t.Errorf("moved: %s", moved.Body)
		}
		q.coach.Call(t, "PATCH", "/api/trainings/"+q.slot(3), map[string]any{"date": q.day(4)}).Want(t, 422, "validation_failed")
		mine := q.guardian.Call(t, "GET", "/api/me/players/"+q.player+"/trainings", nil).Want(t, 200).Items()
		if len(mine) != 29 {
			t.Errorf("the guardian has %d trainings, want 28 and the match", len(mine))
		}
		if got := fmt.Sprint(q.types(q.guardian)); got != "[training_changed training_added]" {
			t.Errorf("the guardian has %s", got)
		}
		for _, tt := range []struct {
			change  map[string]any
			pointer string
		}{
			{map[string]any{"end": "08:00"}, "/end"},
			{map[string]any{"start": "25:00"}, "/start"},
			{map[string]any{"date": q.day(-1)}, "/date"},
			{map[string]any{"date": "2099-01-01"}, "/date"},
			{map[string]any{"kind": "party"}, "/kind"},
			{map[string]any{"opponent": fmt.Sprintf("%0101d", 1)}, "/opponent"},
		} {
			faulty := map[string]any{}
			for k, v := range body {
				faulty[k] = v
			}
			for k, v := range tt.change {
				faulty[k] = v
			}
			a := q.coach.Call(t, "POST", path, faulty).Want(t, 422, "validation_failed")
			if errors := a.JSON["errors"].([]any); len(errors) != 1 || errors[0].(map[string]any)["pointer"] != tt.pointer {
				t.Errorf("%v: %s", tt.change, a.Body)
			}
		}
		for _, query := range []string{"?from=2026-13-01", "?from=2026-01-01&to=2025-01-01", "?from=2026-01-01&to=2026-12-31"} {
			q.coach.Call(t, "GET", path+query, nil).Want(t, 422, "validation_failed")
		}

		// The list of the coach and that of the family have pages.
		for party, path := range map[*touchlinetest.User]string{q.coach: path, q.guardian: "/api/me/players/" + q.player + "/trainings"} {
			whole := party.Call(t, "GET", path+"?limit=200", nil).Want(t, 200).Items()
			var paged []map[string]any
			for cursor, more := "", true; more && len(paged) <= len(whole); {
				page := party.Call(t, "GET", path+"?limit=5&cursor="+cursor, nil).Want(t, 200)
				paged = append(paged, page.Items()...)
				cursor, more = page.JSON["next_cursor"].(string)
			}
			if len(whole) < 28 || fmt.Sprint(paged) != fmt.Sprint(whole) {
				t.Errorf("%s: pages have %d trainings, want the %d in the same order", path, len(paged), len(whole))
			}
			party.Call(t, "GET", path+"?cursor=x", nil).Want(t, 422, "validation_failed")
		}
	})
}

// TestTrainingAccess: to another coach a training looks like a missing one. A party that has not approved
// gets the error of attendance.
func TestTrainingAccess(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		id := q.slot(2)
		other := s.Coach(t, otherCoach)
		missing := uuid.Must(uuid.NewV7()).String()
		for _, path := range []string{"/api/trainings/" + id, "/api/trainings/" + missing, "/api/trainings/x", "/api/trainings/" + q.batch + ".2026-02-30", "/api/trainings/" + id + ".1", "/api/trainings/" + id + ".2", "/api/trainings/" + q.batch + ".2099-12-31"} {
			for _, method := range []string{"GET", "PATCH", "DELETE"} {
				other.Call(t, method, path, map[string]any{}).Want(t, 404, "not_found")
			}
		}
		other.Call(t, "GET", "/api/batches/"+q.batch+"/trainings", nil).Want(t, 404, "not_found")
		q.answer(q.slot(400), true, "").Want(t, 404, "not_found")
		q.coach.Call(t, "DELETE", "/api/trainings/"+q.slot(400), nil).Want(t, 404, "not_found")
		q.answer(q.slot(366), true, "").Want(t, 200)
		other.Call(t, "POST", "/api/batches/"+q.batch+"/trainings", map[string]any{"date": "x"}).Want(t, 404, "not_found")
		q.guardian.Call(t, "GET", "/api/trainings/"+id, nil).Want(t, 403, "role_not_allowed")
		q.coach.Call(t, "PUT", q.family(id)+"/attending", map[string]any{"attending": true}).Want(t, 403, "role_not_allowed")

		student := s.SignIn(t, "student", studentNumber)
		student.Call(t, "PUT", q.family(id)+"/attending", map[string]any{"attending": true}).Want(t, 403, "approval_pending")
		student.Call(t, "GET", q.family(id), nil).Want(t, 403, "approval_pending")
		student.Call(t, "GET", q.family(missing), nil).Want(t, 404, "not_found")
		student.Call(t, "PUT", q.family(missing)+"/attending", map[string]any{"attending": true}).Want(t, 404, "not_found")
		student.Call(t, "GET", "/api/me/players/"+q.player+"/trainings", nil).Want(t, 403, "approval_pending")
		if types := q.types(student); len(types) > 0 {
			t.Errorf("a student without approval has %v", types)
		}
		other.AddPlayer(t, touchlinetest.Minor("+919812300099", ""))
		stranger := s.SignIn(t, "guardian", "+919812300099")
		stranger.Call(t, "PUT", q.family(id)+"/attending", map[string]any{"attending": true}).Want(t, 404, "not_found")
		stranger.Call(t, "PUT", q.family(id)+"/attending", map[string]any{}).Want(t, 404, "not_found")

		q.answer(id, false, "Fever").Want(t, 200)
		student.Call(t, "PUT", "/api/approval/student-response", map[string]any{"player_id": q.player, "action": "approved"}).Want(t, 200)
		if seen := student.Call(t, "GET", q.family(id), nil).Want(t, 200); seen.String("answer.attending") != "false" || seen.String("answer.reason") != "" {
			t.Errorf("the student reads %s", seen.Body)
		}
		q.decide("revoked")
		q.answer(id, true, "").Want(t, 403, "approval_required")
		q.coach.Call(t, "DELETE", "/api/trainings/"+id, nil).Want(t, 200)
		if types := q.types(q.guardian); len(types) > 0 {
			t.Errorf("after the revocation the guardian has %v", types)
		}
		if types := q.types(student); len(types) != 1 {
			t.Errorf("the student who approved has %v", types)
		}
		// Of two guardians one answers, and the other one does not read why.
		var both []*touchlinetest.User
		for i, number := range []string{"+919812300097", "+919812300098"} {
			q.coach.Call(t, "POST", "/api/players/"+q.player+"/guardians", map[string]any{"name": "Anita " + strings.Repeat("A", i+1), "relationship": "aunt", "mobile_number": number}).Want(t, 201)
			by := s.SignIn(t, "guardian", number)
			by.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": q.player, "action": "approved"}).Want(t, 200)
			both = append(both, by)
		}
		id = q.slot(3)
		both[0].Call(t, "PUT", q.family(id)+"/attending", map[string]any{"attending": false, "reason": "Court"}).Want(t, 200)
		for i, want := range []string{"Court", ""} {
			for _, path := range []string{q.family(id), "/api/me/players/" + q.player + "/trainings"} {
				seen := both[i].Call(t, "GET", path, nil).Want(t, 200)
				if has := strings.Contains(string(seen.Body), "Court"); has != (want != "") || !strings.Contains(string(seen.Body), `"attending":false`) {
					t.Errorf("guardian %d reads %s", i, seen.Body)
				}
			}
		}
	})
}

// TestAnswerAfterStart: a party answers until the training begins. The coach changes it until it ends.
func TestAnswerAfterStart(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		id, starts := q.slot(1), q.day(1).At(17*60+30, kolkata)
		s.Clock.Skip(starts.Add(-time.Minute).Sub(s.Clock.Now()))
		q.guardian, q.coach = s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "coach", coachNumber)
		q.answer(id, true, "").Want(t, 200)
		s.Clock.Skip(time.Minute + time.Second)
		q.answer(id, false, "").Want(t, 409, "training_begun")
		q.answer(id, true, "").Want(t, 200) // changes nothing
		q.coach.Call(t, "PATCH", "/api/trainings/"+id, map[string]any{"venue": "Hall"}).Want(t, 200)
		s.Clock.Skip(90 * time.Minute)
		q.coach.Call(t, "DELETE", "/api/trainings/"+id, nil).Want(t, 409, "training_begun")
	}, func(c *config.Config) { c.AccessTokenLifetime = 48 * time.Hour })
}

// TestAnswerAgainstCancel: of an answer and a cancellation through two replicas, the answer is saved
// before, or refused. Afterwards none is taken.
func TestAnswerAgainstCancel(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		replica := s
		if isPostgres(s) {
			replica = s.Replica()
		}
		for round := range 12 {
			id := q.slot(round + 1)
			var answered, cancelled *touchlinetest.Response
			var wg sync.WaitGroup
			wg.Go(func() {
				answered, _ = s.Do(t.Context(), "PUT", q.family(id)+"/attending", q.guardian.Access, map[string]any{"attending": false})
			})
			wg.Go(func() {
				cancelled, _ = replica.Do(t.Context(), "DELETE", "/api/trainings/"+id, q.coach.Access, nil)
			})
			wg.Wait()
			cancelled.Want(t, 200)
			want := "0 1 0"
			if answered.Status != 200 {
				answered.Want(t, 409, "training_cancelled")
				want = "0 0 1"
			}
			if got := q.counts(id); got != want {
				t.Errorf("answer %d: counts %s, want %s", answered.Status, got, want)
			}
			q.answer(id, true, "").Want(t, 409, "training_cancelled")
		}
	}, touchlinetest.ManyConnections)
}

// TestScheduleChangedWhileSheetIsOpen: a coach who has the sheet of a day open saves it although the
// schedule has no training on that day any more. The answers of the day are kept, and count again when
// the schedule has the day again.
func TestScheduleChangedWhileSheetIsOpen(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		id, date := q.slot(1), string(q.day(1))
		q.answer(id, false, "School trip").Want(t, 200)
		sheet := "/api/batches/" + q.batch + "/attendance/" + date
		open := q.coach.Call(t, "GET", sheet, nil).Want(t, 200)
		if player := open.JSON["players"].([]any)[0].(map[string]any); player["cannot_come"] != true {
			t.Errorf("the sheet has %v", player)
		}
		other := strings.ToLower(q.day(3).Weekday().String())
		q.coach.Call(t, "PATCH", "/api/batches/"+q.batch, map[string]any{"schedule": []map[string]any{{"weekday": other, "start": "17:30", "end": "19:00"}}}).Want(t, 200)
		saved := q.coach.Call(t, "PUT", sheet, map[string]any{"marks": []map[string]any{{"player_id": q.player, "mark": "excused"}}}).Want(t, 200)
		if saved.String("outside_schedule") != "true" {
			t.Errorf("the sheet: %s", saved.Body)
		}
		q.coach.Call(t, "GET", "/api/trainings/"+id, nil).Want(t, 404, "not_found")
		q.answer(id, true, "").Want(t, 404, "not_found")
		day := strings.ToLower(q.day(1).Weekday().String())
		q.coach.Call(t, "PATCH", "/api/batches/"+q.batch, map[string]any{"schedule": []map[string]any{{"weekday": day, "start": "18:30", "end": "20:00"}}}).Want(t, 200)
		if got := q.counts(id); got != "0 1 0" {
			t.Errorf("counts after the schedule moved by an hour: %s", got)
		}
	})
}

// TestArchivedBatch: an archived batch has no training to come.
func TestArchivedBatch(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		path := "/api/batches/" + q.batch + "/trainings"
		body := map[string]any{"date": q.day(2), "start": "09:00", "end": "10:30"}
		for range 10 {
			q.coach.Call(t, "POST", path, body).Want(t, 201)
		}
		q.coach.Call(t, "POST", path, body).Want(t, 422, "validation_failed")
		q.coach.Call(t, "DELETE", "/api/batches/"+q.batch, nil).Want(t, 204)
		q.coach.Call(t, "DELETE", "/api/trainings/"+q.slot(0), nil).Want(t, 409)
		q.coach.Call(t, "POST", path, body).Want(t, 409, "batch_archived")
		q.answer(q.slot(0), true, "").Want(t, 404, "not_found")
		if mine := q.guardian.Call(t, "GET", "/api/me/players/"+q.player+"/trainings", nil).Want(t, 200).Items(); len(mine) != 0 {
			t.Errorf("the guardian has %v", mine)
		}
	})
}

// TestLargeBatch: a batch of 200 players with names of 100 characters is told and read at once.
func TestLargeBatch(t *testing.T) {
	t.Parallel()
	const size = 200
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		name := strings.Repeat("Lakshmi ", 12) + "Rao"
		for i := range size - 1 {
			body := touchlinetest.Minor(fmt.Sprintf("+91981240%04d", i), "")
			body["student"].(map[string]any)["full_name"] = fmt.Sprintf("%.95s %04d", name, i)
			body["batch_ids"] = []string{q.batch}
			q.coach.AddPlayer(t, body)
		}
		began := time.Now()
		id := q.slot(1)
		cancelled := q.coach.Call(t, "DELETE", "/api/trainings/"+id, map[string]any{"reason": strings.Repeat("x", 500)}).Want(t, 200)
		if players := cancelled.JSON["players"].([]any); len(players) != size || cancelled.String("counts.no_answer") != fmt.Sprint(size) {
			t.Errorf("%d players", len(players))
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("the cancellation took %s", took)
		}
		if got := fmt.Sprint(q.types(q.guardian)); got != "[training_cancelled]" {
			t.Errorf("the guardian has %s", got)
		}
	}, func(c *config.Config) { c.MessagesPerCoach, c.MessagesTotalHour = 0, 0 })
}

// TestRevocationAgainstCancel: of a revocation and a cancellation through two replicas, the party is told
// before the revocation or not at all. Afterwards it has no notification, and no message leaves.
func TestRevocationAgainstCancel(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		replica := s
		if isPostgres(s) {
			replica = s.Replica()
		}
		for round := range 6 {
			id := q.slot(round + 1)
			var revoked, cancelled *touchlinetest.Response
			var wg sync.WaitGroup
			wg.Go(func() {
				revoked, _ = s.Do(t.Context(), "PUT", "/api/approval/guardian-response", q.guardian.Access, map[string]any{"player_id": q.player, "action": "revoked"})
			})
			wg.Go(func() {
				cancelled, _ = replica.Do(t.Context(), "DELETE", "/api/trainings/"+id, q.coach.Access, nil)
			})
			wg.Wait()
			revoked.Want(t, 200)
			cancelled.Want(t, 200)
			if types := q.types(q.guardian); len(types) > 0 {
				t.Errorf("after the revocation the guardian has %v", types)
			}
			q.coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": q.player}).Want(t, 201)
			q.decide("approved")
		}
	}, touchlinetest.ManyConnections, func(c *config.Config) { c.ResendAfter = 0 })
}
