package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/touchline/touchline/internal/team"
)

func conversationCommands() []command {
	return []command{
		{words: "conversation", args: []string{"<player_id>"}, help: "show what the coach and the family of a player wrote, newest first; the audit log keeps the reason", run: showConversation, flags: func(f *flag.FlagSet) {
			f.String("reason", "", "why you read it, in 10 to 500 characters (required)")
		}},
	}
}

func showConversation(ctx context.Context, sh *shell, args []string) error {
	list, err := sh.Safeguarding.Conversation(ctx, sh.by, args[0], sh.text("reason"), team.Page{Limit: listLimit})
	if err != nil {
		return err
	}
	for _, e := range list {
		var parties []string
		for _, party := range e.Parties {
			parties = append(parties, string(party))
		}
		who := "coach to " + strings.Join(parties, " and ")
		if !e.FromCoach {
			who = parties[0] + " to coach"
		}
		fmt.Fprintf(sh.stdout, "%s  %s\n    %s\n", formatTime(e.CreatedAt), who, strings.Join(lines(e.Text), "\n    "))
	}
	if len(list) == 0 {
		fmt.Fprintln(sh.stdout, "There are no messages.")
	}
	return nil
}

// lines returns the lines of a text without characters that a terminal acts on.
func lines(text string) []string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = oneLine(all[i])
	}
	return all
}
