package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/touchline/touchline/internal/message/mail/mailtest"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// plantedMore are the values that plantMore adds to those of plantFamily.
var plantedMore = []string{
	"arlier@xan.example", "confirmed@xan.example", "Xanphone", "Knockedknee", "Cannotcome", "Quietrain", "Sprintwell", "Mumbaicup", "Strangemail", "Needsboots",
	"zeno@xan.example",
}

// plantMore writes more about the family of plantFamily, while it has the app.
func plantMore(t *testing.T, s *touchlinetest.Service, coach *touchlinetest.User, id string) {
	t.Helper()
	const number = "+919812399931"
	sent := s.Sent(number, "otp")
	s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": number, "role": "guardian"}).Want(t, 202)
	guardian := s.Call(t, "POST", "/auth/login", "", object{"mobile_number": number, "role": "guardian", "otp": s.OTP(number, sent), "device_name": "Xanphone"}).Want(t, 200).String("access_token")
	call := func(method, path string, body any, status int) *touchlinetest.Response {
		t.Helper()
		return s.Call(t, method, path, guardian, body, "Idempotency-Key: "+path+method).Want(t, status)
	}
	coach.Call(t, "PATCH", "/api/players/"+id, object{"guardian": object{"email": "Earlier@xan.example"}}).Want(t, 200)
	coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": id, "channels": []string{"sms", "email"}}).Want(t, 201)
	call("PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "approved"}, 200)
	today := s.Clock.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	batch := addBatch(t, coach, "Evening")
	coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+id, nil).Want(t, 204)
	training := coach.Call(t, "POST", "/api/batches/"+batch+"/trainings", object{"date": today, "start": "09:00", "end": "10:00", "kind": "match", "opponent": "Tigers"}).Want(t, 201).String("training_id")
	call("PUT", "/api/me/players/"+id+"/trainings/"+training+"/attending", object{"attending": false, "reason": "Cannotcome"}, 200)
	coach.Call(t, "POST", "/api/players/"+id+"/reports", object{"title": "Mumbaicup", "text": "Quietrain", "from": "2026-01-01", "to": "2026-01-31"}, "Idempotency-Key: report").Want(t, 201)
	coach.Call(t, "POST", "/api/players/"+id+"/progress", object{"metric": "Sprintwell", "value": 12, "unit": "s", "on": "2026-01-31"}, "Idempotency-Key: progress").Want(t, 201)
	coach.Call(t, "PATCH", "/api/players/"+id, object{"student": object{"medical_information": "Knockedknee"}}, "Idempotency-Key: medical").Want(t, 200)
	coach.Call(t, "POST", "/api/messages", object{"to": object{"player_ids": []string{id}}, "audience": "both", "channels": []string{"in_app", "sms"}, "text": "Needsboots"}, "Idempotency-Key: boots").Want(t, 201)
	call("POST", "/api/me/players/"+id+"/messages", object{"text": "Strangemail"}, 201)
	// A second address: mail about the decision went to the one before.
	coach.Call(t, "PATCH", "/api/players/"+id, object{"guardian": object{"email": "zeno@xan.example"}}).Want(t, 200)
	call("PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "revoked", "reason": "Toofaraway"}, 200)
	db := openTables(t, s)
	execSQL(t, db, `INSERT INTO confirmed_addresses (mobile_number, role, address, ends_at) VALUES ($1, 'guardian', 'confirmed@xan.example', $2)`, number, s.Clock.Now().AddDate(1, 0, 0).UnixMicro())
}

// filesOf returns the files in DATA_DIR and the files of the service, without a SQLite database.
func filesOf(t *testing.T, s *touchlinetest.Service) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(s.Config.DataDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, ".db") {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %s\n", path, bytes.ToValidUTF8(content, []byte("?")))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestNothingOfErasedFamilyIsLeft: whichever way a family is erased, none of its values is in a row, a file, a message to a webhook, the
// log, an export of the coach or a new backup. Only limits and codes name its numbers, for 26 hours at most.
func TestNothingOfErasedFamilyIsLeft(t *testing.T) {
	t.Parallel()
	values := slices.Concat(plantedFamily, plantedMore)
	numbers := []string{"9812399931", "9812399932"}
	type way func(t *testing.T, s *touchlinetest.Service, coach, guardian *touchlinetest.User, id string)
	remove := func(t *testing.T, s *touchlinetest.Service, coach *touchlinetest.User, id string) {
		coach.Call(t, "DELETE", "/api/players/"+id, nil).Want(t, 204)
		s.Clock.Advance(31 * 24 * time.Hour)
	}
	for name, erase := range map[string]way{
		"operator": func(t *testing.T, s *touchlinetest.Service, _, _ *touchlinetest.User, id string) {
			people(t, s, func(ctx context.Context, _ actor.Operator, p *server.People) error {
				return p.ErasePlayer(ctx, id, nil)
			})
		},
		"removal": func(t *testing.T, s *touchlinetest.Service, coach, _ *touchlinetest.User, id string) {
			remove(t, s, coach, id)
		},
		"family": func(t *testing.T, s *touchlinetest.Service, coach, guardian *touchlinetest.User, id string) {
			s.SignIn(t, "guardian", "+919812399931").Call(t, "DELETE", "/api/me", nil).Want(t, 204)
			// At once nothing sent to the family names its numbers and addresses.
			db := openTables(t, s)
			for _, table := range []string{"deliveries", "message_counts"} {
				for _, address := range []string{"9812399931", "xan.example", "xanthippe@"} {
					column := map[string]string{"deliveries": "recipient", "message_counts": "counter"}[table]
					if n := queryOne[int](t, db, `SELECT count(*) FROM `+table+` WHERE `+column+` LIKE $1`, "%"+address+"%"); n != 0 {
						t.Errorf("after the family deleted its account %d rows of %s have %s", n, table, address)
					}
				}
			}
			remove(t, s, coach, id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Either(t, func(t *testing.T, database string) {
				mails := mailtest.New(t, mailtest.STARTTLS)
				s := touchlinetest.New(t, database, mailBy(mails), withLedger, allowLoopback)
				receiver := newWebhookReceiver(t)
				s.Operator(t, operator.Webhooks).Call(t, "POST", "/api/admin/webhooks", object{"url": receiver.URL, "description": "all"}).Want(t, 201)
				coach := s.Coach(t, coachNumber)
				s.Operator(t, operator.Coaches).Call(t, "PUT", "/api/admin/coaches/"+coach.ID+"/tier", object{"tier": "academy"}).Want(t, 200)
				id, guardian := plantFamily(t, s, coach)
				plantMore(t, s, coach, id)
				db := openTables(t, s)
				eventually(t, "a mail was sent", func() bool {
					return queryOne[int](t, db, `SELECT count(*) FROM message_counts WHERE counter LIKE '%@%'`) > 0
				})
				before := everything(t, s, db)
				for _, value := range []string{"Earlier@xan.example", "confirmed@xan.example", "Xanphone", "Cannotcome", "Quietrain", "Mumbaicup", "Strangemail", "Needsboots"} {
					if !strings.Contains(before, value) {
						t.Errorf("%s was not planted", value)
					}
				}
				erase(t, s, coach, guardian, id)
				find := func(values []string) (found string) {
					left := everything(t, s, db)
					for _, value := range values {
						if at := strings.Index(left, value); at >= 0 {
							found += fmt.Sprintf("%s: %.300s\n", value, left[max(0, at-150):])
						}
					}
					return found
				}
				texts := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(numbers, v) })
				found := ""
				for range 100 {
					if found = find(texts); found == "" {
						break
					}
					time.Sleep(100 * time.Millisecond)
				}
				if found != "" {
					t.Fatal("left at once: " + found)
				}
				s.Clock.Advance(26 * time.Hour)
				for range 100 {
					if found = find(values); found == "" {
						break
					}
					time.Sleep(100 * time.Millisecond)
				}
				if found != "" {
					t.Error("left after 26 hours: " + found)
				}
				wantNotDumped(t, s, values)
				coach = s.SignIn(t, "coach", coachNumber)
				key, err := age.GenerateX25519Identity()
				if err != nil {
					t.Fatal(err)
				}
				var backup bytes.Buffer
				if _, err := server.Backup(t.Context(), s.Config, server.Options{}, &backup, func(string, int64) {}, key.Recipient()); err != nil {
					t.Fatal(err)
				}
				plain, err := age.Decrypt(bytes.NewReader(backup.Bytes()), key)
				if err != nil {
					t.Fatal(err)
				}
				var archive bytes.Buffer
				if _, err := archive.ReadFrom(plain); err != nil {
					t.Fatal(err)
				}
				messages, _ := receiver.state()
				var bodies strings.Builder
				for _, m := range messages {
					bodies.Write(m.body)
				}
				if len(messages) == 0 {
					t.Error("the webhook got no message")
				}
				for place, content := range map[string]string{
					"a file": filesOf(t, s), "the messages to a webhook": bodies.String(), "the log": s.Log.String(), "a backup": archive.String(),
					"the export of the coach": fmt.Sprint(exported(t, coach)),
				} {
					for _, value := range values {
						if at := strings.Index(content, value); at >= 0 {
							t.Errorf("%s has %s: %.200s", place, value, content[max(0, at-100):])
						}
					}
				}
			})
		})
	}
}
