package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/touchline/touchline/internal/verification"
)

func kycCommands() []command {
	return []command{
		{words: "kyc list", help: "list the submissions that wait for a decision, oldest first", run: listKYC},
		{words: "kyc approve", args: []string{"<coach_id>"}, help: "approve the submission of a coach", run: approveKYC, flags: submissionFlag},
	}
}

func listKYC(ctx context.Context, sh *shell, _ []string) error {
	waiting, err := sh.Verifications.Queue(ctx, sh.by, verification.Cursor{}, listLimit)
	if err != nil {
		return err
	}
	return printTable(sh, "COACH\tNAME\tSUBMITTED\tSUBMISSION", waiting, func(s verification.Submission) []any {
		return []any{s.CoachID, orDash(s.CoachName), formatTime(s.SubmittedAt), s.ID}
	})
}

// printSubmission prints a submission and its documents.
func (sh *shell) printSubmission(ctx context.Context, s verification.Submission) error {
	documents, err := sh.Verifications.DocumentsOf(ctx, s)
	if err != nil {
		return err
	}
	tw := newTabWriter(sh.stdout)
	fmt.Fprintf(tw, "coach\t%s\nname\t%s\nnumber\t%s\nsubmission\t%s\nsubmitted\t%s\nstate\t%s\n",
		s.CoachID, orDash(oneLine(s.CoachName)), s.Number, s.ID, formatTime(s.SubmittedAt), s.State)
	for _, d := range documents {
		fmt.Fprintf(tw, "document\t%s %s (%s)\n", d.ID, oneLine(d.Title), oneLine(d.File.Name))
	}
	return tw.Flush()
}

func approveKYC(ctx context.Context, sh *shell, args []string) error {
	id, err := sh.submission(ctx, args[0])
	if err != nil {
		return err
	}
	s, err := sh.Verifications.Approve(ctx, sh.by, id)
	if err != nil {
		return err
	}
	return sh.printSubmission(ctx, s)
}

func submissionFlag(f *flag.FlagSet) {
	f.String("submission", "", "id of the submission that you have seen; the command fails if there is a newer one")
}

// submission returns the submission that --submission names, if it is the newest of the coach;
// without the flag the newest.
func (sh *shell) submission(ctx context.Context, coachID string) (string, error) {
	if seen := sh.text("submission"); seen != "" {
		return seen, sh.Verifications.CheckNewest(ctx, coachID, seen)
	}
	return sh.Verifications.Newest(ctx, coachID)
}
