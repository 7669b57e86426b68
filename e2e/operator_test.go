package e2e_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

func tokenForm(value string) url.Values { return url.Values{"token": {value}} }

// TestOperatorTokens covers valid, invalid, expired and revoked operator tokens.
func TestOperatorTokens(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		auditor := s.Operator(t, operator.Audit)
		auditor.Call(t, "GET", "/api/admin/audit", nil).Want(t, 200)

		missing := s.AdminCall(t, "GET", "/api/admin/audit", "", nil).Want(t, 401, "token_missing")
		if got := missing.Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer ") {
			t.Errorf("got WWW-Authenticate %q", got)
		}
		denied := auditor.Call(t, "POST", "/auth/introspect", tokenForm("x")).Want(t, 403, "insufficient_scope")
		if got := denied.Header.Get("WWW-Authenticate"); got != `Bearer error="insufficient_scope", scope="introspect"` {
			t.Errorf("got WWW-Authenticate %q", got)
		}
		auditor.Call(t, "GET", "/metrics", nil).Want(t, 403)

		// All refused tokens get the same response.
		revoked, later := s.Operator(t, operator.Audit), s.Operator(t, operator.Audit)
		runCLI(t, s, "revoke", func(sh *cliContext) error { _, err := sh.Tokens.Revoke(sh.ctx, sh.by, revoked.ID); return err })
		coach := s.SignIn(t, "coach", coachNumber)
		s.Clock.Advance(-24 * time.Hour) // expires a day before the others
		early := s.Operator(t, operator.Audit)
		s.Clock.Advance(24*time.Hour + (operator.DefaultDays-1)*day - time.Minute)
		early.Call(t, "GET", "/api/admin/audit", nil).Want(t, 200)
		s.Clock.Advance(time.Minute)
		first := ""
		for name, secret := range map[string]string{
			"revoked": revoked.Token, "ended": early.Token, "unknown": "tlo_" + strings.Repeat("A", 43), "no token": "x",
			"a person's": coach.Access, "one more character": later.Token + "A", "another case": strings.ToUpper(later.Token),
		} {
			a := s.AdminCall(t, "GET", "/api/admin/audit", secret, nil).Want(t, 401, "token_invalid")
			body := strings.Replace(string(a.Body), a.String("trace_id"), "", 1)
			if first == "" {
				first = body
			}
			if body != first {
				t.Errorf("%s: got %s\nwant %s", name, body, first)
			}
		}
		later.Call(t, "GET", "/api/admin/audit", nil).Want(t, 200)
	})
}

// TestOperatorTokenRateLimit: an address with many invalid tokens is rate
// limited, except for valid tokens. A missing token does not count.
func TestOperatorTokenRateLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		auditor := s.Operator(t, operator.Audit)
		for range 100 {
			auditor.Call(t, "GET", "/api/admin/audit", nil).Want(t, 200)
			s.AdminCall(t, "GET", "/api/admin/audit", "", nil).Want(t, 401, "token_missing")
		}
		// The limit admits one more request every two seconds, so a slow machine gets a few more.
		attempts := 0
		attempt := func() *touchlinetest.Response {
			attempts++
			return s.AdminCall(t, "GET", "/api/admin/audit", "tlo_unknown", nil)
		}
		a := attempt()
		for a.Status != 429 && attempts < 300 {
			a = attempt()
		}
		a.Want(t, 429, "rate_limited")
		if attempts <= 30 {
			t.Errorf("attempt %d was limited, want 30 before", attempts)
		}
		if a.Header.Get("Retry-After") == "" {
			t.Error("Retry-After is missing")
		}
		// A valid token from the same address is not limited.
		auditor.Call(t, "GET", "/api/admin/audit", nil).Want(t, 200)
		auditor.Call(t, "GET", "/metrics", nil).Want(t, 403, "insufficient_scope")
		s.AdminCall(t, "GET", "/api/admin/audit", "", nil).Want(t, 401, "token_missing")
		s.AdminCall(t, "GET", "/healthz", "", nil).Want(t, 200)
		s.Clock.Advance(time.Minute)
		s.AdminCall(t, "GET", "/api/admin/audit", "tlo_unknown", nil).Want(t, 401, "token_invalid")
	})
}

// TestIntrospection: a working token is active; for any other the response says
// only that it is not.
func TestIntrospection(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		gateway := s.Operator(t, operator.Introspect)
		ask := func(value string, hint ...string) *touchlinetest.Response {
			t.Helper()
			form := tokenForm(value)
			if len(hint) > 0 {
				form["token_type_hint"] = hint
			}
			return gateway.Call(t, "POST", "/auth/introspect", form).Want(t, 200)
		}
		active := func(want bool, value string) {
			t.Helper()
			if a := ask(value); a.JSON["active"] != want || !want && strings.TrimSpace(string(a.Body)) != `{"active":false}` {
				t.Errorf("want active %v, got %s", want, a.Body)
			}
		}
		coach := s.SignIn(t, "coach", coachNumber)
		refresh := ask(coach.Refresh, "access_token")
		if refresh.String("token_type") != "refresh_token" || refresh.String("sub") != coach.ID {
			t.Errorf("refresh token: got %s", refresh.Body)
		}
		access := ask(coach.Access, "refresh_token")
		for member, want := range map[string]string{
			"token_type": "Bearer", "sub": coach.ID, "role": "coach", "sid": coach.Login.String("session_id"), "iss": s.Config.PublicURL,
		} {
			if got := access.String(member); got != want {
				t.Errorf("%s: got %q, want %q", member, got, want)
			}
		}
		if life := access.JSON["exp"].(float64) - access.JSON["iat"].(float64); life != 15*60 {
			t.Errorf("got a lifetime of %v s", life)
		}
		for _, nothing := range []string{"x", "tlo_x", gateway.Token, coach.Device, coach.Access + "x", coach.Refresh[1:], "\x00", strings.Repeat("a", 5000)} {
			active(false, nothing)
		}

		// Introspecting the successor is a use, so the previous token is stale.
		next := s.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": coach.Refresh}).Want(t, 200)
		active(true, coach.Refresh) // it would still return the same successor
		active(true, next.String("access_token"))
		active(false, coach.Refresh)
		active(true, next.String("refresh_token"))
		s.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": coach.Refresh}).Want(t, 401, "refresh_token_raced")

		s.Clock.Advance(15 * time.Minute)
		active(false, next.String("access_token"))
		active(true, next.String("refresh_token"))
		third := s.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": next.String("refresh_token")}).Want(t, 200)
		s.Call(t, "POST", "/auth/logout", third.String("access_token"), nil).Want(t, 204)
		active(false, third.String("access_token"))
		active(false, third.String("refresh_token"))

		for _, body := range []any{url.Values{}, url.Values{"token": {"a", "b"}}, url.Values{"token": {""}}, "%zz"} {
			kind := "Content-Type: application/x-www-form-urlencoded"
			if a := gateway.Call(t, "POST", "/auth/introspect", body, kind).Want(t, 400, "malformed_request"); a.String("error") != "invalid_request" {
				t.Errorf("%v: got %s", body, a.Body)
			}
		}
		gateway.Call(t, "POST", "/auth/introspect", map[string]any{"token": "x"}).Want(t, 415)
		gateway.Call(t, "POST", "/auth/introspect", tokenForm(strings.Repeat("a", 70000))).Want(t, 413)
		gateway.Call(t, "POST", "/auth/introspect", tokenForm("x"), "Accept: text/html").Want(t, 406)
		gateway.Call(t, "GET", "/auth/introspect", nil).Want(t, 405)
	})
}

// TestIntrospectionIsAudited: the audit log has one entry for each token and minute, with
// the count of all replicas, also after a shutdown.
func TestIntrospectionIsAudited(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		replica := s.Replica()
		gateway, other, auditor := s.Operator(t, operator.Introspect), s.Operator(t, operator.Introspect), s.Operator(t, operator.Audit)
		coach := s.SignIn(t, "coach", coachNumber)
		ask := func(on *touchlinetest.Service, by *touchlinetest.Operator, token string) {
			t.Helper()
			on.AdminCall(t, "POST", "/auth/introspect", by.Token, tokenForm(token)).Want(t, 200)
		}
		counts := func(by *touchlinetest.Operator) (counts []float64) {
			t.Helper()
			for _, e := range auditor.Call(t, "GET", "/api/admin/audit?object_id="+by.ID, nil).Want(t, 200).Items() {
				if e["action"] == "token.introspect" {
					if e["operator_id"] != by.ID || !strings.HasSuffix(e["at"].(string), ":00Z") {
						t.Errorf("audit log: got %v", e)
					}
					counts = append(counts, e["count"].(float64))
				}
			}
			return counts
		}
		for range 3 {
			ask(s, gateway, coach.Access)
			ask(s, gateway, "unknown")
		}
		ask(s, other, coach.Refresh)
		if got := counts(gateway); !slices.Equal(got, []float64{6}) {
			t.Errorf("one minute: got the counts %v, want 6", got)
		}
		s.Clock.Advance(time.Minute)
		ask(s, gateway, coach.Access)
		ask(replica, gateway, coach.Access)
		if err := replica.Stop(); err != nil {
			t.Fatal(err)
		}
		if got := counts(gateway); !slices.Equal(got, []float64{2, 6}) {
			t.Errorf("two minutes: got the counts %v, want 2 and 6", got)
		}
		if got := counts(other); !slices.Equal(got, []float64{1}) {
			t.Errorf("another token: got the counts %v, want 1", got)
		}
	})
}

// TestRevocation: revoking any token of a session ends the session on all
// replicas and is audited. An unknown token gets the same response.
func TestRevocation(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		other := s.Replica()
		gateway, auditor := s.Operator(t, operator.Introspect), s.Operator(t, operator.Audit)
		for i, number := range []string{coachNumber, coach2Number} {
			coach := s.SignIn(t, "coach", number)
			stream := openStream(t, coach, "")
			value := []string{coach.Access, coach.Refresh}[i]
			for range 2 {
				gateway.Call(t, "POST", "/auth/revoke", tokenForm(value)).Want(t, 200)
			}
			coach.On(other).Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
			s.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": coach.Refresh}).Want(t, 401)
			stream.ends(5 * time.Second)
			entries := auditor.Call(t, "GET", "/api/admin/audit?object_id="+coach.Login.String("session_id"), nil).Want(t, 200).Items()
			if len(entries) != 1 || entries[0]["action"] != "session.revoke" || entries[0]["operator_id"] != gateway.ID || entries[0]["operator_name"] != gateway.Name {
				t.Errorf("audit log: got %v", entries)
			}
		}
		gateway.Call(t, "POST", "/auth/revoke", tokenForm("nothing")).Want(t, 200)
		gateway.Call(t, "POST", "/auth/revoke", url.Values{}).Want(t, 400)
	})
}

// TestAuditList: entries are newest first, in pages, with the creator of each
// token.
func TestAuditList(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		auditor := s.Operator(t, operator.Audit)
		want := []string{auditor.ID}
		for range 4 {
			want = append(want, s.Operator(t, operator.Metrics).ID)
		}
		slices.Reverse(want)
		var got []string
		for path := "/api/admin/audit?limit=2"; path != ""; {
			a := auditor.Call(t, "GET", path, nil).Want(t, 200)
			for _, e := range a.Items() {
				if e["action"] != "token.create" || e["operator_name"] != "shell:test" || e["operator_id"] != nil {
					t.Errorf("audit entry: got %v", e)
				}
				got = append(got, e["object_id"].(string))
			}
			if path = ""; a.String("next_cursor") != "" {
				path = "/api/admin/audit?limit=2&cursor=" + url.QueryEscape(a.String("next_cursor"))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		for _, query := range []string{"limit=0", "limit=x", "cursor=x", "object_id=x", "object_id="} {
			auditor.Call(t, "GET", "/api/admin/audit?"+query, nil).Want(t, 422, "validation_failed")
		}
	})
}

// TestOperatorsListener: it serves metadata, health and documentation, and shares no other path
// with the public listener.
func TestOperatorsListener(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.AdminCall(t, "GET", "/healthz", "", nil).Want(t, 200)
		s.AdminCall(t, "GET", "/readyz", "", nil).Want(t, 200)
		s.AdminCall(t, "GET", "/openapi.json", "", nil).Want(t, 200)
		m := s.AdminCall(t, "GET", "/.well-known/oauth-authorization-server", "", nil).Want(t, 200)
		if m.String("introspection_endpoint") != s.AdminURL+"/auth/introspect" || m.String("revocation_endpoint") != s.AdminURL+"/auth/revoke" {
			t.Errorf("metadata: got %s", m.Body)
		}
		public := s.Call(t, "GET", "/.well-known/oauth-authorization-server", "", nil).Want(t, 200)
		if issuer := m.String("issuer"); issuer != public.String("issuer") || m.String("jwks_uri") != issuer+"/.well-known/jwks.json" || public.String("jwks_uri") != m.String("jwks_uri") {
			t.Errorf("metadata of the issuer: got %s, of the operators' listener %s", public.Body, m.Body)
		}
		coach := s.SignIn(t, "coach", coachNumber)
		for _, path := range []string{"/api/me", "/auth/sessions", "/api/approval/guardian-response", "/"} {
			s.AdminCall(t, "GET", path, coach.Access, nil).Want(t, 404, "not_found")
		}
		for _, path := range []string{"/api/admin/audit", "/auth/introspect", "/metrics"} {
			s.Call(t, http.MethodGet, path, s.Operator(t, operator.Scopes...).Token, nil).Want(t, 404, "not_found")
		}
		s.AdminCall(t, "DELETE", "/api/admin/audit", "", nil).Want(t, 405)
	})
}
