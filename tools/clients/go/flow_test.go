package clients_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/oapi-codegen/runtime/types"

	"github.com/touchline/touchline/tools/clients/go/operators"
	"github.com/touchline/touchline/tools/clients/go/touchline"
)

const (
	coachNumber    = "+919812345678"
	guardianNumber = "+919812345680"
)

// TestMainFlow signs a coach in, completes the profile, adds a player, and approves as the
// guardian, with the generated client and nothing else.
func TestMainFlow(t *testing.T) {
	s := startServer(t)
	coach := s.signIn(t, coachNumber, touchline.RoleCoach)

	profile := must(coach.CompleteProfileWithResponse(t.Context(), touchline.CompleteProfileJSONRequestBody{
		Name: "Meera Nair", Bio: "Hockey for every child.", ExperienceYears: 7, Sports: []string{"hockey"},
	}))(t)
	if profile.JSON200 == nil {
		t.Fatalf("complete the profile: %s", profile.Body)
	}
	if !profile.JSON200.ProfileComplete || *profile.JSON200.Name != "Meera Nair" || profile.JSON200.Email != nil {
		t.Errorf("profile = %s", profile.Body)
	}

	key := uuid.NewString()
	added := must(coach.AddPlayerWithResponse(t.Context(), &touchline.AddPlayerParams{IdempotencyKey: &key}, touchline.AddPlayerJSONRequestBody{
		Student:  touchline.StudentInput{FullName: "Asha Rao", DateOfBirth: types.Date{Time: time.Now().AddDate(-12, 0, 0)}},
		Guardian: &touchline.GuardianInput{Name: "Ravi Rao", Relationship: "father", MobileNumber: guardianNumber},
	}))(t)
	if added.JSON201 == nil {
		t.Fatalf("add a player: %s", added.Body)
	}
	player := added.JSON201.PlayerId
	expectAvailability(t, coach, player, false)

	guardian := s.signIn(t, guardianNumber, touchline.RoleGuardian)
	limit := 10
	links := must(guardian.ListMyPlayersWithResponse(t.Context(), &touchline.ListMyPlayersParams{Limit: &limit}))(t)
	if links.JSON200 == nil || len(links.JSON200.Items) != 1 || links.JSON200.NextCursor != nil {
		t.Fatalf("list the guardian's players: %s", links.Body)
	}
	if link := links.JSON200.Items[0]; link.PlayerId != player || link.Status != touchline.StatusPending || *link.RequestId != *added.JSON201.GuardianRequestId {
		t.Errorf("links = %s", links.Body)
	}
	decided := must(guardian.RespondAsGuardianWithResponse(t.Context(), touchline.RespondAsGuardianJSONRequestBody{
		PlayerId: player, Action: touchline.ActionApproved, RequestId: links.JSON200.Items[0].RequestId,
	}))(t)
	if decided.JSON200 == nil || decided.JSON200.GuardianStatus != touchline.StatusApproved {
		t.Fatalf("approve: %s", decided.Body)
	}
	expectAvailability(t, coach, player, true)
}

// TestProblems decodes problems of several statuses into the one type that they have.
func TestProblems(t *testing.T) {
	s := startServer(t)
	coach := s.signIn(t, coachNumber, touchline.RoleCoach)

	missing := must(coach.GetAvailabilityWithResponse(t.Context(), uuid.New()))(t)
	if missing.ApplicationproblemJSON404 == nil || missing.ApplicationproblemJSON404.Code != "not_found" {
		t.Errorf("availability of an unknown player: %s", missing.Body)
	}
	invalid := must(coach.CompleteProfileWithResponse(t.Context(), touchline.CompleteProfileJSONRequestBody{Bio: "x", Sports: []string{"hockey"}}))(t)
	if invalid.ApplicationproblemJSON422 == nil {
		t.Fatalf("profile without a name: %s", invalid.Body)
	}
	var problem *touchline.Problem = invalid.ApplicationproblemJSON422
	if problem.Code != "validation_failed" || problem.Errors == nil || (*problem.Errors)[0].Pointer != "/name" {
		t.Errorf("profile without a name: %s", invalid.Body)
	}
}

// TestTokenVerifies: a library for OAuth finds the issuer's metadata and keys, and verifies an
// access token and no other.
func TestTokenVerifies(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node: install Debian's package nodejs")
	}
	s := startServer(t)
	token := s.accessToken(t, coachNumber, touchline.RoleCoach)
	verify := func(token string) ([]byte, error) {
		return exec.Command("node", "../typescript/verify.mjs", s.url, token).CombinedOutput()
	}
	printed, err := verify(token)
	var claims struct {
		Issuer   string `json:"iss"`
		ClientID string `json:"client_id"`
		Role     string
	}
	if err == nil {
		err = json.Unmarshal(printed, &claims)
	}
	if err != nil || claims.Issuer != s.url || claims.ClientID != "touchline" || claims.Role != "coach" {
		t.Errorf("verify.mjs: %v\n%s", err, printed)
	}
	if printed, err := verify(token[:len(token)-10] + "AAAAAAAAAA"); err == nil {
		t.Errorf("a forged token was accepted: %s", printed)
	}
}

// TestOperatorsClient reads the health of the operators' listener.
func TestOperatorsClient(t *testing.T) {
	s := startServer(t)
	client, err := operators.NewClientWithResponses(s.adminURL)
	if err != nil {
		t.Fatal(err)
	}
	ready := must(client.GetReadinessWithResponse(t.Context()))(t)
	if ready.JSON200 == nil {
		t.Errorf("readyz of the operators' listener: %s", ready.Body)
	}
}

// signIn returns a client with a session of the number in the role.
func (s *service) signIn(t *testing.T, number string, role touchline.Role) *touchline.ClientWithResponses {
	t.Helper()
	token := s.accessToken(t, number, role)
	client, err := touchline.NewClientWithResponses(s.url, touchline.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// accessToken signs the number in as the role.
func (s *service) accessToken(t *testing.T, number string, role touchline.Role) string {
	t.Helper()
	public, err := touchline.NewClientWithResponses(s.url)
	if err != nil {
		t.Fatal(err)
	}
	sent := must(public.RequestOtpWithResponse(t.Context(), touchline.RequestOtpJSONRequestBody{MobileNumber: number, Role: &role}))(t)
	if sent.JSON202 == nil {
		t.Fatalf("request an OTP: %s", sent.Body)
	}
	login := must(public.LoginWithResponse(t.Context(), nil, touchline.LoginJSONRequestBody{MobileNumber: number, Role: &role, Otp: s.otp(t)}))(t)
	if login.JSON200 == nil {
		t.Fatalf("login: %s", login.Body)
	}
	return login.JSON200.AccessToken
}

// must fails the test if a call got no response that the client can decode.
func must[T any](response T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
}

func expectAvailability(t *testing.T, client *touchline.ClientWithResponses, player touchline.Id, guardian bool) {
	t.Helper()
	got := must(client.GetAvailabilityWithResponse(t.Context(), player))(t)
	if got.JSON200 == nil {
		t.Fatalf("availability: %s", got.Body)
	}
	if a := got.JSON200; !bool(a.ChatEnabled) || a.GuardianAppEnabled != guardian || a.StudentAppEnabled || len(a.Services) != 11 {
		t.Errorf("availability = %s, want guardian_app_enabled %v", got.Body, guardian)
	}
}
