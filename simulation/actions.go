package main

// action is something that a person does. It returns what it did, for the trace: without ids, codes and tokens.
type action struct {
	name   string
	weight int
	do     func(*Run) string
}

// actions are all that can happen. An action without a person who fits does nothing.
var actions []action

func init() { // the actions use the run, which uses actions
	actions = []action{
		// actions_consent.go
		{"add a player", 6, addPlayer},
		{"answer", 14, answer},
		{"answer on the page of the link", 4, answerOnPage},
		{"ask again", 8, askAgain},
		{"remind", 6, remind},
		{"cancel a request", 2, cancel},
		{"this is not me", 2, dispute},
		{"lift a dispute", 1, liftDispute},
		{"correct a number", 2, correctNumber},
		{"add a guardian", 2, addGuardian},
		{"remove a player", 1, removePlayer},
		// actions_family.go
		{"set quiet hours", 2, quietHours},
		{"subscribe to push messages", 3, subscribe},
		{"take a yes back while a push message waits", 2, revokeEarly},
		{"reply STOP", 1, replyStop},
		{"sign out", 2, signOut},
		{"guess a code", 1, guess},
		{"leave", 1, leave},
		{"look at others", 4, lookAtOthers},
		// actions_coach.go
		{"add a fee", 4, addFee},
		{"note a payment", 6, pay},
		{"reverse a payment", 2, reverse},
		{"waive a fee", 1, waive},
		{"write to all", 3, writeToAll},
		{"note progress", 5, noteProgress},
		{"change the number of a coach", 1, changeNumber},
		{"a coach leaves and comes back", 1, coachLeaves},
		// actions_channels.go
		{"have a party called", 3, callParty},
		{"stop mail to an address", 1, stopMail},
		// identity.go
		{"prove to be an adult", 2, proveAdult},
		// faults.go
		{"reports about messages arrive", 5, receiptsArrive},
		{"rotate the signing key", 1, rotateKey},
		// restore.go
		{"restore the newest backup", 1, restoreNight},
	}
}

const nothing = "nothing"

// noSession is what an action returns if its person cannot sign in: the gateway does not work.
const noSession = "cannot sign in"
