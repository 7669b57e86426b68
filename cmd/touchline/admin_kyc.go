package main

import (
	"context"
	"flag"
	"fmt"
	"text/tabwriter"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fault"
)

func kycCommands() []command {
	return []command{
		{"kyc list", nil, "list who waits for a decision, oldest first", listKYC},
		{"kyc show", []string{"<coach_id>"}, "print what a coach handed in", showKYC},
		{"kyc approve", []string{"<coach_id>"}, "verify a coach", approveKYC},
		{"kyc reject", []string{"<coach_id>"}, "refuse what a coach handed in; the coach may try again", rejectKYC},
	}
}

func listKYC(*flag.FlagSet) func(context.Context, *shell, []string) error {
	return func(ctx context.Context, sh *shell, _ []string) error {
		waiting, err := sh.Verifications.Queue(ctx, coach.KYCCursor{}, listLimit)
		if err != nil {
			return err
		}
		tw := tabwriter.NewWriter(sh.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tw, "COACH\tNAME\tSUBMITTED\tSUBMISSION")
		for _, s := range waiting {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", s.CoachID, orDash(line(s.CoachName)), moment(s.SubmittedAt), s.ID)
		}
		return tw.Flush()
	}
}

func showKYC(*flag.FlagSet) func(context.Context, *shell, []string) error {
	return func(ctx context.Context, sh *shell, args []string) error {
		if err := sh.Unlock(ctx); err != nil { // the legal name is sealed
			return err
		}
		id, err := sh.Verifications.Newest(ctx, args[0])
		if err != nil {
			return err
		}
		s, err := sh.Verifications.Read(ctx, sh.by, id)
		if err != nil {
			return err
		}
		return sh.printSubmission(ctx, s)
	}
}

// printSubmission prints a submission and which documents it has.
func (sh *shell) printSubmission(ctx context.Context, s coach.Submission) error {
	tw := tabwriter.NewWriter(sh.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "coach\t%s\nname\t%s\nnumber\t%s\nsubmission\t%s\nsubmitted\t%s\nstate\t%s\n",
		s.CoachID, orDash(line(s.CoachName)), s.Number, s.ID, moment(s.SubmittedAt), s.State)
	if s.LegalName != "" {
		fmt.Fprintf(tw, "legal name\t%s\n", line(s.LegalName))
	}
	if s.Reason != "" {
		fmt.Fprintf(tw, "reason\t%s\n", line(s.Reason))
	}
	for _, id := range s.DocumentIDs {
		d, err := sh.Documents.Document(ctx, s.CoachID, id)
		if fault.KindOf(err) == fault.NotFound {
			continue // the coach took it back a moment ago
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(tw, "document\t%s %s (%s)\n", id, line(d.Title), line(d.File.Name))
	}
	return tw.Flush()
}

func approveKYC(f *flag.FlagSet) func(context.Context, *shell, []string) error {
	saw := f.String("submission", "", "the one that you saw; nothing is decided if there is a newer one")
	return func(ctx context.Context, sh *shell, args []string) error {
		id, err := sh.waiting(ctx, args[0], *saw)
		if err != nil {
			return err
		}
		s, err := sh.Verifications.Approve(ctx, sh.by, id)
		if err != nil {
			return err
		}
		return sh.printSubmission(ctx, s)
	}
}

func rejectKYC(f *flag.FlagSet) func(context.Context, *shell, []string) error {
	saw := f.String("submission", "", "the one that you saw; nothing is decided if there is a newer one")
	reason := f.String("reason", "", "why; the coach reads it")
	return func(ctx context.Context, sh *shell, args []string) error {
		why, err := admin.Reason(*reason)
		if err != nil {
			return err
		}
		id, err := sh.waiting(ctx, args[0], *saw)
		if err != nil {
			return err
		}
		s, err := sh.Verifications.Reject(ctx, sh.by, id, why)
		if err != nil {
			return err
		}
		return sh.printSubmission(ctx, s)
	}
}

// waiting is the submission to decide: the one that was seen, or the coach's newest
// as it is now. A newer one is never decided instead.
func (sh *shell) waiting(ctx context.Context, coachID, saw string) (string, error) {
	newest, err := sh.Verifications.Newest(ctx, coachID)
	if err == nil && saw != "" && saw != newest {
		err = coach.ErrSuperseded(newest)
	}
	return newest, err
}
