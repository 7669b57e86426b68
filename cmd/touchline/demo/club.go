package demo

import (
	"context"
	"fmt"
	"time"
)

// Person is someone who can sign in.
type Person struct {
	Role, Number, Name string
	// About describes what the person sees after signing in.
	About string
}

const (
	hour = time.Hour
	day  = 24 * hour
)

// The mobile numbers.
const (
	meera   = "+919812300001"
	arun    = "+919812300002"
	ravi    = "+919812300011"
	asha    = "+919812300012"
	sunita  = "+919812300013"
	kabir   = "+919812300014"
	salma   = "+919812300015"
	lakshmi = "+919812300016"
	arjun   = "+919812300017"
	hetal   = "+919812300018"
	nikhil  = "+919812300019"
	joshis  = "+919812300020"
	farhan  = "+919812300021"
	yusuf   = "+919812300022"
	anita   = "+919812300023"
	rohan   = "+919812300024"
	// abroad is in a country to which the demo sends no SMS.
	abroad = "+447400123456"
	nadia  = "+919812300026"
	gurdev = "+919812300027"
	bose   = "+919812300028"
)

// child is a player to add: names, age, and the numbers of student and guardian.
type child struct {
	name, number           string
	age                    int
	guardian, relationship string
	guardianNumber         string
}

// Build fills the service and sets its clock to the present. It returns the people who can
// sign in.
func Build(ctx context.Context, s Service) ([]Person, error) {
	b := &builder{Service: s, ctx: ctx}
	defer s.Clock.setBehind(0)
	c := &club{builder: b, players: map[string]string{}, batches: map[string]string{}}
	for _, step := range []struct {
		ago time.Duration
		do  func()
	}{
		{25 * day, c.register},
		{24 * day, c.addFirst},
		{23 * day, c.decide},
		{22 * day, c.formBatches},
		{21 * day, c.train},
		{20 * day, c.revoke},
		{19 * day, c.train},
		{16 * day, c.train},
		{14 * day, c.train},
		{12 * day, c.train},
		{9*day + 2*hour, func() { c.add(child{"Sara Thomas", "", 10, "Mary Thomas", "aunt", abroad}) }},
		{9 * day, c.train},
		{8 * day, c.addFees},
		{7 * day, c.train},
		{5*day + 2*hour, c.addPending},
		{5 * day, c.train},
		{3 * day, c.remind},
		{2*day + hour, c.applyForVerification},
		{2 * day, c.train},
		{2*day - hour, c.writeAndReport},
		{day, c.askTwice},
		{3 * hour, func() { c.add(child{"Meher Gill", "", 9, "Gurdev Gill", "grandfather", gurdev}) }},
		{2 * hour, c.trainToday},
	} {
		s.Clock.setBehind(step.ago)
		step.do()
		if b.err != nil {
			return nil, fmt.Errorf("build the club of %s ago: %w", step.ago, b.err)
		}
	}
	return people, nil
}

// people are the accounts that the demo offers for signing in.
var people = []Person{
	{"coach", meera, "Meera Nair", "verified, 14 players in every state, three batches, trainings, attendance, fees, messages, reports, a certificate that ends soon"},
	{"coach", arun, "Arun Pillai", "no players yet; waits for the verification of his identity"},
	{"guardian", ravi, "Ravi Rao", "said yes for Asha: trainings, attendance, messages, progress, reports, and a fee to pay by UPI"},
	{"guardian", joshis, "Neha Joshi", "two children with her own number: said yes for Anaya, a question about Vivaan is open"},
	{"guardian", salma, "Salma Khan", "said no for Zoya"},
	{"guardian", lakshmi, "Lakshmi Iyer", "took her yes for Arjun back"},
	{"guardian", hetal, "Hetal Shah", "said that a question about Diya Patel is not for her"},
	{"guardian", anita, "Anita Das", "has not answered about Rohan for 5 days"},
	{"student", asha, "Asha Rao", "said yes"},
	{"student", kabir, "Kabir Mehta", "has not answered; his guardian said yes"},
	{"student", nikhil, "Nikhil Verma", "an adult without a guardian"},
	{"student", joshis, "Anaya and Vivaan Joshi", "their mother's phone"},
}

// club is the state of Build.
type club struct {
	*builder
	coach *user
	// players and batches are the ids by name.
	players, batches map[string]string
	// trained is the number of training days so far.
	trained int
}

// born returns the birth date of someone who became age about five months ago.
func (c *club) born(age int) string {
	return time.Now().AddDate(-age, -5, -3).UTC().Format(time.DateOnly)
}

// later moves the clock forward by d, at most to the present.
func (c *club) later(d time.Duration) {
	c.Clock.setBehind(max(0, time.Duration(c.Clock.behind.Load())-d))
}

// signedIn returns a session of the coach that works for some minutes more.
func (c *club) signedIn() *user {
	if c.coach == nil || c.Clock.Now().Sub(c.coach.since) > 10*time.Minute {
		c.coach = c.signIn("coach", meera)
	}
	return c.coach
}

// add adds a player and waits for the messages. Minutes pass, as for a coach who types.
func (c *club) add(p child) {
	coach := c.signedIn()
	student := object{"full_name": p.name, "date_of_birth": c.born(p.age)}
	if p.number != "" {
		student["contact_number"] = p.number
	}
	body := object{"student": student}
	if p.guardian != "" {
		body["guardian"] = object{"name": p.guardian, "relationship": p.relationship, "mobile_number": p.guardianNumber}
	}
	id, _ := coach.call("POST", "/api/players/add", body)["player_id"].(string)
	c.players[p.name] = id
	coach.settle(id)
	c.later(4 * time.Minute)
}

// register registers the coach with profile, documents, verification and tier.
func (c *club) register() {
	coach := c.signIn("coach", meera)
	certificate := coach.upload("hockey-level-2.pdf", pdf("Hockey coach, level 2"), map[string]string{
		"kind": "certification", "title": "Hockey coach, level 2", "issuer": "State Hockey Association",
		"issued_on": time.Now().AddDate(-2, 0, 12).Format(time.DateOnly), "expires_on": time.Now().AddDate(0, 0, 12).Format(time.DateOnly),
	})
	coach.upload("first-aid.pdf", pdf("First aid"), map[string]string{
		"kind": "qualification", "title": "First aid", "issuer": "Red Cross", "issued_on": time.Now().AddDate(-1, 0, 0).Format(time.DateOnly),
	})
	coach.call("POST", "/auth/complete-profile", object{
		"name": "Meera Nair", "email": "meera@example.com", "experience_years": 11, "sports": []string{"hockey", "football"},
		"bio":            "I coach hockey for girls and boys from 8 years on, at the municipal ground. Everyone plays, everyone learns.",
		"certifications": []string{certificate},
	})
	c.submitIdentity(coach, "Meera Nair")
	operator := c.operator()
	submission, _ := operator.call("GET", "/api/admin/kyc/"+coach.id, nil)["submission_id"].(string)
	operator.call("POST", "/api/admin/kyc/"+coach.id+"/approve", object{"submission_id": submission})
	operator.call("PUT", "/api/admin/coaches/"+coach.id+"/tier", object{"tier": "academy"})
	coach.call("PUT", "/api/coach/visibility", object{"visible": true, "show": []string{"name", "bio", "sports", "experience_years", "certifications", "verified"}})
}

// submitIdentity submits an identity document of the coach for verification.
func (c *club) submitIdentity(coach *user, name string) {
	document := coach.upload("identity.pdf", pdf("Identity of "+name), map[string]string{"kind": "identity", "title": "Identity card"})
	coach.call("POST", "/api/coach/kyc", object{"legal_name": name, "document_ids": []string{document}})
}

func (c *club) addFirst() {
	for _, p := range []child{
		{"Asha Rao", asha, 12, "Ravi Rao", "father", ravi},
		{"Kabir Mehta", kabir, 14, "Sunita Mehta", "mother", sunita},
		{"Zoya Khan", "", 11, "Salma Khan", "mother", salma},
		{"Arjun Iyer", arjun, 15, "Lakshmi Iyer", "mother", lakshmi},
		{"Diya Patel", "", 10, "Hetal Patel", "mother", hetal},
		{"Nikhil Verma", nikhil, 23, "", "", ""},
		{"Anaya Joshi", joshis, 13, "Neha Joshi", "mother", joshis},
		{"Vivaan Joshi", joshis, 9, "Neha Joshi", "mother", joshis},
		{"Farhan Ali", farhan, 16, "Yusuf Ali", "father", yusuf},
	} {
		c.add(p)
	}
}

// answer lets the holder of number decide about the players.
func (c *club) answer(role, number, action, reason string, names ...string) {
	u := c.signIn(role, number)
	for _, name := range names {
		body := object{"player_id": c.players[name], "action": action}
		if reason != "" {
			body["reason"] = reason
		}
		u.call("PUT", "/api/approval/"+role+"-response", body)
	}
	c.later(11 * time.Minute)
}

func (c *club) decide() {
	c.answer("guardian", ravi, "approved", "", "Asha Rao")
	c.answer("student", asha, "approved", "", "Asha Rao")
	c.answer("guardian", sunita, "approved", "", "Kabir Mehta")
	c.answer("guardian", salma, "rejected", "We use the other app already.", "Zoya Khan")
	c.answer("guardian", lakshmi, "approved", "", "Arjun Iyer")
	c.answer("student", arjun, "approved", "", "Arjun Iyer")
	c.answer("student", nikhil, "approved", "", "Nikhil Verma")
	c.answer("guardian", joshis, "approved", "", "Anaya Joshi")
	c.answer("guardian", yusuf, "approved", "", "Farhan Ali")
	c.answer("student", farhan, "rejected", "", "Farhan Ali")
	wrongPerson := c.signIn("guardian", hetal)
	status := wrongPerson.call("GET", "/api/players/approval-status/"+c.players["Diya Patel"], nil)
	request, _ := status["guardian_request"].(object)
	id, _ := request["request_id"].(string)
	wrongPerson.call("POST", "/api/approval/requests/"+id+"/dispute", nil)
}

func (c *club) revoke() {
	c.answer("guardian", lakshmi, "revoked", "He changes schools.", "Arjun Iyer")
}

// addFees adds fees in every state, payments and a UPI ID.
func (c *club) addFees() {
	coach := c.signIn("coach", meera)
	coach.call("PATCH", "/api/coach/profile", object{"upi_id": "meera.nair@okbank"})
	on := func(days int) string { return c.Clock.Now().AddDate(0, 0, days).Format(time.DateOnly) }
	add := func(name, title string, amount, due int, repeat object) string {
		body := object{"player_id": c.players[name], "title": title, "amount": amount, "due_on": on(due)}
		if repeat != nil {
			body["repeat"] = repeat
		}
		id, _ := coach.call("POST", "/api/fees", body)["fee_id"].(string)
		return "/api/fees/" + id
	}
	pay := func(fee string, amount int, method string) string {
		id, _ := coach.call("POST", fee+"/payments", object{"amount": amount, "method": method, "paid_on": on(-1)})["payment_id"].(string)
		return fee + "/payments/" + id
	}
	pay(add("Asha Rao", "Hockey training", 150000, 10, object{"every": "month"}), 50000, "cash")
	pay(add("Kabir Mehta", "Hockey training", 150000, -2, nil), 150000, "upi")
	add("Anaya Joshi", "Summer camp", 250000, -4, nil)
	mistaken := pay(add("Farhan Ali", "Hockey training", 150000, 3, nil), 150000, "bank")
	coach.call("POST", mistaken+"/reverse", object{"reason": "It was for his brother."})
	coach.call("POST", add("Vivaan Joshi", "Summer camp", 250000, -4, nil)+"/waive", object{"reason": "His sister pays already."})
	coach.call("POST", add("Nikhil Verma", "Shirt", 60000, 20, nil)+"/void", object{"reason": "Added twice."})
}

func (c *club) addPending() {
	c.add(child{"Rohan Das", rohan, 12, "Anita Das", "mother", anita})
	c.add(child{"Tara Bose", "", 8, "Anil Bose", "father", bose})
}

func (c *club) remind() {
	coach := c.signIn("coach", meera)
	coach.call("POST", "/api/approval/send-reminder", object{"player_id": c.players["Rohan Das"], "approver_type": "guardian"})
	coach.settle(c.players["Rohan Das"])
}

// applyForVerification registers another coach, who waits for an operator.
func (c *club) applyForVerification() {
	coach := c.signIn("coach", arun)
	coach.call("POST", "/auth/complete-profile", object{
		"name": "Arun Pillai", "bio": "Badminton for beginners.", "experience_years": 3, "sports": []string{"badminton"},
	})
	c.submitIdentity(coach, "Arun Kumar Pillai")
}

// askTwice cancels a request and asks the same number again within 48 hours: the second
// message is held.
func (c *club) askTwice() {
	c.add(child{"Imran Sheikh", "", 13, "Nadia Sheikh", "mother", nadia})
	id := c.players["Imran Sheikh"]
	status := c.coach.call("GET", "/api/players/approval-status/"+id, nil)
	request, _ := status["guardian_request"].(object)
	requestID, _ := request["request_id"].(string)
	c.coach.call("POST", "/api/approval/requests/"+requestID+"/cancel", nil)
	c.coach.call("POST", "/api/approval/send-guardian-request", object{"player_id": id})
	c.coach.settle(id)
}
