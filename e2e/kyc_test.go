package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/verification"
)

func enableKYC(c *config.Config) { c.KYC = true }

// decideKYC runs decide, as an operator, on the oldest undecided submission.
func decideKYC(t *testing.T, s *touchlinetest.Service, decide func(ctx context.Context, by actor.Operator, v *verification.Service, id string) (verification.Submission, error)) {
	t.Helper()
	s.CLI(t, func(ctx context.Context, by actor.Operator, sh *server.Operators) {
		queue, err := sh.Verifications.Queue(ctx, by, verification.Cursor{}, 1)
		if err != nil || len(queue) != 1 {
			t.Fatalf("KYC queue: got %d submissions, error %v", len(queue), err)
		}
		if _, err := decide(ctx, by, sh.Verifications, queue[0].ID); err != nil {
			t.Fatal(err)
		}
	})
}

func approve(ctx context.Context, by actor.Operator, v *verification.Service, id string) (verification.Submission, error) {
	return v.Approve(ctx, by, id)
}

func TestKYCOff(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, coachNumber)
		want := map[string]any{"state": "disabled", "reason": nil, "legal_name": nil, "document_ids": []any{}, "submitted_at": nil, "decided_at": nil, "marked": false, "unmarked": []any{}}
		if diff := cmp.Diff(want, c.Call(t, "GET", "/api/coach/kyc", nil).Want(t, 200).JSON); diff != "" {
			t.Error(diff)
		}
		id := c.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
		a := c.Call(t, "POST", "/api/coach/kyc", object{"legal_name": "Asha", "document_ids": []string{id}}).Want(t, 409, "invalid_transition")
		if a.String("state") != "disabled" || len(a.JSON["allowed"].([]any)) != 0 {
			t.Errorf("got %s", a.Body)
		}
	})
}

// TestKYC takes a coach from no submission through a rejection to verified.
func TestKYC(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, coachNumber)
		submit := func(body any, headers ...string) *touchlinetest.Response {
			return c.Call(t, "POST", "/api/coach/kyc", body, headers...)
		}
		state := func(want string) *touchlinetest.Response {
			t.Helper()
			a := c.Call(t, "GET", "/api/coach/kyc", nil).Want(t, 200)
			if profile := c.Call(t, "GET", "/api/coach/profile", nil); a.String("state") != want || profile.String("kyc_state") != want {
				t.Errorf("got %s, profile KYC state %s, want %s", a.Body, profile.String("kyc_state"), want)
			}
			return a
		}
		state("not_started")
		passport := c.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
		card := c.Upload(t, "identity", "card.pdf", touchlinetest.PDF(600, 2)).Want(t, 201).String("document_id")
		certificate := c.Upload(t, "certification", "level 2.pdf", touchlinetest.PDF(700, 3)).Want(t, 201).String("document_id")
		foreign := s.Coach(t, coach2Number).Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
		eleven := make([]string, 11)
		for i := range eleven {
			eleven[i] = fmt.Sprintf("0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b%02d", i)
		}
		for _, tt := range []struct {
			name string
			body any
			want string
		}{
			{"nothing", object{}, "/legal_name required, /document_ids required"},
			{"no documents", object{"legal_name": "Asha", "document_ids": []string{}}, "/document_ids too_few"},
			{"too many documents", object{"legal_name": "Asha", "document_ids": eleven}, "/document_ids too_many"},
			{"no ids", object{"legal_name": "Asha", "document_ids": []any{"7", 7, nil}}, "/document_ids/0 invalid_id, /document_ids/1 invalid_type, /document_ids/2 invalid_type"},
			{"one twice", object{"legal_name": "Asha", "document_ids": []string{passport, card, strings.ToUpper(passport)}}, "/document_ids/2 duplicate"},
			{"of other kinds and others", object{"legal_name": "Asha", "document_ids": []string{certificate, passport, foreign, eleven[0]}}, "/document_ids/0 unknown_document, /document_ids/2 unknown_document, /document_ids/3 unknown_document"},
			{"a long name", object{"legal_name": strings.Repeat("é", 101), "document_ids": []string{passport}}, "/legal_name too_long"},
			{"no name", object{"legal_name": " ", "document_ids": []string{passport}}, "/legal_name too_short"},
			{"a name of marks", object{"legal_name": "As\u202eha", "document_ids": []string{passport}}, "/legal_name invalid_characters"},
			{"more", object{"legal_name": "Asha", "document_ids": []string{passport}, "state": "verified"}, "/state unknown_field"},
		} {
			a := submit(tt.body).Want(t, 422, "validation_failed")
			if got := strings.Join(validationFaults(a), ", "); got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
			}
		}
		state("not_started")
		body := object{"legal_name": "  Asha Kumari Rao ", "document_ids": []string{strings.ToUpper(passport), card}}
		first := submit(body, "Idempotency-Key: one").Want(t, 201)
		if again := submit(body, "Idempotency-Key: one").Want(t, 201); string(again.Body) != string(first.Body) {
			t.Errorf("repeated submission: got %s, want %s", again.Body, first.Body)
		}
		read := state("submitted")
		if diff := cmp.Diff(first.JSON, read.JSON); diff != "" || first.String("legal_name") != "Asha Kumari Rao" || first.Header.Get("Location") != "/api/coach/kyc" {
			t.Error(diff, string(first.Body))
		}
		if a := submit(object{"legal_name": "Asha", "document_ids": []string{card}}).Want(t, 409, "invalid_transition"); a.String("state") != "submitted" {
			t.Errorf("pending submission: got %s", a.Body)
		}
		s.Clock.Advance(time.Minute)
		decideKYC(t, s, func(ctx context.Context, by actor.Operator, v *verification.Service, id string) (verification.Submission, error) {
			return v.Reject(ctx, by, id, "The passport is not readable")
		})
		rejected := state("rejected")
		if rejected.String("reason") != "The passport is not readable" || rejected.JSON["decided_at"] == nil || countNotifications(t, c, "kyc_rejected") != 1 {
			t.Errorf("rejection: got %s", rejected.Body)
		}
		submit(object{"legal_name": "Asha K. Rao", "document_ids": []string{card}}).Want(t, 201)
		if read := state("submitted"); read.JSON["reason"] != nil || read.JSON["decided_at"] != nil || read.String("legal_name") != "Asha K. Rao" {
			t.Errorf("after the rejection: got %s", read.Body)
		}
		// Deleting a document of a pending submission withdraws the submission.
		if deleted := c.Call(t, "DELETE", "/api/coach/documents/"+card, nil).Want(t, 200); deleted.String("kyc_state") != "not_started" {
			t.Errorf("deletion: got %s", deleted.Body)
		}
		if read := state("not_started"); read.JSON["legal_name"] != nil || read.JSON["submitted_at"] != nil {
			t.Errorf("withdrawn submission: got %s", read.Body)
		}
		submit(object{"legal_name": "Asha K. Rao", "document_ids": []string{passport}}).Want(t, 201)
		decideKYC(t, s, approve)
		if read := state("verified"); read.JSON["reason"] != nil || read.JSON["decided_at"] == nil || countNotifications(t, c, "kyc_verified") != 1 {
			t.Errorf("approved submission: got %s", read.Body)
		}
		// A decision stays when its documents are deleted.
		c.Call(t, "DELETE", "/api/coach/documents/"+passport, nil).Want(t, 200)
		if read := state("verified"); len(read.JSON["document_ids"].([]any)) != 0 {
			t.Errorf("after the deletion: got %s", read.Body)
		}
		submit(object{"legal_name": "Asha", "document_ids": []string{passport}}).Want(t, 422)
		guardian := func() *touchlinetest.User {
			c.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
			return s.SignIn(t, "guardian", guardianNumber)
		}()
		guardian.Call(t, "GET", "/api/coach/kyc", nil).Want(t, 403, "role_not_allowed")
		guardian.Call(t, "POST", "/api/coach/kyc", object{}).Want(t, 403, "role_not_allowed")
		if log := s.Log.String(); strings.Contains(log, "Kumari") {
			t.Error("the log contains the legal name")
		}
	}, enableKYC)
}

// TestUnverifiedPlayers: a coach may have fewer players until verified.
func TestUnverifiedPlayers(t *testing.T) {
	t.Parallel()
	tiers := `{"tiers": [{"name": "one", "title": "One", "limits": {"players": 3, "unverified_players": 1}, "shows": ["name"], "kyc_for": ["visibility"]}]}`
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, coachNumber)
		add := func(i int) *touchlinetest.Response {
			return c.Call(t, "POST", "/api/players/add", child(i, guardianNumber))
		}
		add(1).Want(t, 201)
		refused := add(2).Want(t, 403, "kyc_required")
		for name, want := range map[string]string{"limit": "unverified_players", "limit_value": "1", "use": "1", "kyc_state": "not_started", "tier": "one"} {
			if refused.String(name) != want {
				t.Errorf("%s: got %s, want %s", name, refused.String(name), want)
			}
		}
		visible := func() *touchlinetest.Response {
			return c.Call(t, "PUT", "/api/coach/visibility", object{"visible": true, "show": []string{"name"}})
		}
		visible().Want(t, 403, "kyc_required")
		id := c.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
		c.Call(t, "POST", "/api/coach/kyc", object{"legal_name": "Asha", "document_ids": []string{id}}).Want(t, 201)
		add(2).Want(t, 403, "kyc_required")
		visible().Want(t, 403, "kyc_required")
		decideKYC(t, s, approve)
		add(2).Want(t, 201)
		add(3).Want(t, 201)
		add(4).Want(t, 403, "tier_limit")
		visible().Want(t, 200)
	}, enableKYC, withTiers(t, tiers))
}

// TestOperatorSetsTier: an operator can set any tier, and the change is audited.
func TestOperatorSetsTier(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		c := s.Coach(t, coachNumber)
		s.CLI(t, func(ctx context.Context, by actor.Operator, sh *server.Operators) {
			if _, err := sh.Subscriptions.Set(ctx, by, c.ID, "gold"); err == nil {
				t.Error("an unknown tier was accepted")
			}
			sub, err := sh.Subscriptions.Set(ctx, by, c.ID, "academy")
			if err != nil || sub.Tier.Name != "academy" {
				t.Errorf("set tier: got %+v, %v", sub, err)
			}
		})
		if a := c.Call(t, "GET", "/api/coach/subscription", nil).Want(t, 200); a.String("tier") != "academy" {
			t.Errorf("subscription: got %s", a.Body)
		}
		c.Call(t, "PUT", "/api/coach/subscription", object{"tier": "academy"}).Want(t, 200) // the current tier
		c.Call(t, "PUT", "/api/coach/subscription", object{"tier": "free"}).Want(t, 200)
		c.Call(t, "PUT", "/api/coach/subscription", object{"tier": "academy"}).Want(t, 202)
	})
}
