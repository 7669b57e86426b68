package touchlinetest

import (
	"testing"
)

// User is a signed-in account.
type User struct {
	Service *Service
	Number  string
	Role    string
	ID      string // account id
	Access  string // access token
	Refresh string // refresh token
	Device  string // device token
	// Login is the response of POST /auth/login.
	Login *Response
}

// SignIn signs number in as role, with a code sent through the fake SMS gateway.
func (s *Service) SignIn(tb testing.TB, role, number string) *User {
	tb.Helper()
	before := s.Sent(number, "otp")
	s.Call(tb, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": number, "role": role}).Want(tb, 202)
	otp := s.OTP(number, before)
	login := s.Call(tb, "POST", "/auth/login", "", map[string]any{
		"mobile_number": number, "otp": otp, "role": role, "device_name": "test phone",
	}).Want(tb, 200)
	return &User{
		Service: s, Number: number, Role: role, ID: login.String("account.id"), Login: login,
		Access: login.String("access_token"), Refresh: login.String("refresh_token"), Device: login.String("device_token"),
	}
}

// Coach signs number in as a coach and completes the profile.
func (s *Service) Coach(tb testing.TB, number string) *User {
	tb.Helper()
	u := s.SignIn(tb, "coach", number)
	u.Call(tb, "POST", "/auth/complete-profile", map[string]any{
		"name": "Meera Nair", "bio": "Hockey for every child.", "experience_years": 7, "sports": []string{"hockey", "football"},
	}).Want(tb, 200)
	return u
}

// Call sends a request to the service with the access token of u.
func (u *User) Call(tb testing.TB, method, path string, body any, headers ...string) *Response {
	tb.Helper()
	return u.Service.Call(tb, method, path, u.Access, body, headers...)
}

// On returns a copy of u whose calls go to the replica s.
func (u *User) On(s *Service) *User {
	other := *u
	other.Service = s
	return &other
}

// Minor returns the request body that adds a twelve-year-old player. An empty
// student number leaves the student without a number.
func Minor(guardian, student string) map[string]any {
	child := map[string]any{"full_name": "Asha Rao", "date_of_birth": "2014-04-30", "medical_information": "Asthma: carries an inhaler."}
	if student != "" {
		child["contact_number"] = student
	}
	return map[string]any{
		"student":  child,
		"guardian": map[string]any{"name": "Ravi Rao", "relationship": "father", "mobile_number": guardian},
	}
}

// AddPlayer adds a player and returns the response.
func (u *User) AddPlayer(tb testing.TB, body map[string]any) *Response {
	tb.Helper()
	return u.Call(tb, "POST", "/api/players/add", body).Want(tb, 201)
}
