package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestUnknownMember sends a member that no call has to each call of both documents that changes something, also to those
// without a body: a caller must not believe that it counts.
func TestUnknownMember(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	guardian, student := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "student", studentNumber)
	guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(t, 200)
	desk := s.Operator(t, operator.Scopes...)

	check := func(document func() ([]byte, error), calls ...func(method, path string, body any, headers ...string) *touchlinetest.Response) {
		t.Helper()
		raw, err := document()
		if err != nil {
			t.Fatal(err)
		}
		doc, err := openapi3.NewLoader().LoadFromData(raw)
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				if method == http.MethodGet || !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/auth/") {
					continue
				}
				switch body, _ := minimalBody(op); body.(type) {
				case string, url.Values: // a file or a form
					continue
				}
				checked++
				refused := false
				for _, call := range calls {
					got := call(method, pathParameter.ReplaceAllString(path, uuid.Must(uuid.NewV7()).String()), object{"surprise": true})
					switch got.Status {
					case 422:
						refused = refused || strings.Contains(string(got.Body), `"/surprise"`)
					case 404: // not_found comes before validation_failed
						refused = refused || strings.Contains(path, "{") && (op.RequestBody != nil || strings.HasSuffix(path, "/calendar"))
					case 401, 403:
					default:
						t.Errorf("%s %s with an unknown member: got %d %s", method, path, got.Status, got.Body)
					}
				}
				if !refused {
					t.Errorf("%s %s: no caller got the fault /surprise", method, path)
				}
			}
		}
		if checked < 10 {
			t.Errorf("got %d calls, want more", checked)
		}
	}
	as := func(u *touchlinetest.User) func(string, string, any, ...string) *touchlinetest.Response {
		return func(method, path string, body any, headers ...string) *touchlinetest.Response {
			return u.Call(t, method, path, body, headers...)
		}
	}
	check(api.Document, as(coach), as(guardian), as(student))
	check(admin.Document, func(method, path string, body any, headers ...string) *touchlinetest.Response {
		return desk.Call(t, method, path, body, headers...)
	})

	// The right to a calendar is checked before its body.
	guardian.Call(t, "POST", "/api/me/players/"+player+"/calendar", object{"surprise": true}).Want(t, 422, "validation_failed")

	// A body without members is none.
	told := "/api/me/players/" + player + "/fees/" + uuid.Must(uuid.NewV7()).String() + "/told"
	guardian.Call(t, "PUT", told, object{"reference": "x"}).Want(t, 422, "validation_failed")
	guardian.Call(t, "PUT", told, object{}).Want(t, 404)
	guardian.Call(t, "PUT", told, nil).Want(t, 404)
}
