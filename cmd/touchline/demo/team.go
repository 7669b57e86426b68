package demo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// india is the time zone of the coach.
var india = time.FixedZone("IST", 5*3600+1800)

const (
	juniors   = "U16 Hockey"
	beginners = "Beginners"
	fitness   = "Fitness"
)

// members are the players of each batch, in the order of the marks. A batch that is missing here has
// every player.
var members = map[string][]string{
	juniors:   {"Asha Rao", "Kabir Mehta", "Arjun Iyer", "Anaya Joshi", "Farhan Ali"},
	beginners: {"Zoya Khan", "Diya Patel", "Vivaan Joshi"},
}

// marks are the attendance of each batch, one letter a player: P, A, L or E.
var marks = map[string][]string{
	juniors:   {"PPPPP", "PLPPP", "PPAPP", "PPPPA", "PPPLP", "LPPPP", "PPEPP", "PAPPP", "PPPPL"},
	beginners: {"PPP", "PPA", "LPP"},
}

var markNames = map[rune]string{'P': "present", 'A': "absent", 'L': "late", 'E': "excused"}

// formBatches makes two batches. The juniors train today, two and five days ago, and so each
// week; the beginners on the weekday of today.
func (c *club) formBatches() {
	coach := c.signedIn()
	c.batches[juniors] = c.addBatch(coach, juniors, "17:30", "19:00", 0, 2, 5)
	c.batches[beginners] = c.addBatch(coach, beginners, "07:00", "08:15", 0)
	c.write(coach, object{"batch_id": c.batches[juniors]}, "Welcome to the U16. Bring water and shin guards to the first training.")
}

func (c *club) addBatch(coach *user, name, start, end string, daysAgo ...int) string {
	var schedule []object
	for _, n := range daysAgo {
		weekday := strings.ToLower(time.Now().In(india).AddDate(0, 0, -n).Weekday().String())
		schedule = append(schedule, object{"weekday": weekday, "start": start, "end": end})
	}
	body := object{"name": name, "sport": "hockey", "venue": "Municipal ground", "schedule": schedule, "time_zone": "Asia/Kolkata"}
	id, _ := coach.call("POST", "/api/batches", body)["batch_id"].(string)
	names := members[name]
	if names == nil {
		names = slices.Sorted(maps.Keys(c.players))
	}
	for _, player := range names {
		coach.call("PUT", "/api/batches/"+id+"/players/"+c.players[player], nil)
	}
	return id
}

// write sends a message to guardians by SMS and in the app, and waits until it has left.
func (c *club) write(coach *user, to object, text string) {
	body := object{"to": to, "audience": "guardian", "text": text, "channels": []string{"sms", "in_app"}}
	id, _ := coach.call("POST", "/api/messages", body)["message_id"].(string)
	end := time.Now().Add(waitTimeout)
	for c.err == nil {
		message := coach.call("GET", "/api/messages/"+id, nil)
		if message["expanded_at"] != nil && !queuedOnAny(message["recipients"]) {
			return
		}
		if time.Now().After(end) {
			c.err = fmt.Errorf("message %s did not leave within %s", id, waitTimeout)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// queuedOnAny reports whether a channel of one of the recipients has not been tried. The state
// of a recipient is the state of its best channel: in_app is delivered while an SMS is queued.
func queuedOnAny(recipients any) bool {
	list, _ := recipients.([]any)
	for _, r := range list {
		r, _ := r.(object)
		channels, _ := r["channels"].([]any)
		for _, c := range channels {
			if c, ok := c.(object); ok && c["state"] == "queued" {
				return true
			}
		}
	}
	return false
}

// train takes the attendance of a day on which the juniors train, and of the beginners each
// third time. It measures a sprint, which gets faster.
func (c *club) train() {
	coach := c.signedIn()
	date := c.Clock.Now().In(india).Format(time.DateOnly)
	c.takeAttendance(coach, juniors, date, marks[juniors][c.trained])
	if c.trained%3 == 0 {
		c.takeAttendance(coach, beginners, date, marks[beginners][c.trained/3])
	}
	sprints := map[string][]float64{
		"Asha Rao":    {13.4, 13.2, 13.3, 12.9, 12.8, 12.9, 12.6, 12.5, 12.3},
		"Anaya Joshi": {14.1, 13.9, 14, 13.6, 13.5, 13.6, 13.3, 13.2, 13},
	}
	for _, name := range []string{"Asha Rao", "Anaya Joshi"} {
		coach.call("POST", "/api/players/"+c.players[name]+"/progress", object{"metric": "80 m sprint", "value": sprints[name][c.trained], "unit": "s", "on": date})
	}
	c.trained++
}

func (c *club) takeAttendance(coach *user, batch, date, letters string) {
	var sheet []object
	for i, letter := range letters {
		mark := object{"player_id": c.players[members[batch][i]], "mark": markNames[letter]}
		if letter == 'E' {
			mark["note"] = "School trip."
		}
		sheet = append(sheet, mark)
	}
	coach.call("PUT", "/api/batches/"+c.batches[batch]+"/attendance/"+date, object{"marks": sheet})
}

// writeAndReport keeps a template, writes to all, and reports about two players.
func (c *club) writeAndReport() {
	coach := c.signedIn()
	coach.call("POST", "/api/messages/templates", object{"title": "Rain", "text": "No training today, the ground is wet. We train again on the next day of the schedule."})
	c.write(coach, object{"all": true}, "District cup next Sunday at 9:00, municipal ground. Please tell me by Thursday who comes.")
	on := func(days int) string { return c.Clock.Now().In(india).AddDate(0, 0, days).Format(time.DateOnly) }
	report := func(name, title, text string) {
		coach.call("POST", "/api/players/"+c.players[name]+"/reports", object{"title": title, "text": text, "from": on(-21), "to": on(0)})
	}
	report("Asha Rao", "The first three weeks", "Asha came to every training. Her sprint is a second faster. Next we work on passing with the left hand.")
	report("Anaya Joshi", "The first three weeks", "Anaya reads the game well and talks to the others. She should drink more on hot days.")
	family := c.signIn("guardian", joshis)
	family.call("POST", "/api/me/players/"+c.players["Anaya Joshi"]+"/messages", object{"text": "Anaya comes to the cup. Can she borrow a stick?"})
	c.later(10 * time.Minute)
	c.signedIn().call("POST", "/api/messages/replies/read", object{"all": true})
}

// trainToday takes the attendance of the beginners; the sheets of the juniors and of a batch of
// everybody are empty. A guardian has replied, which the coach has not read.
func (c *club) trainToday() {
	c.takeAttendance(c.signedIn(), beginners, time.Now().In(india).Format(time.DateOnly), "PPL")
	c.batches[fitness] = c.addBatch(c.signedIn(), fitness, "19:15", "20:00", 0)
	family := c.signIn("guardian", ravi)
	family.call("POST", "/api/me/players/"+c.players["Asha Rao"]+"/messages", object{"text": "Asha comes on Sunday. Thank you!"})
	c.planTrainings()
}

// planTrainings adds a match of the juniors and cancels their training in five days. Families say who
// comes in two days.
func (c *club) planTrainings() {
	coach, batch := c.signedIn(), c.batches[juniors]
	day := func(n int) string { return time.Now().In(india).AddDate(0, 0, n).Format(time.DateOnly) }
	coach.call("POST", "/api/batches/"+batch+"/trainings", object{
		"date": day(3), "start": "09:00", "end": "11:00", "kind": "match", "opponent": "Riverside Hockey", "venue": "District stadium",
	})
	coach.call("DELETE", "/api/trainings/"+batch+"."+day(5), object{"reason": "The ground is closed for repairs."})
	for _, a := range []struct {
		number, player string
		comes          bool
		reason         string
	}{{ravi, "Asha Rao", true, ""}, {sunita, "Kabir Mehta", true, ""}, {joshis, "Anaya Joshi", false, "She sees the dentist."}} {
		body := object{"attending": a.comes}
		if a.reason != "" {
			body["reason"] = a.reason
		}
		c.signIn("guardian", a.number).call("PUT", "/api/me/players/"+c.players[a.player]+"/trainings/"+batch+"."+day(2)+"/attending", body)
	}
}
