package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// identityProvider is an OpenID provider that answers at once, without asking the person.
type identityProvider struct {
	*httptest.Server
	now func() time.Time

	mu sync.Mutex
	// born is the birth date that it says; "" sends the person back without an answer, "away" fails.
	born, nonce string
}

func (p *identityProvider) says(born string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.born = born
}

func newIdentityProvider(t *testing.T) *identityProvider {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &identityProvider{born: "1985-03-02"}
	write := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		write(w, object{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"},
		})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		public, err := key.PublicKey.Bytes()
		if err != nil {
			t.Error(err)
		}
		encode := base64.RawURLEncoding.EncodeToString
		write(w, object{"keys": []any{object{"kty": "EC", "crv": "P-256", "kid": "1", "use": "sig", "x": encode(public[1:33]), "y": encode(public[33:])}}})
	})
	mux.HandleFunc("/auth", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.nonce = r.FormValue("nonce")
		query := url.Values{"state": {r.FormValue("state")}, "code": {"code"}}
		if p.born == "" {
			query = url.Values{"state": {r.FormValue("state")}, "error": {"access_denied"}}
		}
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?"+query.Encode(), http.StatusSeeOther)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.born == "away" {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
			"iss": p.URL, "sub": "person", "aud": "client", "exp": p.now().Add(time.Hour).Unix(), "iat": p.now().Unix(), "nonce": p.nonce, "birthdate": p.born, "name": "RAVI RAO", "acr": "high",
		})
		token.Header["kid"] = "1"
		text, err := token.SignedString(key)
		if err != nil {
			t.Error(err)
		}
		write(w, object{"access_token": "access", "token_type": "Bearer", "id_token": text})
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// identityProviders has a provider for each service, because the services of a test have different clocks.
type identityProviders struct {
	t      *testing.T
	mu     sync.Mutex
	byFile map[string]*identityProvider
}

func newIdentityProviders(t *testing.T) *identityProviders {
	return &identityProviders{t: t, byFile: map[string]*identityProvider{}}
}

// proving makes guardians prove to be adults.
func (all *identityProviders) proving(c *config.Config) {
	p := newIdentityProvider(all.t)
	file := filepath.Join(all.t.TempDir(), "providers.json")
	text := fmt.Sprintf(`{"providers": [{"name": "bank", "label": "Bank ID", "issuer": "%s", "client_id": "client"}]}`, p.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		all.t.Fatal(err)
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.byFile[file] = p
	c.GuardianProof, c.IdentityProviders = "required", file
	c.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// of returns the provider of a service.
func (all *identityProviders) of(s *touchlinetest.Service) *identityProvider {
	all.mu.Lock()
	defer all.mu.Unlock()
	p := all.byFile[s.Config.IdentityProviders]
	p.now = s.Clock.Now
	return p
}

// TestGuardianProvesAdult: on the pages a yes leads to the proof first. The person comes back to the answer in each case: without a
// proof, as a minor, with a provider that is away, in another browser. One proof serves another coach's child too. Its receipt has it,
// and taking it back ends each yes.
func TestGuardianProvesAdult(t *testing.T) {
	t.Parallel()
	providers := newIdentityProviders(t)
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		p := providers.of(s)
		coach, other := s.Coach(t, coachNumber), s.Coach(t, "+919812300077")
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		second := other.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		proofState := func() string {
			t.Helper()
			list := coach.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200).JSON["guardians"].([]any)
			return list[0].(object)["guardian_proof"].(string)
		}
		answer := func(player, action string) *touchlinetest.Response {
			t.Helper()
			return guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": action})
		}
		answer(id, "approved").Want(t, 403, "proof_required")
		if got := proofState(); got != "missing" {
			t.Errorf("guardian_proof %s", got)
		}

		b := signInPages(t, s, "guardian", guardianNumber)
		path := "/me/guardian/players/" + id
		wantText(t, "the answer", b.Open(path+"/answer"), []string{"prove that you are an adult", "Prove it with Bank ID", "No, not for Asha Rao", "I cannot do this", "Decide later"}, []string{"Yes, for Asha Rao"})
		wantText(t, "another way", b.Open(path+"/no-proof"), []string{"Show your papers in person"}, nil)
		for _, way := range []struct{ born, text string }{
			{"", "You came back without proving it"}, {"away", "did not respond"}, {"1900-01-01", "cannot be right"}, {"2010-01-01", "under 18"}, {"1985-03-02", "try again in an hour"},
		} {
			p.says(way.born)
			page := b.Open(path + "/proof/bank")
			if !strings.HasPrefix(page.Path, path+"/answer") {
				t.Errorf("%q: ended at %s", way.born, page.Path)
			}
			wantText(t, "after "+way.born, page, []string{way.text, "No, not for Asha Rao"}, []string{"Yes, for Asha Rao"})
		}
		if got := coach.Call(t, "GET", "/api/notifications", nil).Items(); len(got) != 0 {
			t.Errorf("the coach was told: %v", got)
		}
		s.Clock.Skip(time.Hour)
		coach, guardian = s.SignIn(t, "coach", coachNumber), s.SignIn(t, "guardian", guardianNumber)

		stranger := s.Browser(t) // not signed in: it comes from the phone's app of the provider
		began := guardian.Call(t, "POST", "/api/approval/proof", object{"player_id": id, "provider": "bank", "return_to": "https://evil.example/"}).Want(t, 422, "validation_failed")
		if !strings.Contains(string(began.Body), "/return_to") {
			t.Errorf("got %s", began.Body)
		}
		guardian.Call(t, "POST", "/api/approval/proof", object{"player_id": second, "provider": "none"}).Want(t, 422, "validation_failed")
		s.Clock.Skip(time.Minute)
		b = signInPages(t, s, "guardian", guardianNumber)
		page := b.Open(path + "/proof/bank")
		wantText(t, "after the proof", page, []string{"You have proved that you are an adult", "Yes, for Asha Rao"}, []string{"Prove it with"})
		b.Press("Yes, for Asha Rao")
		if page := b.Press("Say yes"); page.Status != 200 || !strings.HasSuffix(page.Path, "/done") {
			t.Fatalf("the yes: %d %s", page.Status, page.Text())
		}
		if page := stranger.Open("/proof/callback?state=forged&code=code"); page.Status != 404 {
			t.Errorf("a forged state: %d", page.Status)
		}
		answer(second, "approved").Want(t, 200)
		if got := proofState(); got != "valid" {
			t.Errorf("guardian_proof %s", got)
		}
		got := guardian.Call(t, "GET", "/api/approval/proof", nil).Want(t, 200)
		if got.String("state") != "valid" || got.String("method") != "oidc" || got.String("provider") != "bank" || got.String("name_fit") != "same" {
			t.Errorf("got %s", got.Body)
		}
		receipt := guardian.Call(t, "GET", "/api/me/receipts", nil).Want(t, 200).Items()[0]
		if proved, _ := receipt["proof"].(object); proved["adult"] != true || proved["assurance"] != "high" || proved["provider"] != "bank" {
			t.Errorf("receipt %v", receipt)
		}

		wantText(t, "the proof", b.Open("/me/guardian/proof"), []string{"You proved it with Bank ID", "You can prove it again and say yes at any time."}, []string{"The coach can ask you again"})
		wantText(t, "withdrawn", b.Press("Take the proof back"), []string{"You took the proof back", "Prove it with Bank ID"}, nil)
		for _, player := range []string{id, second} {
			status := guardian.Call(t, "GET", "/api/players/approval-status/"+player, nil).Want(t, 200)
			if status.String("guardian_status") != "pending" || status.String("guardian_pending_reason") != "proof_ended" {
				t.Errorf("after the withdrawal: %s", status.Body)
			}
		}
		ended := 0
		for _, item := range guardian.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items() {
			if item["type"] == "proof_ended" {
				ended++
				if text := fmt.Sprint(item["body"]); !strings.HasSuffix(text, "You can prove it again now, and then say yes at once.") {
					t.Errorf("the guardian is told %q", text)
				}
			}
		}
		if ended != 2 {
			t.Errorf("%d notifications that the proof ended, want one for each player", ended)
		}
		// Without a question the guardian says no at once, and yes after another proof.
		answer(second, "approved").Want(t, 403, "proof_required")
		answer(second, "revoked").Want(t, 409, "invalid_transition")
		answer(second, "rejected").Want(t, 200)
		wantText(t, "no question", b.Open("/me/guardian/players/"+id+"/answer"), []string{"No, not for Asha Rao"}, []string{"Yes, for Asha Rao", "This isn’t me"})
		b.Open("/me/guardian/proof")
		page = b.Open("/me/guardian/players/" + id + "/proof/bank?from=own")
		wantText(t, "proved again", page, []string{"Thank you. You have proved that you are an adult.", "You proved it with Bank ID"}, []string{"Prove it with"})
		b.Open("/me/guardian/players/" + id + "/answer")
		b.Press("Yes, for Asha Rao")
		if page := b.Press("Say yes"); page.Status != 200 || !strings.HasSuffix(page.Path, "/done") {
			t.Fatalf("the yes after another proof: %d %s", page.Status, page.Text())
		}
		guardian.Call(t, "DELETE", "/api/approval/proof", nil).Want(t, 204)
		for _, item := range coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items() {
			if item["approver_type"] == "guardian" && item["blocked_by"] != "request_cancelled" {
				t.Errorf("pending: %v", item)
			}
		}
		// A yes to the former name of the coach does not count.
		b.Open("/me/guardian/players/" + id + "/proof/bank?from=own")
		b.Open(path + "/answer")
		coach.Call(t, "PATCH", "/api/coach/profile", object{"name": "Meera Quickloan"}).Want(t, 200)
		changed := "Meera Nair is now called Meera Quickloan."
		if page := b.Press("Yes, for Asha Rao"); page.Status != 409 || !strings.Contains(page.Body, changed) {
			t.Errorf("the first button after the change: %d %s", page.Status, page.Text())
		}
		b.Press("Yes, for Asha Rao")
		coach.Call(t, "PATCH", "/api/coach/profile", object{"name": "Meera Third"}).Want(t, 200)
		if page := b.Press("Say yes"); page.Status != 409 || !strings.Contains(page.Body, "Meera Quickloan is now called Meera Third.") {
			t.Errorf("the second button after the change: %d %s", page.Status, page.Text())
		}
		refused := answer(id, "approved").Want(t, 409, "request_superseded")
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "approved", "version": refused.JSON["version"], "request_id": refused.JSON["request_id"]}).Want(t, 200)
		guardian.Call(t, "DELETE", "/api/approval/proof", nil).Want(t, 204)
		meera := signInPages(t, s, "coach", coachNumber)
		wantText(t, "the coach", meera.Open("/coach/players/"+id), []string{"The yes no longer counts. Ask again."}, []string{"Waiting for an answer"})
		meera.Press("Ask again")
		answer(id, "rejected").Want(t, 200)
		if got := guardian.Call(t, "GET", "/api/approval/proof", nil).Want(t, 200).String("state"); got == "valid" {
			t.Errorf("state %s", got)
		}
	}, providers.proving)
}

// TestAppProvesAdult: an app opens the address of POST /api/approval/proof in a browser without a session of the service, and reads the
// proof afterwards.
func TestAppProvesAdult(t *testing.T) {
	t.Parallel()
	providers := newIdentityProviders(t)
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		providers.of(s)
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		state := func() string {
			t.Helper()
			return guardian.Call(t, "GET", "/api/approval/proof", nil).Want(t, 200).String("state")
		}
		if got := state(); got != "none" {
			t.Errorf("state %s", got)
		}
		began := guardian.Call(t, "POST", "/api/approval/proof", object{"player_id": id, "provider": "bank"}).Want(t, 201)
		if got := state(); got != "started" {
			t.Errorf("state %s", got)
		}
		if got := began.String("url"); !strings.HasPrefix(got, s.Config.PublicURL+"/proof/start/") {
			t.Fatalf("got the address %s", got)
		}
		// Any browser can open the address, also one that a stranger forwarded it to: it leads nowhere before the person agrees.
		path := strings.TrimPrefix(began.String("url"), s.Config.PublicURL)
		for name, path := range map[string]string{"the address": path, "its link in another browser": path + "/provider"} {
			page := s.Browser(t).Open(path)
			wantText(t, name, page, []string{"asks about Asha.", "•••• " + guardianNumber[len(guardianNumber)-4:], "Is this not your number?", "Prove it with Bank ID"}, []string{"Rao", "Done"})
			if page.Status != 200 || state() != "started" {
				t.Fatalf("%s: status %d, state %s", name, page.Status, state())
			}
		}
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		noFollow := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		// A client that reads no HTML is led to the provider at once. A browser comes back.
		first, err := noFollow.Get(began.String("url"))
		if err != nil {
			t.Fatal(err)
		}
		first.Body.Close()
		address := first.Header.Get("Location")
		other := s.Browser(t)
		wantText(t, "another browser", other.Open(address), []string{"started in another browser", "Go back to the app"}, nil)
		if got := guardian.Call(t, "GET", "/api/approval/proof", nil).Want(t, 200); got.String("state") != "failed" || got.String("failure") != "other_browser" {
			t.Errorf("got %s", got.Body)
		}
		if page := other.Open(path); page.Status != 404 {
			t.Errorf("the address of an attempt that is over: %d", page.Status)
		}
		s.Clock.Skip(time.Second)
		began = guardian.Call(t, "POST", "/api/approval/proof", object{"player_id": id, "provider": "bank"}).Want(t, 201)
		b := s.Browser(t)
		b.Open(began.String("url"))
		wantText(t, "the end", b.Press("Prove it with Bank ID"), []string{"Done", "go back to the app"}, nil)
		if got := state(); got != "valid" {
			t.Errorf("state %s", got)
		}
		coach.Call(t, "POST", "/api/approval/proof", object{"player_id": id, "provider": "bank"}).Want(t, 403, "role_not_allowed")
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "approved"}).Want(t, 200)

		// Operators page through the proofs to look at, here papers with another name.
		op := s.Operator(t, operator.KYC)
		recorded := map[string]bool{}
		for i := range 3 {
			number := fmt.Sprintf("+91981240010%d", i)
			coach.AddPlayer(t, named(fmt.Sprint("Child ", i), number))
			recorded[op.Call(t, "POST", "/api/admin/guardian-proofs", object{"mobile_number": number, "name_fit": "other"}).Want(t, 201).String("guardian_account_id")] = true
		}
		pages, cursor := 0, ""
		for more := true; more && pages < 5; pages++ {
			page := op.Call(t, "GET", "/api/admin/guardian-proofs?limit=1&cursor="+cursor, nil).Want(t, 200)
			for _, item := range page.Items() {
				delete(recorded, item["guardian_account_id"].(string))
			}
			cursor, more = page.JSON["next_cursor"].(string)
		}
		if pages != 3 || len(recorded) > 0 {
			t.Errorf("%d pages, not listed: %v", pages, recorded)
		}
		op.Call(t, "GET", "/api/admin/guardian-proofs?cursor=x", nil).Want(t, 422)
	}, providers.proving)
}

// TestProofInAnotherBrowser: what the provider says in a browser that is not signed in counts once the person signs in there.
func TestProofInAnotherBrowser(t *testing.T) {
	t.Parallel()
	providers := newIdentityProviders(t)
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		providers.of(s)
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		b := signInPages(t, s, "guardian", guardianNumber)
		// The first browser follows the way to the provider only.
		req, err := http.NewRequest("GET", s.URL+"/me/guardian/players/"+id+"/proof/bank", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.AddCookie(&http.Cookie{Name: "touchline-guardian", Value: b.Cookie("touchline-guardian")})
		began, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		began.Body.Close()
		address := began.Header.Get("Location")
		other := s.Browser(t)
		page := other.Open(address)
		if !strings.Contains(page.Path, "/sign-in/guardian") {
			t.Fatalf("ended at %s: %s", page.Path, page.Text())
		}
		s.Clock.Skip(s.Config.OTPResendAfter)
		codes := s.Sent(guardianNumber, "otp")
		other.Press("Send me a code", "number", guardianNumber)
		wantText(t, "after the sign-in", other.Press("Continue", "code", s.OTP(guardianNumber, codes)), []string{"You have proved that you are an adult", "Yes, for Asha Rao"}, nil)
		wantText(t, "the first browser", b.Open("/me/guardian/players/"+id+"/answer"), []string{"Yes, for Asha Rao"}, []string{"Prove it with"})
	}, providers.proving)
}
