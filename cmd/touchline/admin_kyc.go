package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/verification"
)

func kycCommands(leaf leafFunc) []*cobra.Command {
	approve := leaf("approve <coach_id>", "approve the submission of a coach", cobra.ExactArgs(1), approveKYC)
	approve.Flags().String("submission", "", "id of the submission that you have seen; the command fails if there is a newer one")
	return []*cobra.Command{leaf("list", "list the submissions that wait for a decision, oldest first", cobra.NoArgs, listKYC), approve}
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
	if sh.json {
		ids := make([]string, len(documents))
		for i, d := range documents {
			ids[i] = d.ID
		}
		return printJSON(sh.OutOrStdout(), map[string]any{
			"coach": s.CoachID, "name": s.CoachName, "number": s.Number, "submission": s.ID, "submitted": formatTime(s.SubmittedAt), "state": s.State, "documents": ids,
		})
	}
	tw := newTabWriter(sh.OutOrStdout())
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

// submission returns the submission that --submission names, if it is the newest of the coach;
// without the flag the newest.
func (sh *shell) submission(ctx context.Context, coachID string) (string, error) {
	if seen := sh.text("submission"); seen != "" {
		return seen, sh.Verifications.CheckNewest(ctx, coachID, seen)
	}
	return sh.Verifications.Newest(ctx, coachID)
}
