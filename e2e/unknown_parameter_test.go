package e2e_test

import (
	"net/url"
	"regexp"
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

var pathParameter = regexp.MustCompile(`\{\w+\}`)

// TestUnknownParameter sends a parameter that no call has to each call of both documents. A call
// about an object that does not exist returns 404, as it does without the parameter.
func TestUnknownParameter(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	guardian := s.SignIn(t, "guardian", guardianNumber)
	guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(t, 200)
	desk := s.Operator(t, operator.Scopes...)

	coach.Call(t, "GET", "/api/players/"+player+"?surprise=1", nil).Want(t, 422, "validation_failed")
	coach.Call(t, "DELETE", "/api/players/"+player+"?limit=1", nil).Want(t, 422, "validation_failed")
	coach.Call(t, "GET", "/api/players/"+player, nil).Want(t, 200)
	for path, status := range map[string]int{"/healthz": 200, "/readyz": 200, "/openapi.json": 200, "/docs": 200, "/.well-known/jwks.json": 200, "/problems/": 200} {
		s.Call(t, "GET", path+"?surprise=1", "", nil).Want(t, status)
	}

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
				if !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/auth/") {
					continue
				}
				checked++
				body, headers := minimalBody(op)
				refused := false
				for _, call := range calls {
					got := call(method, pathParameter.ReplaceAllString(path, uuid.Must(uuid.NewV7()).String())+"?surprise=1", body, headers...)
					switch got.Status {
					case 422:
						refused = refused || strings.Contains(string(got.Body), `"/surprise"`)
					case 404:
						refused = refused || strings.Contains(path, "{")
					case 403:
						refused = refused || got.Code() == "tier_limit" // of an upload, before it is read
					case 401:
					default:
						t.Errorf("%s %s?surprise=1: got %d %s", method, path, got.Status, got.Body)
					}
				}
				if !refused {
					t.Errorf("%s %s?surprise=1: no caller got the fault /surprise", method, path)
				}
			}
		}
		if checked < 20 {
			t.Errorf("got %d calls, want more", checked)
		}
	}
	as := func(u *touchlinetest.User) func(string, string, any, ...string) *touchlinetest.Response {
		return func(method, path string, body any, headers ...string) *touchlinetest.Response {
			return u.Call(t, method, path, body, headers...)
		}
	}
	check(api.Document, as(coach), as(guardian), as(s.SignIn(t, "student", studentNumber)))
	check(admin.Document, func(method, path string, body any, headers ...string) *touchlinetest.Response {
		return desk.Call(t, method, path, body, headers...)
	})
}

// minimalBody returns a body of a media type that a call takes, and the header that names it.
func minimalBody(op *openapi3.Operation) (body any, headers []string) {
	if op.RequestBody == nil {
		return nil, nil
	}
	switch content := op.RequestBody.Value.Content; {
	case content["multipart/form-data"] != nil:
		return "", []string{"Content-Type: multipart/form-data; boundary=x"}
	case content["text/csv"] != nil:
		return "", []string{"Content-Type: text/csv"}
	case content["application/x-www-form-urlencoded"] != nil:
		return url.Values{}, nil
	default:
		return object{}, nil
	}
}
