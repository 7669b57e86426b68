// Package public lists the services of the public listener: of the API and the pages.
package public

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/voice"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/bodies"
	"github.com/touchline/touchline/internal/platform/inflight"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/service"
	"github.com/touchline/touchline/internal/team"
)

// Services are the services of the API and the pages, and the limits that they share.
type Services struct {
	service.Common
	service.HTTP
	Coach
	Team
	Auth        *auth.Service
	Passkeys    *auth.Passkeys
	Approvals   *player.Service
	Tray        *notice.Tray
	Preferences *outbox.Store
	// Push manages subscriptions for push messages.
	Push *notice.PushSubscriptions
	// Replies receives replies to SMS.
	Replies *message.Replies
	// Receipts receives what providers report about messages; nil if none reports.
	Receipts *message.Receipts
	// Calls answers the steps of calls; nil if no provider calls.
	Calls *voice.Calls
	// Bounces receives reports of mails that did not arrive.
	Bounces *message.Bounces
	// ExportAll writes everything of a coach as a ZIP of CSV files. It returns a tier_limit
	// before it writes anything.
	ExportAll func(ctx context.Context, by actor.Actor, out io.Writer) error

	// InFlight limits the requests that are handled at the same time; nil means no limit.
	InFlight *inflight.Limits
	// Bodies bounds the memory of bodies; nil means no limit.
	Bodies *bodies.Memory
	// Uploads counts the uploads in progress.
	Uploads        *upload.Limiter
	UploadTimeouts upload.Timeouts
}

// Coach are the services of package coach that only coaches use.
type Coach struct {
	Coaches    *coach.Service
	Dashboards *coach.Dashboards
	Directory  *coach.Directory
	// Verification returns the verification of the calling coach.
	Verification func(ctx context.Context, by actor.Actor) (Verification, error)
}

// Verification is the state of a coach's verification.
type Verification struct {
	State coach.KYCState
	// Reason is the reason of the newest rejection, and DecidedAt its time; zero if there is none.
	Reason    string
	DecidedAt time.Time
}

// Team are the services of package team.
type Team struct {
	// Batch returns a batch of the calling coach, and BatchNames the newest open ones.
	Batch      func(ctx context.Context, by actor.Actor, id string) (*team.Batch, error)
	BatchNames func(ctx context.Context, by actor.Actor, limit int) ([]team.BatchName, error)
	// RecentMessages returns the newest messages of the calling coach, and how many replies are unread. A
	// message is a conversation.Message.
	RecentMessages func(ctx context.Context, by actor.Actor) (list []json.Marshaler, unread int, err error)
	// NewReplies returns the newest unread replies to the calling coach, at most three.
	NewReplies func(ctx context.Context, by actor.Actor) ([]NewReply, error)
	// UnreadReplies counts the unread replies to the calling coach.
	UnreadReplies func(ctx context.Context, by actor.Actor) (int, error)
	// TeamToday returns the open batches of the calling coach, newest first, and those with a training or
	// a sheet on this day, in the order of the trainings.
	TeamToday func(ctx context.Context, by actor.Actor) (open []*team.Batch, today []team.Today, err error)
	// TookAttendance reports whether the calling coach has taken attendance, on any day.
	TookAttendance func(ctx context.Context, by actor.Actor) (bool, error)
	// TrainingsToday returns the trainings of today of the open batches for the template trainings-today.
	TrainingsToday func(ctx context.Context, by actor.Actor, open []*team.Batch) (any, error)
	// UnpaidFees counts and adds up the open fees of the calling coach, in the order of currencies.
	UnpaidFees func(ctx context.Context, by actor.Actor) ([]FeeSum, error)
}

// NewReply is a reply that the coach has not read.
type NewReply struct {
	// Name is the name of the party, "" if the coach does not know it any more.
	Name, StudentName string
	Party             actor.Role
	Text              string
	At                time.Time
	// Path is the page of the conversation.
	Path string
}

// FeeSum is the sum of unpaid fees in one currency.
type FeeSum struct {
	Currency                  string
	Unpaid, Overdue           int
	UnpaidTotal, OverdueTotal int64
}

// FamilyNews is what a family sees of a player on its first page.
type FamilyNews struct {
	// Due is what is still to pay in Currency, and DueOn the first day on which it is due.
	Due      int64
	Currency string
	DueOn    team.Date
	Overdue  bool
	// Report is the title of the newest report; "" without one.
	Report   string
	ReportAt time.Time
	// Message is the newest message of the conversation with the coach, FromCoach says who wrote it; "" without one.
	Message   string
	FromCoach bool
	MessageAt time.Time
	// Metric and Result are from the newest measurement; "" without one.
	Metric, Result string
}
