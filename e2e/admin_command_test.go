package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/store/storetest"
)

var (
	operatorsAt = regexp.MustCompile(`The operators' API answers at (http://\S+)`)
	codePrinted = regexp.MustCompile(`(\d{6}) is your Touchline code`)
)

// TestAdminCommands runs the admin commands of the binary beside a running server
// on the same database. The server applies their changes from its next request
// on.
func TestAdminCommands(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		settings := []string{"TOUCHLINE_DATABASE_URL=" + database, "TOUCHLINE_KYC=on"}
		p := startServer(t, append([]string{"TOUCHLINE_ADMIN_ADDR=127.0.0.1:0"}, settings...)...)
		var admin string
		eventually(t, "the operators' listener started", func() bool {
			m := operatorsAt.FindStringSubmatch(p.stdout.String())
			if m != nil {
				admin = m[1]
			}
			return m != nil
		})
		run := func(code int, args ...string) (stdout, stderr string) {
			t.Helper()
			c := launch(t, p.dir, append([]string{"admin"}, args...), settings...)
			if got := c.wait(waitLimit); got != code {
				t.Errorf("admin %v: got exit code %d, want %d: %s", args, got, code, c.stderrText())
			}
			return strings.TrimSpace(c.stdout.String()), c.stderrText()
		}
		get := func(token, path string) (status int, body string) {
			t.Helper()
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, admin+path, http.NoBody)
			r.Header.Set("Authorization", "Bearer "+token)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			content, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return resp.StatusCode, string(content)
		}

		token, info := run(0, "token", "create", "--name", "on call", "--scopes", "audit,coaches", "--days=7")
		if !regexp.MustCompile(`^tlo_[A-Za-z0-9_-]{43}$`).MatchString(token) || strings.Contains(info, token) {
			t.Errorf("token create: got stdout %q, stderr %q", token, info)
		}
		if got, _ := get(token, "/api/admin/audit"); got != 200 {
			t.Errorf("request with the new token: got status %d", got)
		}
		id := regexp.MustCompile(`[0-9a-f-]{36}`).FindString(info)
		if list, _ := run(0, "token", "list"); !strings.Contains(list, id) || !strings.Contains(list, "on call") || strings.Contains(list, token) {
			t.Errorf("token list: got %s", list)
		}
		run(0, "token", "revoke", id, "--yes")
		run(0, "token", "revoke", id, "--yes")
		if got, _ := get(token, "/api/admin/audit"); got != 401 {
			t.Errorf("request with a revoked token: got status %d", got)
		}

		// Concurrent commands wait for each other and for the server.
		var wait sync.WaitGroup
		for i := range 6 {
			wait.Go(func() { run(0, "token", "create", "--name", fmt.Sprint("t", i), "--scopes", "metrics") })
		}
		for range 20 {
			p.post("/auth/request-otp", `{"mobile_number": "+919812300099", "role": "guardian"}`)
		}
		wait.Wait()

		p.post("/auth/request-otp", `{"mobile_number": "`+coachNumber+`"}`)
		eventually(t, "the code is printed", func() bool { return codePrinted.MatchString(p.stdout.String()) })
		otp := codePrinted.FindStringSubmatch(p.stdout.String())[1]
		_, _, body := p.post("/auth/login", `{"mobile_number": "`+coachNumber+`", "otp": "`+otp+`"}`)
		var login struct {
			Account struct{ ID string }
		}
		if err := json.Unmarshal([]byte(body), &login); err != nil || login.Account.ID == "" {
			t.Fatalf("sign in: %v: %s", err, body)
		}
		coach := login.Account.ID
		if found, _ := run(0, "coach", "find", coachNumber); !strings.Contains(found, coach) {
			t.Errorf("coach find: got %s", found)
		}
		if found, _ := run(0, "coach", "find", coachNumber); !strings.Contains(found, "not_started") {
			t.Errorf("coach find: got %s, want not_started", found)
		}
		if found, _ := run(0, "coach", "find", coachNumber, "--kyc=off"); !strings.Contains(found, "disabled") || strings.Contains(found, "not_started") {
			t.Errorf("coach find with the setting KYC off: got %s, want disabled", found)
		}
		run(0, "kyc", "list")
		run(0, "deliveries", "--number", coachNumber)

		token, _ = run(0, "token", "create", "--name", "auditor", "--scopes", "audit")
		status, log := get(token, "/api/admin/audit?limit=200")
		for _, want := range []string{"shell:", "coach.find", "kyc.list", "token.list", "delivery.list"} {
			if status != 200 || !strings.Contains(log, want) {
				t.Errorf("audit log lacks %s: %d\n%s", want, status, log)
			}
		}

		for _, tt := range []struct{ args, want string }{
			{"token revoke x", "nothing"},
			{"kyc approve " + coach, "nothing"},
			{"coach find unknown", "no coach"},
			{"mail allow a@b.example --reason Asked", "not stopped"},
		} {
			if _, output := run(1, strings.Fields(tt.args)...); !strings.Contains(output, tt.want) {
				t.Errorf("admin %s: got %q", tt.args, output)
			}
		}
	})
}
