package screens

import (
	"context"
	"io"
	"strings"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/csvfile"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

// archive writes everything of a coach as a ZIP of CSV files.
type archive struct{ Service }

// archivePage is the number of rows that are read at a time.
const archivePage = 200

// export serves GET /api/export. A tier_limit comes before the first byte.
func (h handlers) export(_ context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	by := r.Caller.Actor
	return api.FileResponse("export.zip", csvfile.ArchiveMediaType, func(ctx context.Context, out io.Writer) error {
		if err := h.Subscriptions.CheckFeature(ctx, by, coach.Export); err != nil {
			return err
		}
		return h.WriteAll(ctx, by, out)
	}), nil
}

// export serves GET /coach/settings/export.
func (p pages) export(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	if err := p.Subscriptions.CheckFeature(ctx, by, coach.Export); err != nil {
		return p.site.FeatureNeeded(r, by, coach.Export, err)
	}
	return web.Download("export.zip", csvfile.ArchiveMediaType, func(ctx context.Context, out io.Writer) error { return p.WriteAll(ctx, by, out) }), nil
}

// WriteAll writes everything of a coach as a ZIP of CSV files, whatever the tier.
func (s Service) WriteAll(ctx context.Context, by actor.Actor, out io.Writer) error {
	a := archive{s}
	var tables []csvfile.Table
	add := func(name, titles string, each func(ctx context.Context, by actor.Actor, row func(...string) error) error) {
		tables = append(tables, csvfile.Table{Name: name + ".csv", Titles: strings.Split(titles, ","), Each: func(ctx context.Context, row func(...string) error) error {
			return each(ctx, by, row)
		}})
	}
	add("profile", "Coach ID,Mobile number,Name,Email,Bio,Years of experience,Sports,Time zone,UPI ID,Created at", a.profile)
	add("documents", "Document ID,Kind,Title,Issuer,Issued on,Expires on,File,Bytes,Created at", a.allDocuments)
	add("players", "Player ID,"+strings.Join(roster.ExportTitles(), ",")+",Medical information,Added on", a.players)
	add("requests", "Request ID,Player ID,Student name,Approver,State,Requested at,Last sent at,Closed at", a.requests)
	add("decisions", "Decision ID,Player ID,Student name,Approver,Decision,Reason,Decided at", a.decisions)
	add("batches", "Batch ID,"+strings.Join(team.BatchTitles, ","), a.batches)
	add("batch_players", "Batch ID,Batch,Player ID,Student name,Joined at", a.batchPlayers)
	add("attendance", "Batch ID,Batch,Date,Player ID,Student name,Mark,Note,Marked at,Recorded at", a.attendance)
	add("trainings", "Training ID,Batch ID,Batch,Date,Start,End,Kind,Title,Venue,Opponent,State,Reason,Updated at", a.trainingRows)
	add("training_answers", "Training ID,Batch ID,Date,Player ID,Student name,Attending,Reason,Party,Answered at", a.trainingAnswers)
	add("fees", strings.Join(fee.Titles, ","), a.feeRows)
	add("payments", "Payment ID,Fee ID,Receipt,Amount in minor units,Method,Paid on,Note,Created at,Reversed at,Reason", a.payments)
	add("fee_repeats", "Repeat ID,Student name,Batch,Title,Currency,Amount,First due on,Until,Months made", a.feeRepeats)
	add("messages", "Message ID,To,Audience,Channels,Text,Recipients,Left out,Segments,Created at", a.messages)
	add("message_recipients", "Message ID,Player ID,Student name,Party,Name,Copy,Channel,State,Reason,At", a.recipients)
	add("replies", "Reply ID,Player ID,Student name,Party,Name,Text,Created at,Read at", a.replies)
	add("templates", "Template ID,Title,Text,Created at", a.templates)
	add("progress", "Measurement ID,Player ID,Metric,Value,Unit,Date,Created at,Updated at", a.progress)
	add("reports", "Report ID,Player ID,Title,Text,From,To,Created at,Updated at", a.reports)
	return csvfile.WriteArchive(ctx, out, tables)
}
