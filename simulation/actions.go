package main

// action is something that a person does. It returns what it did, for the trace.
type action struct {
	name   string
	weight int
	do     func(*Run) string
}

// actions are all that can happen. An action whose people do not exist yet does nothing.
var actions []action

func init() { // not a literal: the actions use the run, which uses actions
	actions = []action{
		{"add a player", 3, addPlayer},
		{"answer", 12, answer},
		{"ask again", 6, askAgain},
		{"remind", 5, remind},
	}
}

const nothing = "nothing"
