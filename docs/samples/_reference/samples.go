//go:build ignore

// The Go samples of /docs: each is between "sample:" and "end". The tests of clients/go run the whole file.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"time"

	touchline "github.com/touchline/touchline/clients/go"
)

var (
	base  = os.Getenv("URL")
	codes = map[string]string{}
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Println("every sample ran")
}

// newCode returns the next code that arrives at a number.
func newCode(number string) (string, error) {
	for ; ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(base + "/dev/messages?number=" + url.QueryEscape(number))
		if err != nil {
			return "", err
		}
		var messages struct {
			Items []struct{ Code string }
		}
		err = json.NewDecoder(resp.Body).Decode(&messages)
		resp.Body.Close()
		if err != nil {
			return "", err
		}
		for _, m := range messages.Items {
			if m.Code != "" && m.Code != codes[number] {
				codes[number] = m.Code
				return m.Code, nil
			}
			if m.Code != "" {
				break
			}
		}
	}
}

func run(ctx context.Context) error {
	c := touchline.New(touchline.Options{BaseURL: base})
	// sample: requestOtp
	if err := c.Session.RequestOTP(ctx, "98123 45678", "coach", ""); err != nil {
		return err
	}
	// end
	otp, err := newCode("98123 45678")
	if err != nil {
		return err
	}
	// sample: login
	tokens, err := c.Session.SignIn(ctx, "98123 45678", "coach", otp)
	if err != nil {
		return err
	}
	fmt.Println(tokens.Next)
	// end
	// sample: getMe
	type account struct {
		Role            string
		ProfileComplete bool `json:"profile_complete"`
	}
	me, err := touchline.Get[account](ctx, c, "/api/me", nil)
	if err != nil {
		return err
	}
	// end
	fmt.Println(me)
	// sample: completeProfile
	type profile struct {
		CoachID         string   `json:"coach_id,omitempty"`
		Name            string   `json:"name"`
		Bio             string   `json:"bio"`
		ExperienceYears int      `json:"experience_years"`
		Sports          []string `json:"sports"`
	}
	asha := profile{Name: "Asha Rao", Bio: "I coach sprinters.", ExperienceYears: 11, Sports: []string{"Athletics"}}
	if _, err := touchline.Call[any](ctx, c, "POST", "/auth/complete-profile", asha); err != nil {
		return err
	}
	// end
	// sample: getCoachProfile
	saved, err := touchline.Get[profile](ctx, c, "/api/coach/profile", nil)
	if err != nil {
		return err
	}
	// end
	// sample: addPlayer
	added, err := touchline.Call[struct {
		PlayerID string `json:"player_id"`
	}](ctx, c, "POST", "/api/players/add", map[string]any{
		"student":  map[string]string{"full_name": "Kabir Mehta", "date_of_birth": "2014-04-30", "contact_number": "98765 01234"},
		"guardian": map[string]string{"name": "Meera Mehta", "relationship": "mother", "mobile_number": "98987 65432"},
	})
	if err != nil {
		return err
	}
	// end
	// sample: getApprovalStatus
	type approval struct {
		GuardianStatus string `json:"guardian_status"`
		StudentStatus  string `json:"student_status"`
	}
	status, err := touchline.Get[approval](ctx, c, "/api/players/approval-status/"+added.PlayerID, nil)
	if err != nil {
		return err
	}
	// end
	fmt.Println(status)
	// sample: listPlayers
	type player struct {
		Student struct {
			FullName string `json:"full_name"`
		}
		GuardianStatus string `json:"guardian_status"`
	}
	for p, err := range touchline.All[player](ctx, c, "/api/players", nil) {
		if err != nil {
			return err
		}
		fmt.Println(p.Student.FullName, p.GuardianStatus)
	}
	// end
	// sample: listPendingApprovals
	for pending, err := range touchline.All[map[string]any](ctx, c, "/api/coach/pending-approvals", nil) {
		if err != nil {
			return err
		}
		fmt.Println(pending["player_id"])
	}
	// end
	guardian := touchline.New(touchline.Options{BaseURL: base})
	if err := guardian.Session.RequestOTP(ctx, "98987 65432", "guardian", ""); err != nil {
		return err
	}
	if otp, err = newCode("98987 65432"); err != nil {
		return err
	}
	if _, err := guardian.Session.SignIn(ctx, "98987 65432", "guardian", otp); err != nil {
		return err
	}
	// sample: listMyPlayers
	for p, err := range touchline.All[map[string]any](ctx, guardian, "/api/me/players", nil) {
		if err != nil {
			return err
		}
		fmt.Println(p["student_name"], p["status"])
	}
	// end
	// sample: respondAsGuardian
	answer := map[string]string{"player_id": added.PlayerID, "action": "approved"}
	if _, err := touchline.Call[any](ctx, guardian, "PUT", "/api/approval/guardian-response", answer); err != nil {
		return err
	}
	// end
	// sample: getAvailability
	availability, err := touchline.Get[map[string]any](ctx, guardian, "/api/services/availability/"+added.PlayerID, nil)
	if err != nil {
		return err
	}
	// end
	fmt.Println(availability)
	// sample: sendReminder
	remind := map[string]string{"player_id": added.PlayerID, "approver_type": "student"}
	if _, err := touchline.Call[any](ctx, c, "POST", "/api/approval/send-reminder", remind); err != nil {
		return err
	}
	// end
	// sample: getDashboard
	dashboard, err := touchline.Get[struct {
		Attention []struct{ Kind, Detail string }
	}](ctx, c, "/api/coach/dashboard", nil)
	if err != nil {
		return err
	}
	// end
	fmt.Println(dashboard.Attention)
	// sample: listNotifications
	for n, err := range touchline.All[touchline.Notification](ctx, c, "/api/notifications", nil) {
		if err != nil {
			return err
		}
		fmt.Println(n.Title)
	}
	// end
	// sample: streamNotifications
	for event, err := range c.Live(ctx) {
		if err != nil {
			return err
		}
		if event.Notification == nil {
			break // the newest ones, before new ones arrive
		}
		fmt.Println(event.Notification.Body)
	}
	// end
	// sample: listSubscriptionTiers
	tiers, err := touchline.Get[any](ctx, c, "/api/subscription-tiers", nil)
	if err != nil {
		return err
	}
	// end
	fmt.Println(tiers)
	// sample: getSubscription
	subscription, err := touchline.Get[struct{ Tier string }](ctx, c, "/api/coach/subscription", nil)
	if err != nil {
		return err
	}
	// end
	fmt.Println(subscription.Tier)
	// sample: chooseTier
	if _, err := touchline.Call[any](ctx, c, "PUT", "/api/coach/subscription", map[string]string{"tier": "pro"}); err != nil {
		return err
	}
	// end
	file, err := os.ReadFile(os.Getenv("CERTIFICATE"))
	if err != nil {
		return err
	}
	// sample: uploadDocument
	fields := map[string]string{"kind": "certification", "title": "First aid", "expires_on": "2031-03-31"}
	document, err := c.UploadDocument(ctx, fields, "certificate.pdf", file, func(sent, total int64) {
		fmt.Println(sent*100/total, "%")
	})
	if err != nil {
		return err
	}
	// end
	// sample: listDocuments
	documents, err := touchline.Get[any](ctx, c, "/api/coach/documents", url.Values{"kind": {"certification"}})
	if err != nil {
		return err
	}
	// end
	fmt.Println(documents)
	// sample: updateDocument
	renewed := map[string]string{"title": "First aid, renewed", "expires_on": "2033-03-31"}
	if _, err := touchline.Call[any](ctx, c, "PATCH", "/api/coach/documents/"+document.DocumentID, renewed); err != nil {
		return err
	}
	// end
	// sample: deleteDocument
	if _, err := touchline.Call[any](ctx, c, "DELETE", "/api/coach/documents/"+document.DocumentID, nil); err != nil {
		return err
	}
	// end
	identity, err := c.UploadDocument(ctx, map[string]string{"kind": "identity"}, "identity.pdf", file, nil)
	if err != nil {
		return err
	}
	// sample: submitVerification
	submission := map[string]any{"legal_name": "Asha Kumari Rao", "document_ids": []string{identity.DocumentID}}
	if _, err := touchline.Call[any](ctx, c, "POST", "/api/coach/kyc", submission); err != nil {
		return err
	}
	// end
	// sample: getVerification
	verification, err := touchline.Get[struct{ State string }](ctx, c, "/api/coach/kyc", nil)
	if err != nil {
		return err
	}
	// end
	fmt.Println(verification.State)
	if err := exec.Command(os.Getenv("PROGRAM"), "admin", "kyc", "approve", saved.CoachID).Run(); err != nil {
		return err
	}
	// sample: setVisibility
	visibility := map[string]any{"visible": true, "show": []string{"name", "bio", "sports"}}
	if _, err := touchline.Call[any](ctx, c, "PUT", "/api/coach/visibility", visibility); err != nil {
		return err
	}
	// end
	// sample: listCoaches
	for coach, err := range touchline.All[profile](ctx, c, "/api/coaches", url.Values{"sport": {"athletics"}, "q": {"asha"}}) {
		if err != nil {
			return err
		}
		fmt.Println(coach.Name)
	}
	// end
	// sample: getCoach
	coach, err := touchline.Get[profile](ctx, c, "/api/coaches/"+saved.CoachID, nil)
	if err != nil {
		return err
	}
	// end
	fmt.Println(coach.Name)
	if err := c.Session.RequestOTP(ctx, "98123 45678", "coach", ""); err != nil {
		return err
	}
	if otp, err = newCode("98123 45678"); err != nil {
		return err
	}
	if err := touchline.New(touchline.Options{BaseURL: base}).Session.RequestOTP(ctx, "98123 45679", "coach", ""); err != nil {
		return err
	}
	newOTP, err := newCode("98123 45679")
	if err != nil {
		return err
	}
	// sample: changeNumber
	change := map[string]string{"otp": otp, "device_token": tokens.DeviceToken, "new_mobile_number": "98123 45679", "new_otp": newOTP}
	if _, err := touchline.Call[any](ctx, c, "POST", "/auth/change-number", change); err != nil {
		return err
	}
	// end
	phone := touchline.New(touchline.Options{BaseURL: base})
	if err := phone.Session.RequestOTP(ctx, "98123 45679", "coach", ""); err != nil {
		return err
	}
	if otp, err = newCode("98123 45679"); err != nil {
		return err
	}
	if tokens, err = phone.Session.SignIn(ctx, "98123 45679", "coach", otp); err != nil {
		return err
	}
	// sample: logout
	if err := c.Session.SignOut(ctx, false); err != nil {
		return err
	}
	// end
	if err := phone.Session.RequestOTP(ctx, "98123 45679", "coach", ""); err != nil {
		return err
	}
	if otp, err = newCode("98123 45679"); err != nil {
		return err
	}
	// sample: closeAccount
	confirmation := map[string]string{"otp": otp, "device_token": tokens.DeviceToken}
	if _, err := touchline.Call[any](ctx, phone, "DELETE", "/api/me", confirmation); err != nil {
		return err
	}
	// end
	return nil
}
