package main

import (
	"fmt"
	"slices"
	"time"
)

// What the rules of invariants.go use.

// eachPlayer calls fn with each player with whom something happened today, with each one on Sundays, and its coach's session.
func (r *Run) eachPlayer(fn func(p *player, s *session)) {
	for _, p := range r.club.present() {
		if s := r.as(p.coach.person, "coach"); s != nil && (p.touched || r.sunday || r.chance(5)) {
			fn(p, s)
		}
	}
}

// within returns the sum of what count says of the messages in the 24 hours that end with m.
func (r *Run) within(m *message, window time.Duration, count func(*message) int) (n int) {
	for _, o := range slices.Backward(r.network.sent) {
		if !o.At.After(m.At) && m.At.Sub(o.At) < window && o.Earlier == nil && !o.Forgotten {
			n += count(o)
		}
		if m.At.Sub(o.At) > window+hour {
			return n
		}
	}
	return n
}

// counted is as within, by the time of the first attempt: the service counts a message against its limits then.
func (r *Run) counted(m *message, count func(*message) int) (n int) {
	for _, o := range slices.Backward(r.network.sent) {
		if !o.Tried.After(m.Tried) && m.Tried.Sub(o.Tried) < 24*hour && o.Earlier == nil && !o.Forgotten {
			n += count(o)
		}
		if m.Tried.Sub(o.At) > 24*hour {
			return n
		}
	}
	return n
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pages calls fn with each item of a list.
func (r *Run) pages(s *session, path string, fn func(object)) {
	for cursor := ""; ; {
		got := r.want(s, "GET", path+cursor, nil, 200)
		for _, i := range items(got.JSON["items"]) {
			fn(i)
		}
		next := text(got.JSON["next_cursor"])
		if next == "" {
			return
		}
		cursor = fmt.Sprintf("&cursor=%s", next)
	}
}

// fresh returns the messages of this step, today those of this day.
func (r *Run) fresh() []*message { return r.network.sent[r.stepFrom:] }
func (r *Run) today() []*message { return r.network.sent[r.dayFrom:] }
