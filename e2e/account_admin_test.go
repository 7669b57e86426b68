package e2e_test

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// auditActions returns the audited actions on an object, newest first.
func auditActions(t *testing.T, auditor *touchlinetest.Operator, id string) (actions []string) {
	t.Helper()
	for _, e := range auditor.Call(t, "GET", "/api/admin/audit?object_id="+id, nil).Want(t, 200).Items() {
		actions = append(actions, e["action"].(string))
	}
	return actions
}

// TestOperatorsDecideKYC covers the queue, a submission with its documents, and
// both decisions. Every read is audited.
func TestOperatorsDecideKYC(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		op, auditor := s.Operator(t, operator.KYC), s.Operator(t, operator.Audit)
		file := touchlinetest.PDF(700, 1)
		submit := func(c *touchlinetest.User) (document string) {
			t.Helper()
			document = c.Upload(t, "identity", "passport.pdf", file).Want(t, 201).String("document_id")
			c.Call(t, "POST", "/api/coach/kyc", object{"legal_name": "Asha Kumari Rao", "document_ids": []string{document}}).Want(t, 201)
			return document
		}
		first, second := s.Coach(t, coachNumber), s.Coach(t, coach2Number)
		document := submit(first)
		s.Clock.Advance(time.Minute)
		submit(second)
		a := op.Call(t, "GET", "/api/admin/kyc?limit=1", nil).Want(t, 200)
		b := op.Call(t, "GET", "/api/admin/kyc?limit=1&cursor="+url.QueryEscape(a.String("next_cursor")), nil).Want(t, 200)
		if a.Items()[0]["coach_id"] != first.ID || b.Items()[0]["coach_id"] != second.ID || b.String("next_cursor") != "" || strings.Contains(string(a.Body), "Kumari") {
			t.Errorf("queue: got %s, then %s", a.Body, b.Body)
		}
		path := "/api/admin/kyc/" + first.ID
		read := op.Call(t, "GET", path, nil).Want(t, 200)
		if read.String("legal_name") != "Asha Kumari Rao" || read.String("mobile_number") != coachNumber {
			t.Errorf("submission: got %s", read.Body)
		}
		at := read.JSON["documents"].([]any)[0].(map[string]any)["content_url"].(string)
		content := op.Call(t, "GET", at, nil).Want(t, 200)
		if string(content.Body) != string(file) || content.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(content.Header.Get("Content-Disposition"), "attachment") {
			t.Errorf("document content: got %d bytes, headers %v", len(content.Body), content.Header)
		}
		reads := map[string]int{}
		for _, e := range auditor.Call(t, "GET", "/api/admin/audit", nil).Want(t, 200).Items() {
			reads[e["action"].(string)]++
		}
		auditor.Call(t, "GET", "/api/admin/audit", nil).Want(t, 200)
		if reads["kyc.list"] != 2 || reads["audit.read"] != 0 {
			t.Errorf("audit log: got %v, want 2 queue listings", reads)
		}
		if e := auditor.Call(t, "GET", "/api/admin/audit?limit=1", nil).Want(t, 200).Items()[0]; e["action"] != "audit.read" || e["operator_id"] != auditor.ID {
			t.Errorf("audit log: got %v, want the read before", e)
		}
		if got := auditActions(t, auditor, document); !slices.Equal(got, []string{"document.read"}) {
			t.Errorf("audit log: got %v", got)
		}
		certificate := first.Upload(t, "certification", "level 2.pdf", file).Want(t, 201).String("document_id")
		for _, nothing := range []string{
			path + "/documents/" + certificate + "/content", "/api/admin/kyc/" + second.ID + "/documents/" + document + "/content",
			path + "/documents/x/content", "/api/admin/kyc/" + certificate, "/api/admin/kyc/x",
		} {
			op.Call(t, "GET", nothing, nil).Want(t, 404)
		}
		saw := read.String("submission_id")
		for _, reason := range []any{nil, "", strings.Repeat("x", 501), "a\u0007b", "a\u202eb"} {
			op.Call(t, "POST", path+"/reject", object{"submission_id": saw, "reason": reason}).Want(t, 422, "validation_failed")
		}
		// A decision must name the version that the operator has seen.
		for _, body := range []object{{}, {"submission_id": ""}, {"submission_id": "x"}, {"submission_id": nil}, {"submission_id": saw, "more": 1}} {
			op.Call(t, "POST", path+"/approve", body).Want(t, 422, "validation_failed")
			body["reason"] = "x"
			op.Call(t, "POST", path+"/reject", body).Want(t, 422, "validation_failed")
		}
		op.Call(t, "POST", path+"/approve", nil).Want(t, 400, "malformed_request")
		for _, decision := range []string{"/approve", "/reject"} { // not_found comes before validation_failed
			op.Call(t, "POST", "/api/admin/kyc/"+certificate+decision, object{}).Want(t, 404, "not_found")
		}
		otherSubmission := op.Call(t, "GET", "/api/admin/kyc/"+second.ID, nil).Want(t, 200).String("submission_id")
		op.Call(t, "POST", path+"/approve", object{"submission_id": otherSubmission}).Want(t, 409, "request_superseded")
		s.Operator(t, operator.Coaches).Call(t, "POST", path+"/approve", object{"submission_id": saw}).Want(t, 403, "insufficient_scope")
		op.Call(t, "POST", path+"/reject", object{"reason": "unreadable", "submission_id": saw}).Want(t, 200)
		if a := op.Call(t, "POST", path+"/approve", object{"submission_id": saw}).Want(t, 409, "invalid_transition"); a.String("state") != "rejected" {
			t.Errorf("approve after the rejection: got %s", a.Body)
		}
		submit(first)
		// The operator has seen an older submission than the pending one.
		newer := op.Call(t, "GET", path, nil).Want(t, 200).String("submission_id")
		if a := op.Call(t, "POST", path+"/approve", object{"submission_id": saw}).Want(t, 409, "request_superseded"); a.String("request_id") != newer {
			t.Errorf("approve an older submission: got %s", a.Body)
		}
		op.Call(t, "POST", path+"/approve", object{"submission_id": newer}).Want(t, 200)
		if countNotifications(t, first, "kyc_verified") != 1 || countNotifications(t, first, "kyc_rejected") != 1 {
			t.Error("want one notification of each decision")
		}
		if got := auditActions(t, auditor, first.ID); !slices.Equal(got, []string{"kyc.approve", "kyc.read", "kyc.reject", "kyc.read"}) {
			t.Errorf("audit log: got %v", got)
		}
	}, enableKYC)
}

// TestFindCoaches searches by number in any format, by id, and by name prefix in
// any case, page by page. Searches are audited.
func TestFindCoaches(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		op, auditor := s.Operator(t, operator.Coaches), s.Operator(t, operator.Audit)
		coach, other := s.Coach(t, coachNumber), s.Coach(t, coach2Number)
		other.Call(t, "PATCH", "/api/coach/profile", object{"name": "MEERA  Iyer"}).Want(t, 200)
		const search = "/api/admin/coaches/search"
		find := func(wanted object) (ids []string, next string) {
			t.Helper()
			a := op.Call(t, "POST", search, wanted).Want(t, 200)
			for _, c := range a.Items() {
				ids = append(ids, c["coach_id"].(string))
			}
			return ids, a.String("next_cursor")
		}
		for _, tt := range []struct {
			by, value string
			want      []string
		}{
			{"number", coachNumber, []string{coach.ID}},
			{"number", "0" + coachNumber[3:8] + " " + coachNumber[8:], []string{coach.ID}},
			{"number", "+919812399999", nil},
			{"coach_id", other.ID, []string{other.ID}},
			{"coach_id", op.ID, nil},
			{"q", "meera", []string{other.ID, coach.ID}},
			{"q", " mEERA n", []string{coach.ID}},
			{"q", "meera-iyer", []string{other.ID}},
			{"q", "eera", nil},
			{"q", "%", nil},
		} {
			if got, _ := find(object{tt.by: tt.value}); !slices.Equal(got, tt.want) {
				t.Errorf("%s %q: got %v, want %v", tt.by, tt.value, got, tt.want)
			}
		}
		op.Call(t, "POST", search, object{"q": "\u200d"}).Want(t, 422, "validation_failed")
		first, next := find(object{"q": "meera", "limit": 1})
		if got, end := find(object{"q": "meera", "limit": 1, "cursor": next}); !slices.Equal(first, []string{other.ID}) || !slices.Equal(got, []string{coach.ID}) || end != "" {
			t.Errorf("pages: got %v, %v, cursor %q", first, got, end)
		}
		if got, _ := find(object{"q": "meera", "limit": 1e6, "cursor": nil}); len(got) != 2 {
			t.Errorf("large page: got %v", got)
		}
		first, next = find(object{"limit": 1, "q": nil})
		if got, end := find(object{"limit": 1, "cursor": next}); !slices.Equal(first, []string{other.ID}) || !slices.Equal(got, []string{coach.ID}) || end != "" {
			t.Errorf("all coaches: got %v, %v, cursor %q", first, got, end)
		}
		for _, wrong := range []any{
			object{"q": ""},
			object{"q": "\u0007"},
			object{"number": "12"},
			object{"number": 12},
			object{"coach_id": "x"},
			object{"q": "a", "number": coachNumber},
			object{"q": strings.Repeat("x", 101)},
			object{"name": "x"},
			object{"q": "x", "limit": 0},
			object{"q": "x", "limit": "1"},
			object{"q": "x", "cursor": "x"},
			object{"q": "x", "cursor": ""},
			[]string{},
		} {
			op.Call(t, "POST", search, wrong).Want(t, 422, "validation_failed")
		}
		op.Call(t, "POST", search, nil).Want(t, 400, "malformed_request")
		// A number must never be part of a URL.
		op.Call(t, "GET", "/api/admin/coaches?q=meera", nil).Want(t, 404)
		coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		s.SMS(guardianNumber, "message", 0) // an approval message does not count for the tier
		a := op.Call(t, "GET", "/api/admin/coaches/"+coach.ID, nil).Want(t, 200)
		if a.String("mobile_number") != coachNumber || a.String("use.players") != "1" || a.String("use.messages_today") != "0" || a.String("tier") != "free" || a.String("state") != "active" {
			t.Errorf("search result: got %s", a.Body)
		}
		for _, private := range []string{guardianNumber, "Asha", "Ravi"} {
			if strings.Contains(string(a.Body), private) {
				t.Errorf("response names a player: %s", a.Body)
			}
		}
		op.Call(t, "GET", "/api/admin/coaches/"+op.ID, nil).Want(t, 404)
		unknown := op.Call(t, "PUT", "/api/admin/coaches/"+coach.ID+"/tier", object{"tier": "nonsense"}).Want(t, 422, "validation_failed")
		if text := string(unknown.Body); !strings.Contains(text, "free, pro, academy") || strings.Contains(text, "subscription-tiers") {
			t.Errorf("unknown tier: got %s", text)
		}
		if a := op.Call(t, "PUT", "/api/admin/coaches/"+coach.ID+"/tier", object{"tier": "academy"}).Want(t, 200); a.String("tier") != "academy" {
			t.Errorf("after the tier change: got %s", a.Body)
		}
		if got := auditActions(t, auditor, coach.ID); !slices.Contains(got, "coach.tier") || !slices.Contains(got, "coach.find") || !slices.Contains(got, "coach.read") {
			t.Errorf("audit log: got %v", got)
		}
		for _, e := range auditor.Call(t, "GET", "/api/admin/audit?limit=200", nil).Want(t, 200).Items() {
			if detail, _ := e["detail"].(string); strings.Contains(detail, "eera") || strings.Contains(detail, "98123") {
				t.Errorf("audit entry contains personal data: %v", e)
			}
		}
	})
}

// TestSuspension: a suspended coach can do nothing on any replica, decisions of
// guardians still count, and a restore undoes everything.
func TestSuspension(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		other := s.Replica()
		op, auditor := s.Operator(t, operator.Coaches), s.Operator(t, operator.Audit)
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		coach.Call(t, "PUT", "/api/coach/visibility", object{"visible": true, "show": []string{"name"}}).Want(t, 200)
		guardian := s.SignIn(t, "guardian", guardianNumber)
		asParent := s.SignIn(t, "coach", coach2Number)
		stream := openStream(t, coach, "")
		path := "/api/admin/coaches/" + coach.ID

		for _, reason := range []string{" ", "a\u0007b", "a\u202eb"} {
			op.Call(t, "POST", path+"/suspend", object{"reason": reason}).Want(t, 422, "validation_failed")
		}
		op.Call(t, "POST", path+"/suspend", nil).Want(t, 400, "malformed_request")
		a := op.Call(t, "POST", path+"/suspend", object{"reason": "asked for by the school"}).Want(t, 200)
		if a.String("state") != "suspended" || a.String("suspended_for") != "asked for by the school" {
			t.Errorf("suspended coach: got %s", a.Body)
		}
		coach.On(other).Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
		s.Call(t, "POST", "/auth/refresh", "", object{"refresh_token": coach.Refresh}).Want(t, 401, "session_revoked")
		stream.ends(5 * time.Second)
		s.Call(t, "GET", "/api/coaches/"+coach.ID, "", nil).Want(t, 404)

		s.Clock.Advance(2 * time.Minute)
		before := s.Sent(coachNumber, "otp")
		s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": coachNumber}).Want(t, 202)
		otp := s.OTP(coachNumber, before)
		login := object{"mobile_number": coachNumber, "otp": otp}
		s.Call(t, "POST", "/auth/verify-otp", "", login).Want(t, 200)
		wrong := "000000"
		if otp == wrong {
			wrong = "000001"
		}
		s.Call(t, "POST", "/auth/login", "", object{"mobile_number": coachNumber, "otp": wrong}).Want(t, 422, "otp_incorrect")
		for range 6 { // a correct code is not a failed attempt
			s.Call(t, "POST", "/auth/login", "", login).Want(t, 403, "account_suspended")
		}
		op.Call(t, "POST", path+"/suspend", object{"reason": "again"}).Want(t, 409, "invalid_transition")

		// Guardians and students can still decide, and the coach's notifications
		// are kept.
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(t, 200)
		if a := guardian.Call(t, "GET", "/api/services/availability/"+player, nil).Want(t, 200); a.JSON["guardian_app_enabled"] != true {
			t.Errorf("after the guardian's decision: got %s", a.Body)
		}
		asParent.Call(t, "GET", "/api/me", nil).Want(t, 200)

		op.Call(t, "POST", path+"/restore", nil).Want(t, 200)
		op.Call(t, "POST", path+"/restore", nil).Want(t, 409, "invalid_transition")
		coach.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
		access := s.Call(t, "POST", "/auth/login", "", login).Want(t, 200).String("access_token")
		coach.Access = access
		if countNotifications(t, coach, "guardian_approved") != 1 {
			t.Error("the approval is lost")
		}
		s.Call(t, "GET", "/api/coaches/"+coach.ID, "", nil).Want(t, 200)
		if got := auditActions(t, auditor, coach.ID); !slices.Equal(got, []string{"coach.read", "coach.restore", "coach.read", "coach.suspend"}) {
			t.Errorf("audit log: got %v", got)
		}
	})
}

// TestConcurrentSuspensionAndLogin: after a concurrent suspension and login, no
// session works.
func TestConcurrentSuspensionAndLogin(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		op := s.Operator(t, operator.Coaches)
		replicas := []*touchlinetest.Service{s, s.Replica()}
		coach := s.Coach(t, coachNumber)
		path := "/api/admin/coaches/" + coach.ID
		var late, early atomic.Int32
		for range 12 {
			s.Clock.Advance(3 * time.Hour)
			before := s.Sent(coachNumber, "otp")
			s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": coachNumber}).Want(t, 202)
			otp := s.OTP(coachNumber, before)
			var wait sync.WaitGroup
			var access string
			wait.Go(func() {
				a, err := replicas[1].Do(t.Context(), "POST", "/auth/login", "", object{"mobile_number": coachNumber, "otp": otp})
				switch {
				case err != nil || a.Status != 200 && a.Status != 403:
					t.Errorf("login: %v, %v", err, a)
				case a.Status == 200:
					early.Add(1)
					access = a.String("access_token")
				default:
					late.Add(1)
				}
			})
			wait.Go(func() {
				if a, err := s.AdminDo(t.Context(), "POST", path+"/suspend", op.Token, object{"reason": "x"}); err != nil || a.Status != 200 {
					t.Errorf("suspend: %v, %v", err, a)
				}
			})
			wait.Wait()
			if access != "" {
				s.Call(t, "GET", "/api/me", access, nil).Want(t, 401, "session_revoked")
			}
			op.Call(t, "POST", path+"/restore", nil).Want(t, 200)
		}
		t.Logf("%d logins finished before the suspension, %d after", early.Load(), late.Load())
	}, touchlinetest.ManyConnections)
}

// TestOperatorReadsDocumentsOfSubmissions: an operator reads an identity document while
// its submission waits, and 30 days after the decision, but none that was not submitted.
func TestOperatorReadsDocumentsOfSubmissions(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		op := s.Operator(t, operator.KYC)
		coach := s.Coach(t, coachNumber)
		path := "/api/admin/kyc/" + coach.ID
		upload := func() string {
			return coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(700, 1)).Want(t, 201).String("document_id")
		}
		read := func(document string, want int) {
			t.Helper()
			op.Call(t, "GET", path+"/documents/"+document+"/content", nil).Want(t, want)
		}
		submitted, other := upload(), upload()
		read(submitted, 404)
		coach.Call(t, "POST", "/api/coach/kyc", object{"legal_name": "Asha Kumari Rao", "document_ids": []string{submitted}}).Want(t, 201)
		read(submitted, 200)
		read(other, 404)
		s.Clock.Advance(40 * 24 * time.Hour)
		read(submitted, 200) // it still waits
		id := op.Call(t, "GET", path, nil).Want(t, 200).String("submission_id")
		op.Call(t, "POST", path+"/approve", object{"submission_id": id}).Want(t, 200)
		s.Clock.Advance(30*24*time.Hour - time.Minute)
		read(submitted, 200)
		s.Clock.Advance(time.Minute)
		read(submitted, 404)
	}, func(c *config.Config) { c.KYC = true })
}

// TestRefusalsAreAudited: the audit log has refused tokens and scopes, at most 10 a
// minute each.
func TestRefusalsAreAudited(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		op, auditor := s.Operator(t, operator.KYC), s.Operator(t, operator.Audit)
		for range 15 {
			op.Call(t, "GET", "/api/admin/audit", nil).Want(t, 403, "insufficient_scope")
			s.AdminCall(t, "GET", "/api/admin/audit", op.Token+"x", nil).Want(t, 401)
		}
		s.AdminCall(t, "GET", "/api/admin/audit", "", nil).Want(t, 401) // no token
		count := map[string]int{}
		for _, e := range auditor.Call(t, "GET", "/api/admin/audit?limit=200", nil).Want(t, 200).Items() {
			action := e["action"].(string)
			count[action]++
			if action == "scope.refused" && (e["object_id"] != op.ID || e["operator_id"] != op.ID || e["detail"] != "scope audit") {
				t.Errorf("got %v, want the token and its missing scope", e)
			}
		}
		if count["scope.refused"] != 10 || count["token.refused"] != 10 {
			t.Errorf("got %v, want 10 of each refusal", count)
		}
	})
}
