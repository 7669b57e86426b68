package touchlinetest

import (
	"testing"
)

// Person is somebody who is signed in.
type Person struct {
	Service *Service
	Number  string
	Role    string
	ID      string // of the account
	Access  string
	Refresh string
	Device  string
	// Login is the whole token answer.
	Login *Answer
}

// SignIn signs number in as role by a code that really went through the gateway.
func (s *Service) SignIn(tb testing.TB, role, number string) *Person {
	tb.Helper()
	before := s.Sent(number, "otp")
	s.Call(tb, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": number, "role": role}).Want(tb, 202)
	otp := s.OTP(number, before)
	a := s.Call(tb, "POST", "/auth/login", "", map[string]any{
		"mobile_number": number, "otp": otp, "role": role, "device_name": "test phone",
	}).Want(tb, 200)
	return &Person{
		Service: s, Number: number, Role: role, ID: a.String("account.id"), Login: a,
		Access: a.String("access_token"), Refresh: a.String("refresh_token"), Device: a.String("device_token"),
	}
}

// Coach signs a coach in whose profile is complete.
func (s *Service) Coach(tb testing.TB, number string) *Person {
	tb.Helper()
	p := s.SignIn(tb, "coach", number)
	p.Call(tb, "POST", "/auth/complete-profile", map[string]any{
		"name": "Meera Nair", "bio": "Hockey for every child.", "experience_years": 7, "sports": []string{"hockey", "football"},
	}).Want(tb, 200)
	return p
}

// Call asks the service as p.
func (p *Person) Call(tb testing.TB, method, path string, body any, headers ...string) *Answer {
	tb.Helper()
	return p.Service.Call(tb, method, path, p.Access, body, headers...)
}

// On returns p at another replica.
func (p *Person) On(s *Service) *Person {
	other := *p
	other.Service = s
	return &other
}

// Minor is the body that adds a twelve-year-old with a number of their own.
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

// Add adds a player and returns the answer.
func (p *Person) Add(tb testing.TB, body map[string]any) *Answer {
	tb.Helper()
	return p.Call(tb, "POST", "/api/players/add", body).Want(tb, 201)
}
